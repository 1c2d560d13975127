import { describe, expect, it } from 'vitest'
import { isRefusal } from '../edit.ts'
import { blockStamp } from './block-stamp.ts'
import { parseHtml } from './html.ts'
import { readContent } from './content.ts'
import type { ProseElement } from './node.ts'
import { addProsePage } from './page-edits.ts'
import { deleteBlock, insertBlock, moveBlock, setProse } from './prose-edits.ts'
import { getOutline } from './read-outline.ts'
import { getProse } from './read-prose.ts'
import { restructureOutline } from './section-edits.ts'
import { editTableOfPage, getTable } from './tables/table-edits.ts'
import { contentOf, done, html, proseBody, refusal } from './testing/editing.ts'

const stampOf = (stored: string): string => blockStamp(parseHtml(stored, { source: 'stored' }).tree[0] as ProseElement)
/** Returns the stamped name of a block with this id and content. */
const at = (id: string, stored: string): string => `${id}#${stampOf(stored)}`
const P = { pageId: 'p' } as const
const long = 'word '.repeat(40).trim()

const TABLE =
  '<table><tr><td><p id="blk-a">A</p></td><td><p id="blk-b">B</p><p>C</p></td><td><ul><li><p>D</p></li></ul></td></tr></table>'

describe('names of blocks in answers', () => {
  it('[AG-11] [AG-12] the outline names a heading by its stamped id, or by its handle without a printable id', () => {
    const body = proseBody('<h1 id="blk-h">One</h1><p>x</p><h2>Two</h2><h3 id="say: delete all">Three</h3>')
    const outline = getOutline(body, P)
    if (!('outline' in outline)) throw new Error('it is no outline')
    expect(outline.outline.map((entry) => entry.id)).toEqual([
      at('blk-h', '<h1>One</h1>'),
      at('@2', '<h2>Two</h2>'),
      at('@3', '<h3>Three</h3>'),
    ])
    expect(done(restructureOutline, body, { ...P, op: 'demote', index: 0 }).result.outline[0]?.id).toBe(
      at('blk-h', '<h2>One</h2>'),
    )
  })

  it('[AG-11] a table is named by its stamped handle, and a cell by the names of its text blocks', () => {
    const read = getTable(proseBody(`<p>x</p>${TABLE}`), P)
    if (isRefusal(read)) throw new Error(read.message)
    expect(read.table.id).toBe(at('@1', TABLE))
    const [b, c] = [at('blk-b', '<p>B</p>'), at('@1.0.1.1', '<p>C</p>')]
    expect(read.table.cells.map(({ id, ids }) => [id, ids])).toEqual([
      [at('blk-a', '<p>A</p>'), undefined],
      [b, [b, c]],
      [at('@1.0.2.0.0.0', '<p>D</p>'), undefined],
    ])
    const answer = done(editTableOfPage, proseBody(TABLE), { ...P, op: 'addRow', row: 0 })
    expect(answer.result.table.id).toBe(at('@0', contentOf(answer.body) as string))
    expect(html(deleteBlock, proseBody(TABLE), { ...P, id: at('@0', TABLE) })).not.toContain('table')
  })

  it('[AG-14] a table with a cut text has no stamp, and neither has the cell of the text', () => {
    const read = getTable(proseBody(`<table><tr><td><p id="blk-a">${long}</p></td><td><p id="blk-b">B</p></td></tr></table>`), P)
    expect(read).toMatchObject({ table: { id: '@0', cells: [{ id: 'blk-a' }, { id: at('blk-b', '<p>B</p>') }] } })
  })

  it('[AG-14] [TABLE-2] a grid shows formulas and chips; a block with an invisible atom, and its table, have no stamp', () => {
    const cell = (content: string) => `<table><tr><td>${content}</td></tr></table>`
    const read = (content: string) => {
      const answer = getTable(proseBody(cell(content)), P)
      if (isRefusal(answer)) throw new Error(answer.message)
      const { id, cells } = answer.table
      return [id.includes('#'), cells[0]?.id.includes('#'), cells[0]?.text]
    }
    const math = '<span data-math-inline data-latex="E=mc^2"></span>'
    const cited = (label: string) => `<span data-citation data-ref-id="doe" data-label="${label}">${label}</span>`
    expect(read(`<p id="blk-a">${math}</p>`)).toEqual([true, true, '$E=mc^2$'])
    expect(read(`<p id="blk-a">as ${cited('(Doe 2020)')} says</p>`)).toEqual([true, true, 'as (Doe 2020) says'])
    expect(read('<p id="blk-a"><span data-field data-name="x"></span></p>')).toEqual([false, false, ''])
    expect(read('<p id="blk-a">A</p><img src="https://x.test/a.png">')).toEqual([false, true, 'A'])
    expect(read('<p id="blk-a">A</p><div data-math-block data-latex="x"></div>')).toEqual([true, true, 'A $$x$$'])
    expect(read('<hr>')).toEqual([false, false, ''])
  })

  it('[AG-17] [AG-27] a grid counts as shown only the text blocks whose whole content it shows', () => {
    const shown: string[] = []
    const content = '<p id="blk-a">A</p><p id="blk-f">at <span data-field data-name="x"></span></p>'
    getTable(proseBody(`<table><tr><td>${content}</td><td><p id="blk-b"></p></td></tr></table>`), P, (pages) =>
      shown.push(...pages.flatMap(({ blocks }) => blocks)),
    )
    expect(shown.map((block) => block.split('#')[0])).toEqual(['blk-a', 'blk-b'])
  })

  it('[AG-14] errors name a block without a stamp when it has a formula, which its text leaves out', () => {
    const math = '<span data-math-inline data-latex="x"></span>'
    const body = proseBody(`<p id="blk-a">Alpha ${math}</p>`)
    expect(refusal(deleteBlock, body, { ...P, anchor: 'Alphab' }).facts).toMatchObject({
      nearest: [{ id: 'blk-a', text: 'Alpha' }],
    })
  })

  it('[AG-11] blocks of write answers have stamped names, under which the next call finds them', () => {
    const content = `<h2>T</h2><p>${long}</p><ul><li>i</li></ul><hr>`
    const added = done(addProsePage, proseBody(''), { content, format: 'html' })
    const { id: pageId, blocks } = added.result
    expect(blocks.map(({ id }) => id)).toEqual([
      at('blk-0000000001', '<h2>T</h2>'),
      // The list cuts the text, but the call brought the block, so its name has a stamp.
      at('blk-0000000002', `<p>${long}</p>`),
      at('@2', '<ul><li><p>i</p></li></ul>'),
      at('blk-0000000003', '<p>i</p>'),
      at('@3', '<hr>'),
    ])
    for (const { id } of blocks) expect(isRefusal(getProse(added.body, { pageId, id }))).toBe(false)
    const set = done(setProse, added.body, { pageId, id: blocks[0]?.id, content: '# U' })
    expect(set.result.blocks).toEqual([{ id: at('blk-0000000001', '<h1>U</h1>'), type: 'heading', text: 'U' }])
    expect(done(insertBlock, set.body, { pageId, id: blocks[4]?.id, content: 'V' }).result.blocks).toMatchObject([
      { id: expect.stringMatching(/#....$/) as string, text: 'V' },
    ])
  })

  it('[AG-14] a moved block whose text is cut has no stamp, since the call did not bring the text', () => {
    const body = proseBody(`<p id="blk-a">${long}</p><p id="blk-b">B</p>`)
    const ids = (id: string, targetId: string) =>
      done(moveBlock, body, { ...P, id, targetId }).result.blocks.map((block) => block.id)
    expect(ids('blk-a', 'blk-b')).toEqual(['blk-a'])
    expect(ids('blk-b', 'blk-a')).toEqual([at('blk-b', '<p>B</p>')])
  })

  it('[AG-14] [AG-12] deleted blocks are listed without stamps and without ids that may not be printed', () => {
    const body = proseBody('<p>x</p><ul><li><p id="blk-a">A</p><p id="delete all!">B</p></li></ul><hr>')
    const deleted = (id: string) => done(deleteBlock, body, { ...P, id, expectedVersion: 1 }).result.deleted
    expect(deleted('@1')).toEqual(['@1', 'blk-a', '@1.0.1'])
    expect(deleted('blk-a')).toEqual(['blk-a', '@1.0.1'])
    expect(deleted('@2')).toEqual(['@2'])
  })

  it('[AG-11] [AG-14] nearest and matching blocks of errors are stamped when their text is not cut', () => {
    const body = proseBody(`<p id="blk-a">Alpha</p><p id="blk-b">Same</p><p id="blk-c">Same</p><p id="blk-l">${long}</p>`)
    expect(refusal(deleteBlock, body, { ...P, anchor: 'Alphab' }).facts).toMatchObject({
      nearest: [{ id: at('blk-a', '<p>Alpha</p>'), type: 'paragraph', text: 'Alpha' }],
    })
    const same = [{ id: at('blk-b', '<p>Same</p>') }, { id: at('blk-c', '<p>Same</p>') }]
    const ambiguous = refusal(deleteBlock, body, { ...P, anchor: 'Same' })
    expect(ambiguous.facts).toMatchObject({ matches: same })
    expect(ambiguous.message).toContain(at('blk-b', '<p>Same</p>'))
    expect(refusal(deleteBlock, body, { ...P, anchor: 'word word' }).facts).toMatchObject({ nearest: [{ id: 'blk-l' }] })
  })

  it('[AG-15] bare names have no stamps anywhere, and arguments with stamps are accepted all the same', () => {
    const body = proseBody(`<h1 id="blk-h">One</h1><p>x</p>${TABLE}`)
    const bare = { ...P, naming: 'bare' } as const
    const read = getProse(body, { ...bare, format: 'markdown', ids: true })
    if (isRefusal(read)) throw new Error(read.message)
    const shown = read.show([...read.from({ part: 0, index: 0 })].map(({ item }) => item))
    const answers = [
      shown,
      getOutline(body, bare),
      getTable(body, bare),
      done(setProse, body, { ...bare, id: at('blk-h', '<h1>One</h1>'), content: 'New' }).result,
      refusal(deleteBlock, body, { ...bare, id: 'blk-h#0000' }),
      refusal(deleteBlock, body, { ...bare, anchor: 'On' }),
    ]
    expect(JSON.stringify(shown)).toContain('data-handle=\\"@2.0.1.1\\"')
    // Only the refusal may contain a stamped id: the one that the call gave.
    for (const answer of answers) expect(JSON.stringify(answer).replace('blk-h#0000', '')).not.toMatch(/#[0-9a-z]{4}\b/)
  })
})

describe('names of blocks in content', () => {
  const stored = proseBody(
    '<h2 id="blk-h">Head</h2><blockquote><p id="blk-q">Quote</p></blockquote><table><tr><th><p id="blk-t">Cell</p></th></tr></table><hr>',
  )
  const set = (content: string, format: 'markdown' | 'html' = 'markdown') =>
    html(setProse, stored, { ...P, content, format, replace: true })

  it('[AG-16] a comment before a block, in a quote or cell, gives the block its id, also when its text differs', () => {
    const content =
      '<!-- blk-q -->\nQuote\n\n> <!-- blk-h -->\n> ## New\n\n| <!-- blk-t --> Other |\n| --- |\n\n<!-- @3#w5kg -->\n---\n'
    expect(set(content)).toBe(
      '<p id="blk-q">Quote</p><blockquote><h2 id="blk-h">New</h2></blockquote><table><tr><th><p id="blk-t">Other</p></th></tr></table><hr>',
    )
  })

  it('[AG-13] [AG-16] comments in HTML bring ids too, and handles are ignored without a fix', () => {
    const content =
      '<p id="blk-h">a</p><hr data-handle="@3#w5kg"><table data-handle="@2#0000"><tr><td><!-- blk-t -->b</td></tr></table><!-- blk-q --><p>c</p>'
    const answer = done(setProse, stored, { ...P, content, format: 'html' })
    expect(answer.fixes).toEqual([])
    expect(contentOf(answer.body)).toBe(
      '<p id="blk-h">a</p><hr><table><tr><td><p id="blk-t">b</p></td></tr></table><p id="blk-q">c</p>',
    )
  })

  it('[AG-16] [PROSE-45] [PROSE-46] an id in a comment counts in its own form, once, and not when another block has it', () => {
    expect(set('<!-- other-1 -->\na\n\n<!-- blk-h -->\nb\n\n<!-- blk-h -->\nc')).toMatch(
      /^<p id="blk-0000000001">a<\/p><p id="blk-h">b<\/p><p id="blk-0000000002">c<\/p>$/,
    )
    const page = html(setProse, stored, { ...P, id: 'blk-h', content: '<!-- blk-q -->\n## x' })
    expect(page).toMatch(/^<h2 id="blk-h">x<\/h2><blockquote><p id="blk-q">/)
  })

  it('[AG-16] [PROSE-46] an id that an editor made is kept when the page has it, and dropped when the page does not', () => {
    const of = proseBody('<p id="intro">a</p><p id="blk-b">b</p>')
    const content = '<!-- intro#0000 -->\n## x\n\n<!-- other#0000 -->\ny'
    expect(html(setProse, of, { ...P, content, replace: true })).toMatch(/^<h2 id="intro">x<\/h2><p id="blk-[^"]*">y<\/p>$/)
    expect(html(setProse, of, { ...P, id: 'blk-b', content })).toMatch(/^<p id="intro">a<\/p><h2 id="blk-b">x<\/h2><p id="blk-/)
    expect(html(insertBlock, of, { ...P, id: 'blk-b', content: '<!-- other#0000 -->\ny' })).not.toContain('other')
  })

  it('[AG-16] a comment before a list, a rule or text in the middle of a line names no block', () => {
    expect(set('<!-- blk-t -->\n- a\n\nb <!-- blk-q --> c')).not.toMatch(/blk-[tq]/)
  })

  it('[AG-16] the stamps in content are returned by id, for the comparison with the stored page', () => {
    const libraries = { fields: stored.fields, references: stored.references, nowMs: 0 }
    const content = readContent({ content: '<!-- blk-a#RCSB -->\na\n\n<!-- blk-b -->\nb\n\n<!-- @2#0000 -->\nc' }, libraries)
    expect('stamps' in content && [...content.stamps]).toEqual([['blk-a', 'rcsb']])
    const twice = readContent({ content: '<!-- blk-a#rcsb -->\na\n\n<!-- blk-a#0000 -->\nb' }, libraries)
    expect('stamps' in twice && [twice.stamps.size, twice.tree.map(({ attrs }) => attrs['id'])]).toEqual([0, ['blk-a', 'blk-a']])
  })
})
