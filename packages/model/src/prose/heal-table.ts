import { withContent } from './equal.ts'
import type { HealReport, Place } from './fixes.ts'
import { isInline } from './heal-inline.ts'
import type { ProseAttrs, ProseElement, ProseNode } from './node.ts'

/** Limits of a table after healing. [PROSE-23] */
export const tableLimits = { columns: 200, rows: 2000, cells: 20_000 } as const

/** Callbacks that heal the content of a table, and content moved out of it. */
interface BlockHealer {
  blocks(children: readonly ProseNode[], level: number, parent: Place | undefined): readonly ProseElement[]
  filled(node: ProseElement, level: number, place: Place): readonly ProseElement[]
  /** Whether the page may have this many more padding cells. */
  mayPad(cells: number): boolean
}

/** Makes a table rectangular. Content that is not a row is moved before the table. [PROSE-H15, PROSE-H16, PROSE-H17] */
export function healTable(
  healer: BlockHealer,
  report: (fix: HealReport) => void,
  table: ProseElement,
  level: number,
  place: Place,
): readonly ProseElement[] {
  const strays = table.content.filter((child) => child.type !== 'tableRow')
  let rows = table.content.filter((child) => child.type === 'tableRow')
  if (strays.length > 0)
    report({ action: 'rebuilt_table', reason: 'a table holds rows; its other content stands before it', place })
  const before = strays.length === 0 ? [] : healer.blocks(strays, level, place)
  if (rows.length > tableLimits.rows) {
    report({ action: 'clamped', reason: `a table has at most ${tableLimits.rows} rows`, place })
    rows = rows.slice(0, tableLimits.rows)
  }
  const cut = new Set<string>()
  const shaped = rows.map((row, index) => wrapCells(row as ProseElement, report, { parent: place, index, name: 'tableRow' }))
  let grid = layOut(shaped, cut)
  if (grid.rows.length < shaped.length) {
    report({ action: 'clamped', reason: `a table has at most ${tableLimits.cells} cells`, place })
    grid = layOut(shaped.slice(0, grid.rows.length), cut)
  }
  if (!healer.mayPad(grid.missing)) {
    report({ action: 'unwrapped', reason: 'the tables of the page lack too many cells; its content is kept', place })
    const contents = shaped.flatMap((row) => row.content.flatMap((cell) => (cell as ProseElement).content))
    return [...before, ...healer.blocks(contents, level, place)]
  }
  if (cut.has('columns')) report({ action: 'clamped', reason: `a table has at most ${tableLimits.columns} columns`, place })
  if (cut.has('shape') || grid.missing > 0) report({ action: 'rebuilt_table', reason: 'the table was not rectangular', place })
  if (grid.columns === 0) {
    report({ action: 'dropped_invalid', reason: 'a table needs rows and columns', place })
    return before
  }
  const healed = padded(grid).map((row, index) => fillCells(healer, row, level + 1, { parent: place, index, name: 'tableRow' }))
  const made = withContent(table, healed)
  if (!places.has(made)) places.set(made, place)
  return [...before, made]
}

const places = new WeakMap<ProseElement, Place>()

/** The position of a healed table before healing, which its fixes use: healing may have removed or added blocks before it. */
export function placeBeforeHealing(table: ProseElement): Place | undefined {
  return places.get(table)
}

/** Wraps children of a row that are not cells: each block gets a cell, and a run of inline nodes gets one together. [PROSE-H15] */
function wrapCells(row: ProseElement, report: (fix: HealReport) => void, place: Place): ProseElement {
  if (row.content.every(isCell)) return row
  report({ action: 'rebuilt_table', reason: 'a row holds cells', place })
  const cells: ProseElement[] = []
  let run: ProseNode[] | undefined
  for (const child of row.content) {
    if (run !== undefined && isInline(child)) {
      run.push(child)
      continue
    }
    run = isInline(child) ? [child] : undefined
    cells.push(isCell(child) ? child : { type: 'tableCell', attrs: {}, content: run ?? [child] })
  }
  return { ...row, content: cells }
}

interface Grid {
  /** The rows of the table, as many as the limit of cells allows. `covered`: the number of columns covered by the row's cells and by cells from above. */
  readonly rows: readonly { readonly row: ProseElement; readonly cells: readonly ProseElement[]; readonly covered: number }[]
  readonly columns: number
  /** Number of cells that short rows lack. */
  readonly missing: number
}

/** Places every cell and shortens spans that do not fit. The kinds of adjustments are added to `cut`. [PROSE-H16] */
function layOut(rows: readonly ProseElement[], cut: Set<string>): Grid {
  // For each column, the first row that is not covered by a cell from above.
  const freeFrom: number[] = new Array<number>(tableLimits.columns).fill(0)
  const placed: Grid['rows'][number][] = []
  let [columns, missing, written, covered] = [0, 0, 0, 0]
  for (const [at, row] of rows.entries()) {
    const cells: ProseElement[] = []
    let column = 0
    for (const child of row.content as readonly ProseElement[]) {
      while (column < tableLimits.columns && (freeFrom[column] as number) > at) column++
      if (column >= tableLimits.columns) {
        cut.add('columns')
        break
      }
      const cell = fit(child, freeFrom, at, column, rows.length, cut)
      const width = spanOf(cell, 'colspan')
      freeFrom.fill(at + spanOf(cell, 'rowspan'), column, column + width)
      column += width
      columns = Math.max(columns, column)
      cells.push(cell)
    }
    let inRow = 0
    for (let i = 0; i < columns; i++) if ((freeFrom[i] as number) > at) inRow++
    const lacking = columns * (at + 1) - (covered + inRow)
    if (written + cells.length + lacking > tableLimits.cells) break
    written += cells.length
    covered += inRow
    missing = lacking
    placed.push({ row, cells, covered: inRow })
  }
  return { rows: placed, columns, missing }
}

/** The rows of a grid, with empty cells of the row's kind added to short rows. [PROSE-H16] */
function padded({ rows, columns }: Grid): readonly ProseElement[] {
  return rows.map(({ row, cells, covered }) => {
    const type = cells.length > 0 && cells.every((cell) => cell.type === 'tableHeader') ? 'tableHeader' : 'tableCell'
    const empty: ProseElement = { type, attrs: {}, content: [] }
    return withContent(row, [...cells, ...new Array<ProseElement>(columns - covered).fill(empty)])
  })
}

/** Shortens a cell's spans so that they end inside the table and before the first column that is covered from above. */
function fit(
  cell: ProseElement,
  freeFrom: readonly number[],
  row: number,
  column: number,
  rowCount: number,
  cut: Set<string>,
): ProseElement {
  if (isPlain(cell)) return cell
  const { colspan: writtenColspan = 1, rowspan: writtenRowspan = 1, colwidth, ...others } = cell.attrs
  const wanted = validSpan(writtenColspan)
  const rowspan = Math.min(validSpan(writtenRowspan), rowCount - row)
  let colspan = 1
  while (colspan < wanted && column + colspan < tableLimits.columns && (freeFrom[column + colspan] as number) <= row) colspan++
  let widths = Array.isArray(colwidth) ? (colwidth as readonly number[]) : undefined
  if (widths !== undefined && colspan < wanted && widths.length === wanted) widths = widths.slice(0, colspan)
  if (widths !== undefined && widths.length !== colspan) widths = undefined
  if (colspan < wanted && column + colspan >= tableLimits.columns) cut.add('columns')
  if (colspan === writtenColspan && rowspan === writtenRowspan && widths === colwidth)
    return isDefaultFree(cell) ? cell : { ...cell, attrs: { ...others } }
  cut.add('shape')
  const attrs: ProseAttrs = {
    ...(colspan === 1 ? {} : { colspan }),
    ...(rowspan === 1 ? {} : { rowspan }),
    ...(widths === undefined ? {} : { colwidth: widths }),
    ...others,
  }
  return { ...cell, attrs }
}

/** Whether a cell covers one slot and has no width of its own. Nearly every cell is like that, and it fits everywhere. */
function isPlain({ attrs }: ProseElement): boolean {
  return attrs['colspan'] === undefined && attrs['rowspan'] === undefined && attrs['colwidth'] === undefined
}

function isDefaultFree(cell: ProseElement): boolean {
  return cell.attrs['colspan'] !== 1 && cell.attrs['rowspan'] !== 1
}

function validSpan(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 ? value : 1
}

/**
 * Valid rows, with the deepest level at which each was found valid, so that healing a long table after a change skips the unchanged rows.
 * [CONC-13]
 */
const rightRows = new WeakMap<ProseElement, number>()

function fillCells(healer: BlockHealer, row: ProseElement, level: number, parent: Place): ProseElement {
  if ((rightRows.get(row) ?? 0) >= level) return row
  const healed = fillAnew(healer, row, level, parent)
  if (healed === row) rightRows.set(row, level)
  return healed
}

function fillAnew(healer: BlockHealer, row: ProseElement, level: number, parent: Place): ProseElement {
  const cells = (row.content as readonly ProseElement[]).map((cell, index) =>
    withContent(cell, healer.filled(cell, level + 1, { parent, index, name: cell.type })),
  )
  return withContent(row, cells)
}

function isCell(node: ProseNode): node is ProseElement {
  return node.type === 'tableCell' || node.type === 'tableHeader'
}

function spanOf(cell: ProseElement, name: 'colspan' | 'rowspan'): number {
  return validSpan(cell.attrs[name])
}
