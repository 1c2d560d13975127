import { describe, expect, it } from 'vitest'
import { isRefusal } from '../edit.ts'
import { stampedId } from '../stamps/stamp.ts'
import { blockStamp } from './block-stamp.ts'
import { addressable, blockAt, readHandle } from './handles.ts'
import { deleteBlock, insertBlock, moveBlock, setProse } from './prose-edits.ts'
import { editText } from '../text-edits/edit-text.ts'
import { setBlock } from './set-block.ts'
import { getProse } from './read-prose.ts'
import { editTableOfPage, getTable } from './tables/table-edits.ts'
import { done, html, proseBody, refusal } from './testing/editing.ts'
import { parseHtml } from './html.ts'
import type { ProseElement } from './node.ts'

const PAGE =
  '<h2 id="blk-h">Intro</h2><p id="blk-a">Alpha</p><ul><li><p id="blk-i">Item</p></li><li><p id="blk-j">Other</p></li></ul><hr>'
const body = proseBody(PAGE)
const stampOf = (stored: string): string => blockStamp(parseHtml(stored, { source: 'stored' }).tree[0] as ProseElement)
const alpha = stampedId('blk-a', stampOf('<p>Alpha</p>'))
const X = { pageId: 'p', content: '<p>X</p>', format: 'html' } as const
const set = { pageId: 'p', id: alpha, content: '<p>X</p>', format: 'html' } as const
/** A document in which somebody wrote into the block Alpha after the caller had read the block. */
const changed = proseBody(PAGE.replace('Alpha', 'Alpha and <strong>more</strong>'))

describe('edits that name a block by its id and stamp', () => {
  it('[AG-6] [AG-7] an id whose stamp still fits names its block, in each argument that takes an id', () => {
    expect(html(setProse, body, set)).toBe(html(setProse, body, { ...set, id: 'blk-a' }))
    expect(html(setProse, body, { ...X, id: 'blk-h', untilId: alpha })).not.toContain('Alpha')
    expect(html(insertBlock, body, set)).toBe(html(insertBlock, body, { ...set, id: 'blk-a' }))
    expect(done(deleteBlock, body, { pageId: 'p', id: alpha.toUpperCase().replace('BLK-A', 'blk-a') }).result.deleted).toEqual([
      'blk-a',
    ])
    expect(html(moveBlock, body, { pageId: 'p', id: 'blk-h', targetId: alpha })).toMatch(/Alpha.*Intro/)
  })

  it('[AG-6] the text behind the # of an unknown id must be a stamp too', () => {
    for (const edit of [
      () => refusal(setProse, body, { ...X, id: 'blk-none#rcs' }),
      () => refusal(setProse, body, { ...X, id: 'none#' }),
    ])
      expect(edit()).toMatchObject({ code: 'ERR_BAD_ARGUMENT', facts: { argument: 'id' } })
    expect(refusal(setProse, body, { ...X, id: 'blk-none#rcsb' }).code).toBe('ERR_ID_NOT_FOUND')
  })

  it('[AG-6] [AG-16] an id of an editor that looks like an id with a stamp stays when its page is sent back', () => {
    const own = '<p id="blk-x#rcsb">Own</p><p id="blk-y">Other</p>'
    const sent = { pageId: 'p', content: own.replace('Other', 'Changed'), format: 'html', replace: true } as const
    expect(html(setProse, proseBody(own), sent)).toBe(own.replace('Other', 'Changed'))
  })

  it('[AG-7] a stamp that no longer fits refuses the edit, with the block as it is now', () => {
    const calls = [
      refusal(setProse, changed, set),
      refusal(setProse, changed, { ...X, id: 'blk-h', untilId: alpha }),
      refusal(insertBlock, changed, set),
      refusal(deleteBlock, changed, { pageId: 'p', id: alpha }),
      refusal(moveBlock, changed, { pageId: 'p', id: 'blk-h', targetId: alpha }),
    ]
    const id = stampedId('blk-a', stampOf('<p>Alpha and <strong>more</strong></p>'))
    const current = { id, type: 'paragraph', content: 'Alpha and **more**' }
    for (const call of calls) expect(call).toMatchObject({ code: 'ERR_BLOCK_CHANGED', facts: { id: 'blk-a', current } })
    expect(html(setProse, changed, { ...set, id })).toContain('<p id="blk-a">X</p>')
  })

  it('[AG-7] a refusal cuts content above 4,000 bytes, and the id of the cut block has no stamp', () => {
    const long = proseBody(`<p id="blk-a">${'ä'.repeat(3_000)}</p>`)
    const { current } = refusal(setProse, long, set).facts as { current: { id: string; content: string; cut: boolean } }
    expect(current).toMatchObject({ id: 'blk-a', cut: true, content: 'ä'.repeat(2_000) })
  })

  it('[AG-7] reads, and selecting a table by a block, are not refused for an old stamp', () => {
    expect(isRefusal(getProse(changed, { pageId: 'p', id: alpha }))).toBe(false)
    const table = proseBody('<table><tr><td><p id="blk-c">cell</p></td></tr></table>')
    expect(isRefusal(getTable(table, { pageId: 'p', id: 'blk-c#0000' }))).toBe(false)
    expect(refusal(editTableOfPage, table, { pageId: 'p', id: 'blk-c#0000', op: 'addRow', row: 0, side: 'after' }).code).toBe(
      'ERR_BLOCK_CHANGED',
    )
  })

  it('[AG-6] the whole name is tried as an id first, and a malformed stamp is refused with its argument', () => {
    const odd = proseBody('<p id="x#rcsb">Odd</p>')
    expect(html(setProse, odd, { ...set, id: 'x#rcsb' })).toBe('<p id="x#rcsb">X</p>')
    expect(refusal(setProse, body, { ...set, id: 'blk-a#abc' })).toMatchObject({
      code: 'ERR_BAD_ARGUMENT',
      facts: { argument: 'id' },
    })
    expect(refusal(setProse, body, { ...set, id: 'blk-zz#abc' }).code).toBe('ERR_BAD_ARGUMENT')
  })

  it('[AG-8] the id of a removed block is not found, with a stamp or without', () => {
    expect(refusal(setProse, body, { ...set, id: 'blk-zz#rcsb' })).toMatchObject({
      code: 'ERR_ID_NOT_FOUND',
      facts: { id: 'blk-zz' },
    })
  })

  it('[AG-7] of two blocks with one id the stamp says which is meant', () => {
    const split = proseBody('<p id="blk-a">Alpha</p><p id="blk-a">Beta</p>')
    expect(html(deleteBlock, split, { pageId: 'p', id: alpha })).toBe('<p id="blk-a">Beta</p>')
    expect(refusal(deleteBlock, split, { pageId: 'p', id: 'blk-a#0000' }).code).toBe('ERR_ID_AMBIGUOUS')
  })
})

describe('edits that name a block by its place and stamp', () => {
  const list = stampedId('@2', stampOf('<ul><li><p>Item</p></li><li><p>Other</p></li></ul>'))
  const rule = stampedId('@3', stampOf('<hr>'))

  it('[AG-9] a stamped handle needs no expectedVersion, and its path of indexes reaches blocks without id', () => {
    expect(html(deleteBlock, body, { pageId: 'p', id: rule })).not.toContain('<hr>')
    expect(html(deleteBlock, body, { pageId: 'p', id: list })).not.toContain('Item')
    const item = blockAt(parseHtml(PAGE, { source: 'stored' }).tree, [2, 1])?.block as ProseElement
    expect(html(deleteBlock, body, { pageId: 'p', id: stampedId('@2.1', blockStamp(item)) })).toBe(
      PAGE.replace(/<li><p id="blk-j.*?<\/li>/, ''),
    )
    expect(refusal(deleteBlock, body, { pageId: 'p', id: '@2.1' }).code).toBe('ERR_BAD_ARGUMENT')
    expect(html(deleteBlock, body, { pageId: 'p', id: '@2.1', expectedVersion: 1 })).not.toContain('Other')
  })

  it('[AG-10] a stamped handle finds its block after the block moved', () => {
    const moved = proseBody(`<p id="blk-n">New</p>${PAGE}`)
    expect(html(deleteBlock, moved, { pageId: 'p', id: rule })).toBe(`<p id="blk-n">New</p>${PAGE.replace('<hr>', '')}`)
  })

  it('[AG-10] a stamped handle whose stamp no block has refuses the edit, with the block at its place', () => {
    const other = proseBody(PAGE.replace('Other', 'Another'))
    const refused = refusal(deleteBlock, other, { pageId: 'p', id: list })
    expect(refused).toMatchObject({
      code: 'ERR_BLOCK_CHANGED',
      facts: { current: { type: 'bulletList', content: '- Item\n- Another' } },
    })
    const { current } = refused.facts as { current: { id: string } }
    expect(html(deleteBlock, other, { pageId: 'p', id: current.id })).not.toContain('Another')
    expect(refusal(deleteBlock, body, { pageId: 'p', id: '@9#0000' }).code).toBe('ERR_ID_NOT_FOUND')
  })

  it('[AG-10] a stamped handle of several equal blocks is refused, unless the call names the version', () => {
    const two = proseBody(`${PAGE}<p id="blk-m">Middle</p><hr>`)
    expect(refusal(deleteBlock, two, { pageId: 'p', id: rule })).toMatchObject({ code: 'ERR_ID_AMBIGUOUS', facts: { count: 2 } })
    expect(html(deleteBlock, two, { pageId: 'p', id: rule, expectedVersion: 1 })).toBe(
      PAGE.replace('<hr>', '') + '<p id="blk-m">Middle</p><hr>',
    )
  })

  it('[AG-9] a handle is a path of at most 64 indexes, which reaches cells and blocks in them, but no rows', () => {
    expect(readHandle('@4.2.0')).toEqual([4, 2, 0])
    for (const text of ['@', '@1.', '@-1', '@1.2.x', 'blk-1', `@${Array(65).fill(1).join('.')}`])
      expect(readHandle(text)).toBeNull()
    const { tree } = parseHtml('<table><tr><td><p>x</p></td></tr></table>', { source: 'stored' })
    expect(addressable(tree).map(({ path }) => path.join('.'))).toEqual(['0', '0.0.0', '0.0.0.0'])
    for (const path of [[0, 0], [1], [0, 0, 0, 0, 0]]) expect(blockAt(tree, path)).toBeNull()
  })

  describe('of a cell', () => {
    const cell = (inside: string) => `<td>${inside}</td>`
    const table = (...cells: readonly string[]) => `<table><tr>${cells.map(cell).join('')}</tr></table>`
    const TWO = '<p>one</p><p>two</p>'
    const rows = proseBody(table(TWO, '<p>other</p>'))
    const named = (index: number, inside: string) => {
      const [first] = parseHtml(table(inside), { source: 'stored' }).tree
      return stampedId(`@0.0.${index}`, blockStamp(blockAt([first as ProseElement], [0, 0, 0])?.block as ProseElement))
    }
    const two = { pageId: 'p', id: named(0, TWO) }
    const plain = (page = '') => page.replaceAll(/ id="[^"]*"/g, '')

    it('[AG-9] set_prose and delete_block of a cell write the blocks in the cell, and the cell stays', () => {
      expect(plain(html(setProse, rows, { ...X, ...two }))).toBe(table('<p>X</p>', '<p>other</p>'))
      expect(plain(html(deleteBlock, rows, two))).toBe(table('<p></p>', '<p>other</p>'))
      const other = { ...X, id: named(1, '<p>other</p>') }
      expect(plain(html(setProse, rows, { ...other, content: '<p>1</p><ul><li><p>2</p></li></ul>' }))).toBe(
        table(TWO, '<p>1</p><ul><li><p>2</p></li></ul>'),
      )
      expect(refusal(setProse, rows, { ...other, untilId: two.id }).code).toBe('ERR_ANCHOR_RANGE')
    })

    it('[AG-9] insert_block and move_block with a cell put blocks at the start or the end of the cell', () => {
      for (const [side, inside] of [
        ['before', `<p>X</p>${TWO}`],
        ['after', `${TWO}<p>X</p>`],
      ] as const)
        expect(plain(html(insertBlock, rows, { ...X, ...two, side }))).toBe(table(inside, '<p>other</p>'))
      const target = { pageId: 'p', targetId: two.id, side: 'after' } as const
      expect(plain(html(moveBlock, rows, { ...target, id: named(1, '<p>other</p>') }))).toBe(
        table(`${TWO}<p>other</p>`, '<p></p>'),
      )
    })

    it('[AG-9] set_block changes the only block of a cell, get_prose reads the cell, and edit_text stays in it', () => {
      const id = named(1, '<p>other</p>')
      expect(plain(html(setBlock, rows, { pageId: 'p', id, type: 'heading', level: 3 }))).toContain('<h3>other</h3>')
      expect(refusal(setBlock, rows, { ...two, type: 'heading' })).toMatchObject({ code: 'ERR_BLOCK_KIND' })
      const read = getProse(rows, { pageId: 'p', id: two.id, format: 'html' })
      if (isRefusal(read)) throw new Error(read.message)
      const shown = read.show([...read.from({ part: 0, index: 0 })].map(({ item }) => item))
      expect(shown['page']).toMatchObject({ content: TWO })
      expect(plain(html(editText, rows, { pageId: 'p', edits: [{ find: 'o', replace: '0', all: true, id }] } as never))).toBe(
        table(TWO, '<p>0ther</p>'),
      )
    })

    it('[AG-10] an edit of a cell that changed is refused, with the whole content of the cell', () => {
      const { current } = refusal(setProse, proseBody(table('<p>new</p><p>two</p>', '<p>other</p>')), { ...X, ...two }).facts as {
        current: { id: string; type: string; content: string }
      }
      expect(current).toMatchObject({ type: 'tableCell', content: 'new\n\ntwo' })
      const now = proseBody(table('<p>new</p><p>two</p>', '<p>other</p>'))
      expect(plain(html(setProse, now, { ...X, id: current.id }))).toBe(table('<p>X</p>', '<p>other</p>'))
    })

    it('[AG-11] [AG-12] get_table names a cell without text by its handle, which a write with expectedVersion accepts', () => {
      const drawn = proseBody(table('<hr>', '<p>other</p>'))
      const shown = getTable(drawn, { pageId: 'p' })
      if (isRefusal(shown)) throw new Error(shown.message)
      const [first, second] = shown.table.cells
      expect([first?.id, second?.id]).toEqual(['@0.0.0', stampedId('@0.0.1.0', stampOf('<p>other</p>'))])
      expect(plain(html(setProse, drawn, { ...X, id: '@0.0.0', expectedVersion: 1 }))).toBe(table('<p>X</p>', '<p>other</p>'))
    })
  })
})
