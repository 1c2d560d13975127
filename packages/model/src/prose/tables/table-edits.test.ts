import { describe, expect, it } from 'vitest'
import { body, prosePage } from '../../testing/builders.ts'
import type { EditEnvironment } from '../../edit.ts'
import { setProse } from '../prose-edits.ts'
import { editTableOfPage, getTable, type EditTable, type GetTable } from './table-edits.ts'

function environment(): EditEnvironment {
  let count = 0
  return { nowMs: 0, random: (length) => String(++count).padStart(length, '0') }
}

const one = '<table><tr><td><p id="a">A</p></td><td><p id="b">B</p></td></tr></table>'
const nested =
  '<p id="top">top</p><table><tr><td><p id="outer">outer</p><table><tr><td><p id="inner">inner</p></td></tr></table></td></tr></table>' +
  '<table><tr><td><p id="last">last</p></td></tr></table>'

function document(content: string) {
  return body({ richTextPages: [prosePage('p', content), prosePage('q', '<p id="elsewhere">x</p>')] })
}

function edit(content: string, args: Omit<EditTable, 'pageId'> & { pageId?: string }) {
  const given = document(content)
  const edited = editTableOfPage(given, { pageId: 'p', naming: 'bare', ...args }, environment())
  if (edited.kind === 'refused') return { code: edited.code, facts: edited.facts }
  const { result, fixes, warnings } = edited
  return { html: edited.body.prose.pages[0]?.content, table: result.table, fixes, warnings, isSame: edited.body === given }
}

function get(content: string, args: Omit<GetTable, 'pageId'>) {
  const read = getTable(document(content), { pageId: 'p', naming: 'bare', ...args })
  return 'kind' in read ? { code: read.code, facts: read.facts } : read.table
}

describe('selecting a table', () => {
  it('[TABLE-1] a table is selected by number in document order, counting nested ones', () => {
    const texts = [0, 1, 2].map((tableIndex) => {
      const table = get(nested, { tableIndex })
      return 'cells' in table ? [table.tableIndex, table.tableCount, table.cells[0]?.text] : table
    })
    expect(texts).toEqual([
      [0, 3, 'outer inner'],
      [1, 3, 'inner'],
      [2, 3, 'last'],
    ])
  })

  it('[TABLE-1] the id or anchor of a block selects the innermost table around it', () => {
    expect(get(nested, { id: 'inner' })).toMatchObject({ tableIndex: 1 })
    expect(get(nested, { anchor: 'outer' })).toMatchObject({ tableIndex: 0 })
    expect(get(nested, { id: 'last', anchor: 'last' })).toMatchObject({ tableIndex: 2 })
    expect(get(nested, { id: '@2' })).toMatchObject({ tableIndex: 2 })
  })

  it('[TABLE-1] without a selection the only table of the page is used', () => {
    expect(get(one, {})).toMatchObject({ tableIndex: 0, tableCount: 1 })
    expect(get(nested, {})).toEqual({ code: 'ERR_TABLE_AMBIGUOUS', facts: { tableCount: 3 } })
    expect(get('<p>x</p>', {})).toEqual({ code: 'ERR_TABLE_NOT_FOUND', facts: { pageId: 'p' } })
    expect(get('<p>x</p>', { tableIndex: 0 })).toMatchObject({ code: 'ERR_TABLE_NOT_FOUND' })
  })

  it('[TABLE-1] a refused selection names what was wrong', () => {
    expect(get(nested, { tableIndex: 3 })).toEqual({ code: 'ERR_TABLE_INDEX', facts: { tableIndex: 3, tableCount: 3 } })
    expect(get(nested, { id: 'top' })).toEqual({ code: 'ERR_TARGET_NOT_IN_TABLE', facts: { id: 'top' } })
    expect(get(nested, { anchor: 'top' })).toEqual({ code: 'ERR_TARGET_NOT_IN_TABLE', facts: {} })
    expect(getTable(document(nested), { pageId: 'p', id: 'top' })).toMatchObject({
      message: expect.stringContaining('tableIndex (0 to 2)'),
    })
    expect(get(nested, { id: 'last', tableIndex: 0 })).toMatchObject({
      code: 'ERR_BAD_ARGUMENT',
      facts: { argument: 'tableIndex' },
    })
    expect(get(one, { id: 'elsewhere' })).toMatchObject({ code: 'ERR_ID_NOT_FOUND', facts: { otherPage: 'q' } })
    expect(getTable(document(one), { pageId: 'nowhere' })).toMatchObject({ code: 'ERR_PAGE_NOT_FOUND' })
    expect(editTableOfPage(document(one), { pageId: 'nowhere', op: 'toggleHeaderRow' }, environment())).toMatchObject({
      code: 'ERR_PAGE_NOT_FOUND',
    })
  })
})

describe('grid of a table', () => {
  it('[TABLE-2] the grid of a table has each cell at its top-left slot, with its tag, spans, text, id and attributes', () => {
    const long = 'word '.repeat(40)
    const html =
      '<table><tr><th colspan="2" colwidth="80,0" scope="col" style="background-color: red; text-align: center"><p id="h">Head</p></th></tr>' +
      `<tr><td><p>${long}</p></td><td><hr><ul><li><p id="i">one</p></li><li><p>two</p></li></ul></td></tr></table>`
    expect(get(html, {})).toEqual({
      id: '@0',
      tableIndex: 0,
      tableCount: 1,
      rows: 2,
      cols: 2,
      cells: [
        {
          row: 0,
          col: 0,
          tag: 'th',
          colspan: 2,
          rowspan: 1,
          text: 'Head',
          id: 'h',
          colwidth: [80, 0],
          backgroundColor: 'red',
          align: 'center',
          scope: 'col',
        },
        { row: 1, col: 0, tag: 'td', colspan: 1, rowspan: 1, text: `${long.slice(0, 120)}…`, id: '@0.1.0.0' },
        { row: 1, col: 1, tag: 'td', colspan: 1, rowspan: 1, text: 'one two', id: 'i', ids: ['i', '@0.1.1.1.1.0'] },
      ],
    })
  })
})

describe('editing a table', () => {
  it('[TABLE-4] an op is stored, new cells get ids, and the answer is the stored grid', () => {
    const done = edit(one, { op: 'addRow', row: 0 })
    expect(done.html).toBe(
      one.replace('</table>', '<tr><td><p id="blk-0000000001"></p></td><td><p id="blk-0000000002"></p></td></tr></table>'),
    )
    expect(done.table?.cells.map((cell) => cell.id)).toEqual(['a', 'b', 'blk-0000000001', 'blk-0000000002'])
    expect([done.fixes, done.warnings]).toEqual([[], []])
  })

  it('[TABLE-5] an op changes only its table, byte for byte', () => {
    const done = edit(nested, { op: 'setCellAttrs', id: 'inner', row: 0, col: 0, align: 'right' })
    expect(done.html).toBe(nested.replace('<td><p id="inner">', '<td style="text-align: right"><p id="inner">'))
  })

  it('[TABLE-4] a ragged table is made rectangular first, with a fix; repairs elsewhere on the page are warnings', () => {
    const ragged = '<table><tr><td><p id="a">A</p></td><td><p id="b">B</p></td></tr><tr><td><p id="c">C</p></td></tr></table>'
    const done = edit(`${ragged}<ul></ul>`, { op: 'toggleHeaderRow' })
    expect(done.table).toMatchObject({ rows: 2, cols: 2 })
    expect(done.fixes).toMatchObject([{ action: 'rebuilt_table', path: '0/table' }])
    expect(done.warnings).toHaveLength(1)
    expect(done.html).not.toContain('<ul>')
    const unchanged = edit(ragged, { op: 'setColumnWidth', col: 0 })
    expect(unchanged.html).toContain('<p id="c">C</p></td><td><p id="blk-')
  })

  it('[TABLE-4] repairs of the table are reported also when blocks before it are repaired', () => {
    const ragged = '<table><tr><td><p id="a">A</p></td><td><p>B</p></td></tr><tr><td><p>C</p></td></tr></table>'
    const others = { '': 0, '<ul></ul>': 1, '<p>x</p><ul></ul><ol></ol>': 2, '<li><p>i</p></li><li><p>j</p></li>': 1 }
    for (const [before, warnings] of Object.entries(others))
      for (const op of ['setColumnWidth', 'toggleHeaderRow']) {
        const done = edit(before + ragged, { op, id: 'a', ...(op === 'setColumnWidth' ? { col: 0 } : {}) })
        expect(done.fixes, before).toMatchObject([{ action: 'rebuilt_table', nodeType: 'table' }])
        expect(done.warnings, before).toHaveLength(warnings)
        expect(get(done.html as string, {}), before).toEqual(done.table)
        expect(done.html?.match(/<t[dh]>/g)).toHaveLength(4)
      }
  })

  it('[PROSE-54] a table op that changes nothing writes nothing', () => {
    expect(edit(one, { op: 'setColumnWidth', col: 0 }).isSame).toBe(true)
    expect(edit(one, { op: 'moveRow', from: 0, to: 0 }).isSame).toBe(true)
    expect(edit(one, { op: 'setCellAttrs', row: 0, col: 0, align: '' }).isSame).toBe(true)
  })

  it('[PROSE-47] a table op accepts a positional handle only with expectedVersion', () => {
    expect(edit(nested, { op: 'toggleHeaderRow', id: '@1' })).toMatchObject({ code: 'ERR_BAD_ARGUMENT' })
    expect(edit(nested, { op: 'toggleHeaderRow', id: '@1', expectedVersion: 4 })).toMatchObject({ table: { tableIndex: 0 } })
  })

  it('[TABLE-8] the arguments of the op are checked before the document is read', () => {
    expect(edit(one, { op: 'paint', pageId: 'nowhere' })).toMatchObject({ code: 'ERR_BAD_ARGUMENT', facts: { argument: 'op' } })
  })
})

describe('content of cells', () => {
  it('[TABLE-6] content of a cell is edited with the prose tools through the id of the cell, and the table stays', () => {
    const table = get(one, {})
    const id = 'cells' in table ? table.cells[1]?.id : undefined
    const edited = setProse(document(one), { pageId: 'p', id, content: 'new **text**' }, environment())
    expect(edited.kind === 'edited' && edited.body.prose.pages[0]?.content).toBe(
      '<table><tr><td><p id="a">A</p></td><td><p id="b">new <strong>text</strong></p></td></tr></table>',
    )
  })
})

describe('texts of new cells', () => {
  it('[AG-81] a new row or column takes plain texts in order, and cells without a text stay empty', () => {
    expect(edit(one, { op: 'addRow', row: 0, values: ['1 < 2', ''] }).html).toContain(
      '1 &lt; 2</p></td><td><p id="0000000002"></p>'.replace('0000000002', 'blk-0000000002'),
    )
    expect(edit(one, { op: 'addColumn', col: 1, values: ['x\ny'] }).html).toContain('>x<br>y</p>')
    const merged = '<table><tr><td rowspan="2"><p>a</p></td><td><p>b</p></td></tr><tr><td><p>c</p></td></tr></table>'
    expect(edit(merged, { op: 'addRow', row: 0, values: ['only'] }).html).toContain('only')
    expect(edit(merged, { op: 'addRow', row: 0, values: ['one', 'two'] })).toEqual({
      code: 'ERR_CELL_RANGE',
      facts: { rows: 2, cols: 2 },
    })
    expect(edit(one, { op: 'deleteRow', row: 0, values: ['x'] })).toMatchObject({
      code: 'ERR_BAD_ARGUMENT',
      facts: { argument: 'values' },
    })
  })
})
