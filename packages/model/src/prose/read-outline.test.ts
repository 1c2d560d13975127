import { describe, expect, it } from 'vitest'
import { isRefusal } from '../edit.ts'
import type { DocumentBody } from '../body.ts'
import { readDocument, readFlaw } from '../reads.ts'
import { proseBody } from './testing/editing.ts'

const facts = { id: 'd', serverVersion: 3, source: 'relay', modifiedAt: 0, access: 'edit', collectionId: null } as const
const read = (body: DocumentBody, args: object) => {
  const answer = readDocument('get_outline', body, facts, { naming: 'bare', ...args })
  return isRefusal(answer) ? answer : answer.result
}
const PAGE =
  '<p>two words</p><h1 id="blk-a">A title</h1><p>漢字 and かな, <span data-field data-name="n" data-label="Ada B">Ada B</span></p>' +
  '<ul><li><p>one</p></li><li><p>two</p></li></ul><h2 id="blk-b">B</h2>'
const body = proseBody(PAGE, {}, { id: 'q', name: 'Other', content: '' }, { id: 'r', name: 'r', content: '<h3>R</h3>' })
const outline = [
  { index: 0, level: 1, title: 'A title', id: 'blk-a', words: 12 },
  { index: 1, level: 2, title: 'B', id: 'blk-b', words: 1 },
]

describe('get_outline', () => {
  it('[AG-77] the outline of a page counts words of the page and of each section, and each Han or Kana character as one', () => {
    expect(read(body, { pageId: 'p' })).toMatchObject({ pageId: 'p', words: 15, outline })
  })

  it('[AG-77] get_outline without a page lists all prose pages with their names and words', () => {
    expect(read(body, {})).toEqual({
      pages: [
        { pageId: 'p', name: 'p', words: 15, outline },
        { pageId: 'q', name: 'Other', words: 0, outline: [] },
        { pageId: 'r', name: 'r', words: 1, outline: [{ index: 0, level: 3, title: 'R', id: '@0', words: 1 }] },
      ],
      serverVersion: 3,
      source: 'relay',
    })
  })

  it('[AG-77] get_outline cuts the list of pages by limit and cursor, and refuses both with a page', () => {
    const first = read(body, { limit: 2 }) as { readonly pages: readonly object[]; readonly nextCursor: string }
    expect(first.pages).toHaveLength(2)
    expect(read(body, { limit: 2, cursor: first.nextCursor })).toMatchObject({ pages: [{ pageId: 'r' }] })
    expect(readFlaw('get_outline', 'd', { pageId: 'p', limit: 1 })).toMatchObject({ code: 'ERR_BAD_ARGUMENT' })
  })
})
