import { describe, expect, it } from 'vitest'
import type { DocumentBody } from '../body.ts'
import { body, written } from '../testing/builders.ts'
import { edited, undone } from './testing/undone.ts'

describe('undo of the call that created a library', () => {
  const before = body({ name: 'T', pages: [], richTextPages: [] })
  const after = edited(before, 'add_reference', { items: [{ id: 'r1', type: 'book' }] })
  const styled = (given: DocumentBody, style: string): DocumentBody =>
    given.references?.kind === 'references' ? { ...given, references: { ...given.references, members: { style } } } : given

  it('[AG-71] the citation style that somebody chose since stays when the only reference goes', () => {
    const { body: now, kept } = undone(before, after, styled(after, 'chicago'))
    expect(written(now)['references']).toEqual({ items: {}, itemOrder: [], style: 'chicago' })
    expect(kept).toEqual([])
  })

  it('[AG-71] the library goes as a whole when nobody added anything to it', () => {
    expect(undone(before, after, after).body.references).toBeUndefined()
  })

  it('[AG-71] a value that stood in the place of the library comes back, unless somebody chose a style since', () => {
    const opaque = body({ name: 'T', pages: [], richTextPages: [], references: { style: 'apa', items: [] } })
    const added = edited(opaque, 'add_reference', { items: [{ id: 'r1', type: 'book' }] })
    expect(undone(opaque, added, added).body.references).toEqual(opaque.references)
    expect(written(undone(opaque, added, styled(added, 'mla')).body)['references']).toMatchObject({ style: 'mla', items: {} })
  })
})
