import { describe, expect, it } from 'vitest'
import { parseHtml, serialiseHtml } from '../html.ts'
import type { ProseElement } from '../node.ts'
import { editTable } from './ops.ts'
import { readTableOp, tableOpNames, type TableOpArgs } from './op-args.ts'

function tableOf(html: string): ProseElement {
  const { tree, fixes } = parseHtml(html, { source: 'stored' })
  if (fixes.length > 0) throw new Error(JSON.stringify(fixes))
  return tree[0] as ProseElement
}

/** Makes `<td>` cells from single letters; `/` ends a row. */
function rows(text: string): string {
  const cells = (row: string) => [...row].map((letter) => `<td><p>${letter}</p></td>`).join('')
  return `<table>${text
    .split('/')
    .map((row) => `<tr>${cells(row)}</tr>`)
    .join('')}</table>`
}

function run(html: string, args: TableOpArgs) {
  const op = readTableOp(args)
  if ('kind' in op) return { code: op.code, facts: op.facts, message: op.message }
  const edited = editTable(tableOf(html), op)
  if (edited.kind === 'refused') return { code: edited.code, facts: edited.facts, message: edited.message }
  return { html: serialiseHtml([edited.table]), fixes: edited.fixes }
}

function after(html: string, args: TableOpArgs): string | undefined {
  return run(html, args).html
}

const spanning = '<table><tr><td rowspan="2"><p>a</p></td><td><p>b</p></td></tr><tr><td><p>c</p></td></tr></table>'
const wide = '<table><tr><td colspan="2" colwidth="80,120"><p>a</p></td></tr><tr><td><p>b</p></td><td><p>c</p></td></tr></table>'

describe('adding rows and columns', () => {
  it('[TABLE-7] addRow adds empty td cells after the row, or before it', () => {
    const empty = '<tr><td><p></p></td><td><p></p></td></tr>'
    expect(after(rows('ab/cd'), { op: 'addRow', row: 0 })).toBe(rows('ab/cd').replace('</tr><tr>', `</tr>${empty}<tr>`))
    expect(after(rows('ab/cd'), { op: 'addRow', row: 0, side: 'before' })).toBe(
      rows('ab/cd').replace('<table>', `<table>${empty}`),
    )
    expect(after(rows('ab/cd'), { op: 'addRow', row: 1, side: 'after' })).toBe(
      rows('ab/cd').replace('</table>', `${empty}</table>`),
    )
  })

  it('[TABLE-7] addRow extends a span that crosses the new row, and not a span that ends before it', () => {
    expect(after(spanning, { op: 'addRow', row: 0 })).toBe(
      '<table><tr><td rowspan="3"><p>a</p></td><td><p>b</p></td></tr><tr><td><p></p></td></tr><tr><td><p>c</p></td></tr></table>',
    )
    expect(after(spanning, { op: 'addRow', row: 1 })).toBe(
      spanning.replace('</table>', '<tr><td><p></p></td><td><p></p></td></tr></table>'),
    )
    expect(after(spanning, { op: 'addRow', row: 0, side: 'before' })).toBe(
      spanning.replace('<table>', '<table><tr><td><p></p></td><td><p></p></td></tr>'),
    )
  })

  it('[TABLE-7] cells of a new row are td with the widths of their columns, also below a header', () => {
    const html = '<table><tr><th colwidth="90"><p>a</p></th><th><p>b</p></th></tr></table>'
    expect(after(html, { op: 'addRow', row: 0 })).toBe(
      html.replace('</table>', '<tr><td colwidth="90"><p></p></td><td><p></p></td></tr></table>'),
    )
  })

  it('[TABLE-7] addColumn takes the kind of the cell at col in each row', () => {
    const html = '<table><tr><th scope="col"><p>a</p></th></tr><tr><td><p>b</p></td></tr></table>'
    expect(after(html, { op: 'addColumn', col: 0 })).toBe(
      '<table><tr><th scope="col"><p>a</p></th><th><p></p></th></tr><tr><td><p>b</p></td><td><p></p></td></tr></table>',
    )
  })

  it('[TABLE-7] addColumn extends a span that crosses the new column, with width 0 for this column', () => {
    expect(after(wide, { op: 'addColumn', col: 0 })).toBe(
      '<table><tr><td colspan="3" colwidth="80,0,120"><p>a</p></td></tr>' +
        '<tr><td><p>b</p></td><td><p></p></td><td><p>c</p></td></tr></table>',
    )
    expect(after(wide, { op: 'addColumn', col: 1 })).toContain('<td colspan="2" colwidth="80,120"><p>a</p></td><td><p></p></td>')
  })

  it('[TABLE-7] a column added beside a rowspan gets one cell for each row', () => {
    expect(after(spanning, { op: 'addColumn', col: 0, side: 'before' })).toBe(
      '<table><tr><td><p></p></td><td rowspan="2"><p>a</p></td><td><p>b</p></td></tr>' +
        '<tr><td><p></p></td><td><p>c</p></td></tr></table>',
    )
  })

  it('[PROSE-23] a table at its limit of columns refuses another', () => {
    const full = rows('x'.repeat(200))
    expect(run(full, { op: 'addColumn', col: 0 })).toMatchObject({ code: 'ERR_BAD_ARGUMENT', facts: { argument: 'op' } })
  })
})

describe('deleting rows and columns', () => {
  it('[TABLE-7] deleteRow moves down the rest of a rowspan that starts in the row, and shortens one crossing it', () => {
    const moved = '<table><tr><td><p>a</p></td><td><p>c</p></td></tr></table>'
    expect(after(spanning, { op: 'deleteRow', row: 0 })).toBe(moved)
    expect(after(spanning, { op: 'deleteRow', row: 1 })).toBe('<table><tr><td><p>a</p></td><td><p>b</p></td></tr></table>')
  })

  it('[TABLE-7] deleteColumn shortens spans with their widths', () => {
    expect(after(wide, { op: 'deleteColumn', col: 0 })).toBe(
      '<table><tr><td colwidth="120"><p>a</p></td></tr><tr><td><p>c</p></td></tr></table>',
    )
    expect(after(wide, { op: 'deleteColumn', col: 1 })).toBe(
      '<table><tr><td colwidth="80"><p>a</p></td></tr><tr><td><p>b</p></td></tr></table>',
    )
  })

  it('[TABLE-7] the last row and the last column cannot be deleted', () => {
    expect(run(rows('ab'), { op: 'deleteRow', row: 0 })).toMatchObject({ code: 'ERR_TABLE_LAST_ROW', facts: { rows: 1 } })
    expect(run(rows('a/b'), { op: 'deleteColumn', col: 0 })).toMatchObject({ code: 'ERR_TABLE_LAST_COLUMN', facts: { cols: 1 } })
  })
})

describe('merging and splitting', () => {
  it('[TABLE-7] mergeCells accepts corners in any order and joins contents row by row without empty ones', () => {
    const html = rows('ab/cd').replace('<p>b</p>', '<p></p>')
    const merged = '<table><tr><td colspan="2" rowspan="2"><p>a</p><p>c</p><p>d</p></td></tr><tr></tr></table>'
    expect(after(html, { op: 'mergeCells', fromRow: 1, fromCol: 0, toRow: 0, toCol: 1 })).toBe(merged)
  })

  it('[TABLE-7] the merged cell has the attributes of the top-left cell, with 0 for missing widths', () => {
    const html =
      '<table><tr><th colwidth="70" scope="row" style="background-color: red"><p></p></th><td colwidth="30"><p>b</p></td></tr></table>'
    expect(after(html, { op: 'mergeCells', fromRow: 0, fromCol: 0, toRow: 0, toCol: 1 })).toBe(
      '<table><tr><th colspan="2" colwidth="70,0" scope="row" style="background-color: red"><p>b</p></th></tr></table>',
    )
  })

  it('[TABLE-7] empty cells merge into one empty cell', () => {
    const html = '<table><tr><td><p id="x"></p></td><td><p></p></td></tr></table>'
    expect(after(html, { op: 'mergeCells', fromRow: 0, fromCol: 0, toRow: 0, toCol: 1 })).toBe(
      '<table><tr><td colspan="2"><p id="x"></p></td></tr></table>',
    )
  })

  it('[TABLE-7] the rectangle is extended to the cells at its corners, and must not cut another cell', () => {
    const crossed =
      '<table><tr><td><p>a</p></td><td rowspan="2"><p>b</p></td><td><p>c</p></td></tr><tr><td><p>d</p></td><td><p>e</p></td></tr></table>'
    expect(after(crossed, { op: 'mergeCells', fromRow: 0, fromCol: 0, toRow: 0, toCol: 1 })).toBe(
      '<table><tr><td colspan="2" rowspan="2"><p>a</p><p>b</p><p>d</p></td><td><p>c</p></td></tr><tr><td><p>e</p></td></tr></table>',
    )
    expect(run(crossed, { op: 'mergeCells', fromRow: 0, fromCol: 0, toRow: 0, toCol: 2 })).toMatchObject({
      code: 'ERR_MERGE_PARTIAL_SPAN',
      facts: { rect: { fromRow: 0, fromCol: 0, toRow: 0, toCol: 2 }, cell: { row: 0, col: 1, rowspan: 2, colspan: 1 } },
    })
    expect(run(crossed, { op: 'mergeCells', fromRow: 0, fromCol: 1, toRow: 1, toCol: 1 })).toMatchObject({
      code: 'ERR_MERGE_SINGLE_CELL',
      facts: { row: 0, col: 1 },
    })
  })

  it('[TABLE-7] splitCell makes every slot a cell of the same kind with its share of the widths; any slot names the cell', () => {
    const html =
      '<table><tr><th colspan="2" rowspan="2" colwidth="50,0"><p id="a">a</p></th><td><p>b</p></td></tr><tr><td><p>c</p></td></tr></table>'
    const split =
      '<table><tr><th colwidth="50"><p id="a">a</p></th><th><p></p></th><td><p>b</p></td></tr>' +
      '<tr><th colwidth="50"><p></p></th><th><p></p></th><td><p>c</p></td></tr></table>'
    expect(after(html, { op: 'splitCell', row: 1, col: 1 })).toBe(split)
    expect(run(split, { op: 'splitCell', row: 1, col: 1 })).toMatchObject({
      code: 'ERR_SPLIT_NOT_MERGED',
      facts: { row: 1, col: 1 },
    })
  })
})

describe('cell attributes', () => {
  it('[TABLE-7] setCellAttrs sets an attribute, and an empty text removes it', () => {
    const set = after(rows('a'), { op: 'setCellAttrs', row: 0, col: 0, backgroundColor: '#fff', align: 'center' })
    expect(set).toBe('<table><tr><td style="background-color: #fff; text-align: center"><p>a</p></td></tr></table>')
    expect(after(set as string, { op: 'setCellAttrs', row: 0, col: 0, backgroundColor: '' })).toBe(
      '<table><tr><td style="text-align: center"><p>a</p></td></tr></table>',
    )
    expect(after('<table><tr><th><p>a</p></th></tr></table>', { op: 'setCellAttrs', row: 0, col: 0, scope: 'col' })).toBe(
      '<table><tr><th scope="col"><p>a</p></th></tr></table>',
    )
  })

  it('[TABLE-7] setCellAttrs without attribute, with a bad value, or with scope on a td answers ERR_CELL_ATTR', () => {
    const at = { op: 'setCellAttrs', row: 0, col: 0 }
    expect(run(rows('a'), at)).toMatchObject({ code: 'ERR_CELL_ATTR', facts: { allowed: ['backgroundColor', 'align', 'scope'] } })
    expect(run(rows('a'), { ...at, align: 'justify' })).toMatchObject({ code: 'ERR_CELL_ATTR', facts: { attribute: 'align' } })
    expect(run(rows('a'), { ...at, backgroundColor: 'auto' })).toMatchObject({ facts: { attribute: 'backgroundColor' } })
    expect(run(rows('a'), { ...at, scope: 'row' })).toMatchObject({ code: 'ERR_CELL_ATTR', facts: { attribute: 'scope' } })
    expect(run(rows('a'), { ...at, align: 'left', scope: '' })).toMatchObject({ facts: { attribute: 'scope' } })
  })

  it('[TABLE-7] toggleHeaderRow and toggleHeaderColumn change the whole row or column, and remove the scope when toggled back', () => {
    const mixed =
      '<table><tr><th scope="col"><p>a</p></th><td><p>b</p></td></tr><tr><td><p>c</p></td><td><p>d</p></td></tr></table>'
    const on = after(mixed, { op: 'toggleHeaderRow' })
    expect(on).toBe(mixed.replace('<td><p>b</p></td>', '<th><p>b</p></th>'))
    expect(after(on as string, { op: 'toggleHeaderRow' })).toBe(rows('ab/cd'))
    expect(after(rows('ab/cd'), { op: 'toggleHeaderColumn' })).toBe(
      '<table><tr><th><p>a</p></th><td><p>b</p></td></tr><tr><th><p>c</p></th><td><p>d</p></td></tr></table>',
    )
  })

  it('[TABLE-7] setColumnWidth sets the clamped width in every cell that covers the column, and 0 or no width removes it', () => {
    const set = run(wide, { op: 'setColumnWidth', col: 1, width: 5 })
    expect(set.html).toBe(
      '<table><tr><td colspan="2" colwidth="80,20"><p>a</p></td></tr><tr><td><p>b</p></td><td colwidth="20"><p>c</p></td></tr></table>',
    )
    expect(set.fixes).toEqual([{ action: 'clamped', field: 'width', reason: 'a column is 20 to 2000 px wide; 20 was set' }])
    expect(after(set.html as string, { op: 'setColumnWidth', col: 1, width: 0 })).toBe(wide.replace('80,120', '80,0'))
    expect(after(after(set.html as string, { op: 'setColumnWidth', col: 1 }) as string, { op: 'setColumnWidth', col: 0 })).toBe(
      wide.replace(' colwidth="80,120"', ''),
    )
    expect(run(rows('a'), { op: 'setColumnWidth', col: 0, width: 3000 }).html).toContain('colwidth="2000"')
    expect(run(rows('a'), { op: 'setColumnWidth', col: 0, width: 20 }).fixes).toEqual([])
  })
})

describe('moving rows and columns', () => {
  it('[TABLE-7] moveRow and moveColumn take the final index as to', () => {
    expect(after(rows('a/b/c'), { op: 'moveRow', from: 0, to: 2 })).toBe(rows('b/c/a'))
    expect(after(rows('a/b/c'), { op: 'moveRow', from: 2, to: 1 })).toBe(rows('a/c/b'))
    expect(after(rows('abc/def'), { op: 'moveColumn', from: 0, to: 1 })).toBe(rows('bac/edf'))
    expect(after(rows('abc/def'), { op: 'moveColumn', from: 2, to: 0 })).toBe(rows('cab/fde'))
  })

  it('[TABLE-7] a merged cell anywhere refuses the move', () => {
    const cells = [{ row: 0, col: 0, rowspan: 2, colspan: 1 }]
    for (const op of ['moveRow', 'moveColumn'])
      expect(run(spanning, { op, from: 0, to: 1 })).toMatchObject({ code: 'ERR_TABLE_HAS_MERGES', facts: { cells } })
  })
})

describe('arguments of table ops', () => {
  it('[TABLE-3] slots outside the grid answer ERR_CELL_RANGE with the size of the grid', () => {
    const outside: readonly TableOpArgs[] = [
      { op: 'addRow', row: 2 },
      { op: 'deleteColumn', col: 3 },
      { op: 'splitCell', row: 0, col: 3 },
      { op: 'mergeCells', fromRow: 0, fromCol: 0, toRow: 2, toCol: 0 },
      { op: 'setCellAttrs', row: 5, col: 0, align: 'left' },
      { op: 'moveRow', from: 0, to: 2 },
      { op: 'moveColumn', from: 3, to: 0 },
      { op: 'setColumnWidth', col: 3 },
    ]
    for (const args of outside)
      expect(run(rows('abc/def'), args)).toMatchObject({ code: 'ERR_CELL_RANGE', facts: { rows: 2, cols: 3 } })
  })

  it('[TABLE-8] an argument that the op does not use is refused, with the arguments that the op uses', () => {
    expect(run(rows('a'), { op: 'deleteRow', row: 0, col: 0 })).toMatchObject({
      code: 'ERR_BAD_ARGUMENT',
      facts: { argument: 'col', known: ['row'] },
    })
    expect(run(rows('a'), { op: 'toggleHeaderRow', row: 0 })).toMatchObject({ facts: { argument: 'row', known: [] } })
    expect(run(rows('a'), { op: 'addRow', row: 0, width: 3 })).toMatchObject({ facts: { argument: 'width' } })
  })

  it('[TABLE-8] positions must be integers from 0, and required positions must be given', () => {
    for (const row of [-1, 0.5, Number.NaN, undefined])
      expect(run(rows('a'), { op: 'deleteRow', row })).toMatchObject({ code: 'ERR_BAD_ARGUMENT', facts: { argument: 'row' } })
    expect(run(rows('a'), { op: 'mergeCells', fromRow: 0, fromCol: 0, toRow: 0 })).toMatchObject({ facts: { argument: 'toCol' } })
    expect(run(rows('a'), { op: 'addCol', col: 0 })).toMatchObject({
      code: 'ERR_BAD_ARGUMENT',
      facts: { argument: 'op', nearest: 'addRow', known: tableOpNames },
    })
  })
})
