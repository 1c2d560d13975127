import { tableLimits } from '../heal-table.ts'
import { refused, type Refusal } from '../../edit.ts'
import { quoteList } from '../../quote.ts'
import type { ProseElement } from '../node.ts'
import {
  buildTable,
  coversCol,
  coversRow,
  emptyCell,
  isMerged,
  linesOf,
  resized,
  widthsOf,
  type PlacedCell,
  type TableGrid,
} from './grid.ts'
import { splicedBlock } from '../text-splices.ts'
import { cleanText } from '../values.ts'
import type { Side } from './op-args.ts'

/**
 * Adding, deleting and moving of whole rows and columns. Each function takes a table with its grid, and positions inside that grid.
 * [TABLE-7]
 */

export function addRow(
  table: ProseElement,
  grid: TableGrid,
  row: number,
  side: Side,
  values: readonly string[] = [],
): ProseElement | Refusal {
  const line = side === 'before' ? row : row + 1
  const isCrossing = (cell: PlacedCell) => cell.row < line && line < cell.row + cell.rowspan
  const kept = grid.cells.map((cell) => {
    if (isCrossing(cell)) return resized(cell, { rowspan: cell.rowspan + 1 })
    return cell.row < line ? cell : { ...cell, row: cell.row + 1 }
  })
  const covered = slots(grid.cells.filter(isCrossing), (cell) => [cell.col, cell.colspan])
  const widths = columnWidths(grid)
  const added = range(grid.cols)
    .filter((col) => !covered.has(col))
    .map((col) => emptyCell('tableCell', line, col, widths[col]))
  const refusal = aboveLimits(grid.rows + 1, grid.cols, kept.length + added.length) ?? tooManyValues(grid, added, values)
  return refusal ?? buildTable(table, [...kept, ...filled(added, values)], inserted(linesOf(table), line))
}

export function addColumn(
  table: ProseElement,
  grid: TableGrid,
  col: number,
  side: Side,
  values: readonly string[] = [],
): ProseElement | Refusal {
  const line = side === 'before' ? col : col + 1
  const isCrossing = (cell: PlacedCell) => cell.col < line && line < cell.col + cell.colspan
  const kept = grid.cells.map((cell) => {
    if (isCrossing(cell)) {
      const widths = widthsOf(cell.node)
      return resized(cell, { colspan: cell.colspan + 1, ...(widths && { widths: inserted(widths, line - cell.col, 0) }) })
    }
    return cell.col < line ? cell : { ...cell, col: cell.col + 1 }
  })
  const covered = slots(grid.cells.filter(isCrossing), (cell) => [cell.row, cell.rowspan])
  const kinds = kindsAlong(grid, col)
  const added = range(grid.rows)
    .filter((row) => !covered.has(row))
    .map((row) => emptyCell(kinds[row] ?? 'tableCell', row, line))
  const refusal = aboveLimits(grid.rows, grid.cols + 1, kept.length + added.length) ?? tooManyValues(grid, added, values)
  return refusal ?? buildTable(table, [...kept, ...filled(added, values)], linesOf(table))
}

/** Fills new cells with texts; a line break in a text becomes a hard break. [AG-81] */
function filled(cells: readonly PlacedCell[], values: readonly string[]): readonly PlacedCell[] {
  return cells.map((cell, i) => {
    const text = cleanText((values[i] ?? '').replace(/\r\n/g, '\n'))
    const [paragraph] = cell.node.content
    if (text === '' || paragraph === undefined) return cell
    const said = splicedBlock(paragraph as ProseElement, [{ at: 0, remove: 0, insert: text, like: -1 }])
    return { ...cell, node: { ...cell.node, content: [said] } }
  })
}

function tooManyValues({ rows, cols }: TableGrid, added: readonly PlacedCell[], values: readonly string[]): Refusal | null {
  if (values.length <= added.length) return null
  const sentence = `${values.length} values came for ${added.length} new cells; the table has ${rows} rows and ${cols} columns.`
  return refused('ERR_CELL_RANGE', sentence, { rows, cols })
}

export function deleteRow(table: ProseElement, grid: TableGrid, row: number): ProseElement | Refusal {
  if (grid.rows === 1)
    return refused('ERR_TABLE_LAST_ROW', 'The table has 1 row, which stays; delete the table instead.', { rows: 1 })
  const kept = grid.cells.flatMap((cell) => {
    // A cell that starts in the deleted row and continues below then starts in the next row.
    if (coversRow(cell, row)) return cell.rowspan === 1 ? [] : [resized(cell, { rowspan: cell.rowspan - 1 })]
    return [cell.row < row ? cell : { ...cell, row: cell.row - 1 }]
  })
  return buildTable(table, kept, without(linesOf(table), row))
}

export function deleteColumn(table: ProseElement, grid: TableGrid, col: number): ProseElement | Refusal {
  if (grid.cols === 1)
    return refused('ERR_TABLE_LAST_COLUMN', 'The table has 1 column, which stays; delete the table instead.', { cols: 1 })
  const kept = grid.cells.flatMap((cell) => {
    if (coversCol(cell, col)) {
      if (cell.colspan === 1) return []
      const widths = widthsOf(cell.node)
      return [resized(cell, { colspan: cell.colspan - 1, ...(widths && { widths: without(widths, col - cell.col) }) })]
    }
    return [cell.col < col ? cell : { ...cell, col: cell.col - 1 }]
  })
  return buildTable(table, kept, linesOf(table))
}

export function moveRow(table: ProseElement, grid: TableGrid, from: number, to: number): ProseElement | Refusal {
  const merged = hasMerges(grid)
  if (merged !== null) return merged
  const order = moved(range(grid.rows), from, to)
  const lines = linesOf(table)
  return from === to ? table : { ...table, content: order.map((row) => lines[row] as ProseElement) }
}

export function moveColumn(table: ProseElement, grid: TableGrid, from: number, to: number): ProseElement | Refusal {
  const merged = hasMerges(grid)
  if (merged !== null) return merged
  const places = new Map(moved(range(grid.cols), from, to).map((col, place) => [col, place]))
  const cells = grid.cells.map((cell) => ({ ...cell, col: places.get(cell.col) as number }))
  return buildTable(table, cells, linesOf(table))
}

/** Sets the width of a column in every cell that covers it; 0 clears it. */
export function withColumnWidth(table: ProseElement, grid: TableGrid, col: number, width: number): ProseElement {
  const cells = grid.cells.map((cell) => {
    if (!coversCol(cell, col)) return cell
    const before = widthsOf(cell.node) ?? range(cell.colspan).map(() => 0)
    const widths = before.map((own, i) => (i === col - cell.col ? width : own))
    return resized(cell, { widths: widths.every((own) => own === 0) ? null : widths })
  })
  return buildTable(table, cells, linesOf(table))
}

/** Refuses a table beyond the limits of tables, because reading such a table would cut it. [PROSE-23] */
export function aboveLimits(rows: number, cols: number, cells: number): Refusal | null {
  const { rows: maxRows, columns: maxCols, cells: maxCells } = tableLimits
  if (rows <= maxRows && cols <= maxCols && cells <= maxCells) return null
  const expected = `a table of at most ${maxRows} rows, ${maxCols} columns and ${maxCells} cells`
  return refused(
    'ERR_BAD_ARGUMENT',
    `The op would give ${rows} rows, ${cols} columns and ${cells} cells; the limit is ${expected}.`,
    {
      argument: 'op',
      expected,
      got: { rows, cols, cells },
    },
  )
}

function hasMerges(grid: TableGrid): Refusal | null {
  const merged = grid.cells.filter(isMerged)
  if (merged.length === 0) return null
  const cells = merged.slice(0, 20).map(({ row, col, rowspan, colspan }) => ({ row, col, rowspan, colspan }))
  const places = quoteList(merged.map(({ row, col }) => `(${row}, ${col})`))
  return refused('ERR_TABLE_HAS_MERGES', `The table has merged cells, at row and column ${places}; split them first.`, { cells })
}

/** Returns the width of each column from the first cell that sets a width; 0 when no cell does. */
function columnWidths(grid: TableGrid): readonly number[] {
  const widths = range(grid.cols).map(() => 0)
  for (const { node, col } of grid.cells)
    widthsOf(node)?.forEach((width, i) => {
      if (widths[col + i] === 0) widths[col + i] = width
    })
  return widths
}

/** Returns for each row the type of the cell at a column. */
function kindsAlong(grid: TableGrid, col: number): readonly ('tableCell' | 'tableHeader')[] {
  const kinds: ('tableCell' | 'tableHeader')[] = []
  for (const cell of grid.cells)
    if (coversCol(cell, col))
      for (let row = cell.row; row < cell.row + cell.rowspan; row++)
        kinds[row] = cell.node.type === 'tableHeader' ? 'tableHeader' : 'tableCell'
  return kinds
}

function slots(cells: readonly PlacedCell[], extent: (cell: PlacedCell) => readonly [number, number]): ReadonlySet<number> {
  const covered = new Set<number>()
  for (const cell of cells) {
    const [start, length] = extent(cell)
    for (let i = start; i < start + length; i++) covered.add(i)
  }
  return covered
}

function range(length: number): number[] {
  return Array.from({ length }, (_, i) => i)
}

/** An absent `entry` inserts `undefined`: a row node that is not created yet. */
function inserted<T>(list: readonly T[], at: number): (T | undefined)[]
function inserted<T>(list: readonly T[], at: number, entry: T): T[]
function inserted<T>(list: readonly T[], at: number, entry?: T): (T | undefined)[] {
  return [...list.slice(0, at), entry, ...list.slice(at)]
}

function without<T>(list: readonly T[], at: number): T[] {
  return [...list.slice(0, at), ...list.slice(at + 1)]
}

function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const rest = without(list, from)
  return [...rest.slice(0, to), list[from] as T, ...rest.slice(to)]
}
