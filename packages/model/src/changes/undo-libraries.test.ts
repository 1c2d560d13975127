import { describe, expect, it } from 'vitest'
import type { DocumentBody } from '../body.ts'
import { body, prosePage, written } from '../testing/builders.ts'
import { contentOf, edited, undone } from './testing/undone.ts'

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

describe('undo of set_fields', () => {
  const chip = (label = '') => `<span data-field data-name="client" data-label="${label}">${label}</span>`
  const paragraph = (id: string, label: string) => `<p id="blk-${id}">For ${chip(label)}</p>`
  const before = body({
    name: 'T',
    pages: [],
    richTextPages: [prosePage('p', paragraph('a', 'Acme')), prosePage('q', '<p id="blk-q">q</p>')],
    fields: { fields: { client: { name: 'client', value: 'Acme' } }, order: ['client'] },
  })
  const after = edited(before, 'set_fields', { fields: [{ name: 'client', value: 'Beta' }] })

  it('[FIELD-4] [AG-71] chips that somebody added since show the restored value on every page', () => {
    const more = edited(after, 'insert_block', { pageId: 'p', id: 'blk-a', side: 'after', content: `<p>New ${chip()}</p>` })
    const both = edited(more, 'insert_block', { pageId: 'q', id: 'blk-q', side: 'after', content: `<p>New ${chip()}</p>` })
    const { body: now, kept } = undone(before, after, both)
    expect([contentOf(both), contentOf(both, 'q')].join('').match(/>Beta</g)).toHaveLength(3)
    expect([contentOf(now), contentOf(now, 'q')].join('').match(/>Acme</g)).toHaveLength(3)
    expect(contentOf(now) + contentOf(now, 'q')).not.toContain('Beta')
    expect(kept).toEqual([])
  })

  it('[FIELD-4] [AG-70] a chip in a paragraph that somebody changed since shows the restored value', () => {
    const typed = edited(after, 'set_prose', { pageId: 'p', id: 'blk-a', content: `<p>Only for ${chip()}</p>` })
    const { body: now } = undone(before, after, typed)
    expect(contentOf(now)).toMatch(/Only for .*Acme/)
    expect(contentOf(now)).not.toContain('Beta')
  })

  it('[FIELD-4] [AG-70] chips keep showing the value of a field that somebody set since', () => {
    const set = edited(after, 'set_fields', { fields: [{ name: 'client', value: 'Gamma' }] })
    const { body: now, kept } = undone(before, after, set)
    expect(contentOf(now)).toContain('Gamma')
    expect(kept).toContainEqual({ id: 'client', text: 'Gamma' })
  })
})
