import { isRefusal, refused, type Refusal } from '../../edit.ts'
import { quote } from '../../quote.ts'
import { isIdBearing } from '../blocks.ts'
import { emptyParagraph, type ProseAttrs, type ProseElement } from '../node.ts'
import { nodeSpec } from '../schema.ts'
import { buildTable, cellAt, isMerged, linesOf, resized, widthsOf, type PlacedCell, type TableGrid } from './grid.ts'
import { aboveLimits } from './lines.ts'
import { cellAttrNames, type CellAttrs } from './op-args.ts'

/** Merging, splitting and styling of single cells. Each function takes a table with its grid, and positions inside that grid. [TABLE-7] */

/** A rectangle of slots, including its last row and column. */
export interface Rect {
  readonly fromRow: number
  readonly fromCol: number
  readonly toRow: number
  readonly toCol: number
}

export function mergeCells(table: ProseElement, grid: TableGrid, corners: Rect): ProseElement | Refusal {
  const rect = boxOf(cornerCells(grid, corners))
  const cut = grid.cells.find((cell) => touches(cell, rect) && !isInside(cell, rect))
  if (cut !== undefined) return partialSpan(rect, cut)
  const inside = grid.cells.filter((cell) => isInside(cell, rect))
  const [first, ...others] = inside as [PlacedCell, ...PlacedCell[]]
  if (others.length === 0) {
    const { row, col } = first
    return refused('ERR_MERGE_SINGLE_CELL', `The rectangle holds the one cell at row ${row}, column ${col}; name two or more.`, {
      row,
      col,
    })
  }
  const colspan = rect.toCol - rect.fromCol + 1
  const widths = widthsOf(first.node)
  const padded = widths && [...widths, ...Array.from({ length: colspan - widths.length }, () => 0)]
  const sized = resized(first, { rowspan: rect.toRow - rect.fromRow + 1, colspan, ...(padded && { widths: padded }) })
  const filled = inside.filter((cell) => !isEmpty(cell.node))
  const content = filled.length === 0 ? first.node.content : filled.flatMap((cell) => cell.node.content)
  const merged: PlacedCell = { ...sized, node: { ...sized.node, content } }
  const gone = new Set(others)
  const kept = grid.cells.filter((cell) => !gone.has(cell)).map((cell) => (cell === first ? merged : cell))
  return buildTable(table, kept, linesOf(table))
}

export function splitCell(table: ProseElement, grid: TableGrid, row: number, col: number): ProseElement | Refusal {
  const cell = cellAt(grid, row, col)
  if (!isMerged(cell))
    return refused('ERR_SPLIT_NOT_MERGED', `The cell at row ${row}, column ${col} spans one row and one column.`, { row, col })
  const tooLarge = aboveLimits(grid.rows, grid.cols, grid.cells.length - 1 + cell.rowspan * cell.colspan)
  if (tooLarge !== null) return tooLarge
  const parts: PlacedCell[] = []
  for (let y = 0; y < cell.rowspan; y++) for (let x = 0; x < cell.colspan; x++) parts.push(part(cell, y, x))
  const others = grid.cells.filter((other) => other !== cell)
  return buildTable(table, [...others, ...parts], linesOf(table))
}

/** Returns one slot of a merged cell as a cell with the attributes of the merged cell. */
function part(cell: PlacedCell, y: number, x: number): PlacedCell {
  const width = widthsOf(cell.node)?.[x] ?? 0
  const slot = resized(cell, { rowspan: 1, colspan: 1, widths: width === 0 ? null : [width] })
  const placed = { ...slot, row: cell.row + y, col: cell.col + x }
  return y === 0 && x === 0 ? placed : { ...placed, node: { ...slot.node, content: [emptyParagraph()] } }
}

export function setCellAttrs(
  table: ProseElement,
  grid: TableGrid,
  row: number,
  col: number,
  wanted: CellAttrs,
): ProseElement | Refusal {
  const set = readAttrs(wanted)
  if (isRefusal(set)) return set
  const cell = cellAt(grid, row, col)
  if (set.has('scope') && cell.node.type !== 'tableHeader')
    return badAttr('scope', `the cell at row ${row}, column ${col} is a td, and only a th has a scope`, [])
  const { node } = cell
  if ([...set].every(([name, value]) => (node.attrs[name] ?? '') === value)) return table
  const attrs: ProseAttrs = Object.fromEntries(
    Object.entries({ ...node.attrs, ...Object.fromEntries(set) }).filter(([name, value]) => !set.has(name) || value !== ''),
  )
  const cells = grid.cells.map((other) => (other === cell ? { ...cell, node: { ...node, attrs } } : other))
  return buildTable(table, cells, linesOf(table))
}

/** Turns the selected cells into header cells; when all of them are headers, into plain cells. */
export function toggleHeaders(table: ProseElement, grid: TableGrid, isOn: (cell: PlacedCell) => boolean): ProseElement {
  const wasHeader = grid.cells.every((cell) => !isOn(cell) || cell.node.type === 'tableHeader')
  const cells = grid.cells.map((cell) =>
    isOn(cell) ? { ...cell, node: wasHeader ? asPlain(cell.node) : asHeader(cell.node) } : cell,
  )
  return buildTable(table, cells, linesOf(table))
}

function asHeader(node: ProseElement): ProseElement {
  return node.type === 'tableHeader' ? node : { ...node, type: 'tableHeader' }
}

function asPlain(node: ProseElement): ProseElement {
  const { scope: _, ...attrs } = node.attrs
  return { ...node, type: 'tableCell', attrs }
}

/** Refuses attributes that are wrong for every cell; `null` otherwise. [MCP-3] */
export function cellAttrsFlaw(wanted: CellAttrs): Refusal | null {
  const set = readAttrs(wanted)
  return isRefusal(set) ? set : null
}

/** No allowed value is longer than this; longer values are refused without being parsed. [CONC-13] */
const maxValue = 1_000

/** Returns the attributes to set, by name; the value `''` removes an attribute. A header cell has all attributes of a plain cell. */
function readAttrs(wanted: CellAttrs): ReadonlyMap<string, string> | Refusal {
  const names = cellAttrNames.filter((name) => wanted[name] !== undefined)
  if (names.length === 0) return badAttr(undefined, 'setCellAttrs needs at least one attribute', cellAttrNames)
  const set = new Map<string, string>()
  for (const name of names) {
    const value = wanted[name] as string
    const spec = nodeSpec('tableHeader').attrs.find((attr) => attr.name === name)
    const read = value === '' ? '' : value.length > maxValue ? undefined : spec?.read(value)
    if (typeof read !== 'string') return badAttr(name, `${name} "${quote(value)}" is not allowed`, allowedValues[name])
    set.set(name, read)
  }
  return set
}

const allowedValues: { readonly [name in (typeof cellAttrNames)[number]]: readonly string[] } = {
  backgroundColor: ['a hex, rgb(), rgba(), hsl(), hsla() or named CSS colour', 'transparent', 'empty to clear'],
  align: ['left', 'center', 'right', 'empty to clear'],
  scope: ['row', 'col', 'rowgroup', 'colgroup', 'empty to clear'],
}

function badAttr(attribute: string | undefined, reason: string, allowed: readonly string[]): Refusal {
  const hint = allowed.length === 0 ? '' : `; allowed: ${allowed.join(', ')}`
  return refused('ERR_CELL_ATTR', `No attribute was set: ${reason}${hint}.`, {
    ...(attribute === undefined ? {} : { attribute }),
    allowed,
  })
}

function cornerCells(grid: TableGrid, { fromRow, fromCol, toRow, toCol }: Rect): readonly PlacedCell[] {
  return [fromRow, toRow].flatMap((row) => [fromCol, toCol].map((col) => cellAt(grid, row, col)))
}

function boxOf(cells: readonly PlacedCell[]): Rect {
  return {
    fromRow: Math.min(...cells.map((cell) => cell.row)),
    fromCol: Math.min(...cells.map((cell) => cell.col)),
    toRow: Math.max(...cells.map((cell) => cell.row + cell.rowspan - 1)),
    toCol: Math.max(...cells.map((cell) => cell.col + cell.colspan - 1)),
  }
}

function touches(cell: PlacedCell, rect: Rect): boolean {
  const [bottom, right] = [cell.row + cell.rowspan - 1, cell.col + cell.colspan - 1]
  return cell.row <= rect.toRow && bottom >= rect.fromRow && cell.col <= rect.toCol && right >= rect.fromCol
}

function isInside(cell: PlacedCell, rect: Rect): boolean {
  const [bottom, right] = [cell.row + cell.rowspan - 1, cell.col + cell.colspan - 1]
  return cell.row >= rect.fromRow && bottom <= rect.toRow && cell.col >= rect.fromCol && right <= rect.toCol
}

function partialSpan(rect: Rect, { row, col, rowspan, colspan }: PlacedCell): Refusal {
  return refused(
    'ERR_MERGE_PARTIAL_SPAN',
    `The rectangle from row ${rect.fromRow}, column ${rect.fromCol} to row ${rect.toRow}, column ${rect.toCol} cuts the merged ` +
      `cell at row ${row}, column ${col}, which covers ${rowspan} rows and ${colspan} columns; take all of it in or leave it out.`,
    { rect, cell: { row, col, rowspan, colspan } },
  )
}

/** Whether a cell contains only one text block without content. */
function isEmpty(cell: ProseElement): boolean {
  const [only] = cell.content
  return cell.content.length === 1 && only !== undefined && isIdBearing(only) && only.type !== 'text' && only.content.length === 0
}
