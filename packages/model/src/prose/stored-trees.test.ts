import { describe, expect, it } from 'vitest'
import { parseHtml, serialiseHtml } from './html.ts'
import { setProse } from './prose-edits.ts'
import { keepTree, storedTree } from './stored-trees.ts'
import { contentOf, done, proseBody } from './testing/editing.ts'

const long = (n: number) => `<p id="blk-${n}">${'word '.repeat(4000)}${n}</p>`

describe('cache of parsed pages', () => {
  it('[CONC-13] a long page that was read or written recently is not parsed again', () => {
    expect(storedTree(long(1))).toBe(storedTree(long(1)))
    const answer = done(setProse, proseBody(long(2)), { pageId: 'p', id: 'blk-2', content: long(3), format: 'html' })
    const content = contentOf(answer.body) as string
    expect(storedTree(content)).toBe(storedTree(content))
    expect(storedTree(content)).toEqual(parseHtml(content, { source: 'stored' }))
  })

  it('[CONC-13] of equal pages the newest is cached', () => {
    const older = storedTree(long(6))
    const newer = parseHtml(long(6), { source: 'stored' }).tree
    keepTree(long(6), newer)
    expect(storedTree(long(6)).tree).toBe(newer)
    expect(older.tree).toEqual(newer)
  })

  it('[PROSE-24] repairs of a stored page are reported at every read', () => {
    const broken = `<ul>${long(4)}</ul>`
    expect(storedTree(broken).fixes).not.toEqual([])
    expect(storedTree(broken)).toEqual(parseHtml(broken, { source: 'stored' }))
    keepTree(broken, [])
    expect(serialiseHtml(storedTree(broken).tree)).toBe(`<ul><li>${long(4)}</li></ul>`)
  })

  it('[CONC-13] the cache of parsed pages has a size limit', () => {
    const first = storedTree(long(5))
    for (let n = 0; n < 250; n++) storedTree(long(1000 + n))
    expect(storedTree(long(5))).not.toBe(first)
    expect(storedTree(long(5))).toEqual(first)
  })
})
