import { describe, expect, it } from 'vitest'
import { insertBlock, type InsertBlock } from './prose-edits.ts'
import { contentOf, done, proseBody, refusal } from './testing/editing.ts'

const LIST = '<ul><li><p id="blk-1">one</p></li><li><p id="blk-2">two</p><ul><li><p id="blk-3">sub</p></li></ul></li></ul>'

function insert(page: string, args: Omit<InsertBlock, 'pageId'>) {
  const answer = done(insertBlock, proseBody(page), { pageId: 'p', ...args })
  return { html: contentOf(answer.body), fixes: answer.fixes, warnings: answer.warnings.map(({ reason }) => reason) }
}

const title = '<h2 id="blk-0000000001">Next</h2><p id="blk-0000000002">Text.</p>'
const outside = [{ action: 'unwrapped', field: 'content', reason: expect.stringContaining('outside: false') }]

describe('insert_block beside an item', () => {
  it('[AG-38] a heading, rule, table or callout beside the outer items of a list stands outside the list', () => {
    expect(insert(LIST, { id: 'blk-2', content: '## Next\n\nText.' })).toEqual({
      html: LIST + title,
      fixes: outside,
      warnings: [],
    })
    expect(insert(LIST, { id: 'blk-1', side: 'before', content: '## Next\n\nText.' })).toMatchObject({
      html: title + LIST,
      fixes: outside,
    })
    for (const content of ['---', '| a |\n|---|\n| b |', '> [!TIP]\n> a', 'Text.\n\n### Deep'])
      expect(insert(LIST, { id: 'blk-2', content })).toMatchObject({
        html: expect.stringMatching(/^<ul>.*<\/ul><(?!\/)/),
        fixes: outside,
      })
  })

  it('[AG-38] a heading beside an inner item goes into the list, and a warning names the argument for a place outside', () => {
    for (const at of [{ id: 'blk-1' }, { id: 'blk-2', side: 'before' as const }, { id: 'blk-3' }]) {
      const { html, fixes, warnings } = insert(LIST, { ...at, content: '---' })
      expect(html).toMatch(/^<ul>.*<hr>.*<\/ul>$/)
      expect([fixes, warnings]).toEqual([[], [expect.stringContaining('outside: true')]])
    }
  })

  it('[AG-38] texts and lists that are inserted beside an item become items', () => {
    expect(insert(LIST, { id: 'blk-2', content: 'three' })).toEqual({
      html: LIST.replace(/<\/ul>$/, '<li><p id="blk-0000000001">three</p></li></ul>'),
      fixes: [],
      warnings: [],
    })
  })

  it('[AG-38] a heading inserted beside an item of a nested list stays in the list', () => {
    const quoted = `<blockquote>${LIST}</blockquote>`
    expect(insert(quoted, { id: 'blk-2', content: '---' })).toMatchObject({
      html: expect.stringMatching(/<hr>.*<\/ul><\/blockquote>$/),
      warnings: [expect.stringContaining('outside: true')],
    })
  })
})

describe('insert_block at a place of the page', () => {
  it('[AG-39] outside: true puts content beside the top-level block that holds the target', () => {
    const put = '<p id="blk-0000000001">x</p>'
    const table = '<table><tr><td><p id="blk-1">a</p></td></tr></table>'
    expect(insert(LIST, { id: 'blk-3', outside: true, content: 'x' }).html).toBe(LIST + put)
    expect(insert(table, { id: 'blk-1', outside: true, side: 'before', content: 'x' }).html).toBe(put + table)
    expect(insert('<p id="blk-1">a</p>', { id: 'blk-1', outside: true, content: 'x' }).html).toBe(`<p id="blk-1">a</p>${put}`)
  })

  it('[AG-39] with outside: false content always stays inside the list, without a fix or warning', () => {
    const { html, fixes, warnings } = insert(LIST, { id: 'blk-2', outside: false, content: '---' })
    expect([/<hr>.*<\/ul>$/.test(html ?? ''), fixes, warnings]).toEqual([true, [], []])
  })

  it('[AG-39] at: "start" and "end" need no target', () => {
    expect(insert(LIST, { at: 'end', content: '## Next\n\nText.' })).toEqual({ html: LIST + title, fixes: [], warnings: [] })
    expect(insert(LIST, { at: 'start', content: '## Next\n\nText.' })).toEqual({ html: title + LIST, fixes: [], warnings: [] })
    expect(insert('<p></p>', { at: 'end', content: '# a' }).html).toBe('<h1 id="blk-0000000001">a</h1>')
    expect(insert('<p id="blk-1"></p>', { at: 'start', content: '# a' }).html).toBe('<h1 id="blk-1">a</h1>')
  })

  it('[AG-39] at together with a target, side or outside is refused, and without at a target is needed', () => {
    const page = proseBody(LIST)
    for (const more of [{ id: 'blk-1' }, { anchor: 'one' }, { side: 'after' as const }, { outside: true }]) {
      const answer = refusal(insertBlock, page, { pageId: 'p', at: 'end', content: 'x', ...more })
      expect(answer).toMatchObject({ code: 'ERR_BAD_ARGUMENT', facts: { argument: 'at' } })
    }
    expect(refusal(insertBlock, page, { pageId: 'p', outside: true, content: 'x' }).code).toBe('ERR_TARGET_MISSING')
  })
})
