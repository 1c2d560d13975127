import { quote } from '../../quote.ts'
import { bareName, blockName, isAllIn, nameBeside, type Naming } from '../block-names.ts'
import { idBearing } from '../blocks.ts'
import { withContent } from '../equal.ts'
import { emptyParagraph, type ProseAttrs, type ProseElement, type ProseTree } from '../node.ts'
import { collapse, shownText } from '../text.ts'
import type { Path } from '../tree-path.ts'
import type { SelectedTable } from './select.ts'

/** A cell, with the position of its top left slot and the slots it covers. */
export interface PlacedCell {
  readonly node: ProseElement
  readonly row: number
  readonly col: number
  readonly rowspan: number
  readonly colspan: number
}

/** A table as a rectangle of slots, each covered by exactly one cell. */
export interface TableGrid {
  readonly rows: number
  readonly cols: number
  /** The cells in row-major order of their top left slots. */
  readonly cells: readonly PlacedCell[]
}

/** The grid of a table that satisfies the content model. [PROSE-H16] */
export function readGrid(table: ProseElement): TableGrid {
  // For each column, the first row that is not covered by a cell from above.
  const freeFrom: number[] = []
  const cells: PlacedCell[] = []
  table.content.forEach((line, row) => {
    let col = 0
    for (const node of (line as ProseElement).content as readonly ProseElement[]) {
      while ((freeFrom[col] ?? 0) > row) col++
      const [rowspan, colspan] = [spanOf(node, 'rowspan'), spanOf(node, 'colspan')]
      cells.push({ node, row, col, rowspan, colspan })
      for (let x = col; x < col + colspan; x++) freeFrom[x] = row + rowspan
      col += colspan
    }
  })
  return { rows: table.content.length, cols: freeFrom.length, cells }
}

/** Returns the cell that covers a slot inside the grid. A merged cell is found by any of its slots. [TABLE-3] */
export function cellAt(grid: TableGrid, row: number, col: number): PlacedCell {
  return grid.cells.find((cell) => coversRow(cell, row) && coversCol(cell, col)) as PlacedCell
}

export function coversRow(cell: PlacedCell, row: number): boolean {
  return cell.row <= row && row < cell.row + cell.rowspan
}

export function coversCol(cell: PlacedCell, col: number): boolean {
  return cell.col <= col && col < cell.col + cell.colspan
}

export function isMerged(cell: PlacedCell): boolean {
  return cell.rowspan > 1 || cell.colspan > 1
}

/** Returns the width of each column that a cell covers, 0 where unset; `undefined` when the cell has no widths. */
export function widthsOf(node: ProseElement): readonly number[] | undefined {
  const widths = node.attrs['colwidth']
  return Array.isArray(widths) ? (widths as readonly number[]) : undefined
}

/** The spans and widths that a cell should have. When `widths` is absent, the widths stay; `null` removes them. */
export interface CellSize {
  readonly rowspan?: number
  readonly colspan?: number
  readonly widths?: readonly number[] | null
}

/** Returns the cell with another size; keeps its node (`===`) when nothing changes. The caller sets the position of the cell. */
export function resized(cell: PlacedCell, size: CellSize): PlacedCell {
  const { rowspan = cell.rowspan, colspan = cell.colspan } = size
  const before = widthsOf(cell.node)
  const widths = size.widths === undefined ? before : (size.widths ?? undefined)
  if (rowspan === cell.rowspan && colspan === cell.colspan && sameWidths(before, widths)) return cell
  const { colspan: _c, rowspan: _r, colwidth: _w, ...others } = cell.node.attrs
  const attrs: ProseAttrs = {
    ...(colspan === 1 ? {} : { colspan }),
    ...(rowspan === 1 ? {} : { rowspan }),
    ...(widths === undefined ? {} : { colwidth: widths }),
    ...others,
  }
  return { ...cell, rowspan, colspan, node: { ...cell.node, attrs } }
}

/** Returns an empty cell of one slot. */
export function emptyCell(type: 'tableCell' | 'tableHeader', row: number, col: number, width = 0): PlacedCell {
  const attrs: ProseAttrs = width === 0 ? {} : { colwidth: [width] }
  return { node: { type, attrs, content: [emptyParagraph()] }, row, col, rowspan: 1, colspan: 1 }
}

/**
 * Builds a table with the given cells, which must cover each slot of `rows` rows exactly once, in any order. `lines` are the stored row nodes by row; a row
 * node is reused when its cells stay the same. [TABLE-5]
 */
export function buildTable(
  table: ProseElement,
  cells: readonly PlacedCell[],
  lines: readonly (ProseElement | undefined)[],
): ProseElement {
  const byRow: PlacedCell[][] = lines.map(() => [])
  for (const cell of cells) (byRow[cell.row] as PlacedCell[]).push(cell)
  const rows = lines.map((line, row) => {
    const inOrder = (byRow[row] as PlacedCell[]).sort((a, b) => a.col - b.col).map((cell) => cell.node)
    return withContent(line ?? { type: 'tableRow', attrs: {}, content: [] }, inOrder)
  })
  return withContent(table, rows)
}

/** Returns the row nodes of a table. */
export function linesOf(table: ProseElement): readonly ProseElement[] {
  return table.content as readonly ProseElement[]
}

/** A table as tools show it. [TABLE-2] */
export interface Grid {
  /** The handle of the table. [AG-11] */
  readonly id: string
  readonly tableIndex: number
  readonly tableCount: number
  readonly rows: number
  readonly cols: number
  readonly cells: readonly GridCell[]
}

export interface GridCell {
  readonly row: number
  readonly col: number
  readonly tag: 'td' | 'th'
  readonly colspan: number
  readonly rowspan: number
  readonly text: string
  /** The name of the first text block in the cell; for a cell without text block, the handle of the cell. [AG-11] */
  readonly id: string
  /** The names of all text blocks in the cell, when it has more than one. [AG-11] */
  readonly ids?: readonly string[]
  readonly colwidth?: readonly number[]
  readonly backgroundColor?: string
  readonly align?: string
  readonly scope?: string
}

/** Describes a table of a page as tools show it. [TABLE-2] */
export function describeTable({ table, path, tableIndex, tableCount }: SelectedTable, naming: Naming): Grid {
  const { rows, cols, cells } = readGrid(table)
  const places = new Map(linesOf(table).flatMap((line, row) => line.content.map((cell, index) => [cell, [...path, row, index]])))
  const shown = cells.map((cell) => describeCell(cell, places.get(cell.node) as Path, naming))
  // A stamp says that the caller has seen the whole table, so a table with a cut cell has none. [AG-14]
  const isWhole = cells.every(({ node }) => isAllIn(textOf(node), node))
  const id = blockName({ path, block: table }, isWhole ? naming : 'bare')
  return { id, tableIndex, tableCount, rows, cols, cells: shown }
}

/** Returns the text blocks of a table whose whole content a grid shows. [AG-14] */
export function shownInGrid(table: ProseElement): readonly ProseElement[] {
  const cells = linesOf(table).flatMap((line) => line.content as readonly ProseElement[])
  return cells.flatMap((cell) => {
    const text = textOf(cell)
    const blocks = idBearing(cell.content as ProseTree).map(({ block }) => block)
    return blocks.filter((block) => isAllIn(text, block))
  })
}

const shownAttrs = ['colwidth', 'backgroundColor', 'align', 'scope'] as const

function describeCell({ node, row, col, colspan, rowspan }: PlacedCell, path: Path, naming: Naming): GridCell {
  const text = textOf(node)
  const ids = idBearing(node.content as ProseTree).map((found) =>
    nameBeside({ block: found.block, path: [...path, ...found.path] }, text, naming),
  )
  // A cell without a text block is named by its handle, without a stamp. [AG-11]
  const [id = bareName({ path, block: node })] = ids
  const shown = shownAttrs.filter((name) => node.attrs[name] !== undefined).map((name) => [name, node.attrs[name]] as const)
  return {
    row,
    col,
    tag: node.type === 'tableHeader' ? 'th' : 'td',
    colspan,
    rowspan,
    text: quote(text),
    id,
    ...(ids.length > 1 ? { ids } : {}),
    ...Object.fromEntries(shown),
  }
}

function textOf(cell: ProseElement): string {
  return collapse(cell.content.map(shownText).join(' '))
}

function spanOf(node: ProseElement, name: 'colspan' | 'rowspan'): number {
  const span = node.attrs[name]
  return typeof span === 'number' ? span : 1
}

function sameWidths(a: readonly number[] | undefined, b: readonly number[] | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return a.length === b.length && a.every((width, i) => width === b[i])
}
