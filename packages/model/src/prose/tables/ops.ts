import { isRefusal, refused, type Fix, type Refusal } from '../../edit.ts'
import type { ProseElement } from '../node.ts'
import { mergeCells, setCellAttrs, splitCell, toggleHeaders } from './cells.ts'
import { readGrid, type TableGrid } from './grid.ts'
import { addColumn, addRow, deleteColumn, deleteRow, moveColumn, moveRow, withColumnWidth } from './lines.ts'
import type { TableOp } from './op-args.ts'

export interface TableEdited {
  readonly kind: 'table'
  /** The given table itself (`===`) when nothing changed. Unchanged cells keep their identity. [TABLE-5] */
  readonly table: ProseElement
  readonly fixes: readonly Fix[]
}

/** Applies one operation to a table. Table and result satisfy the content model; new blocks have no id yet. [TABLE-4, TABLE-7] */
export function editTable(table: ProseElement, op: TableOp): TableEdited | Refusal {
  const grid = readGrid(table)
  const outside = outsideGrid(grid, op)
  if (outside !== null) return outside
  const width = op.op === 'setColumnWidth' ? clampedWidth(op.width ?? 0) : 0
  const edited = apply(table, grid, op, width)
  if (isRefusal(edited)) return edited
  const isClamped = op.op === 'setColumnWidth' && width !== (op.width ?? 0)
  const reason = `a column is ${minWidth} to ${maxWidth} px wide; ${width} was set`
  return { kind: 'table', table: edited, fixes: isClamped ? [{ action: 'clamped', field: 'width', reason }] : [] }
}

function apply(table: ProseElement, grid: TableGrid, op: TableOp, width: number): ProseElement | Refusal {
  switch (op.op) {
    case 'addRow':
      return addRow(table, grid, op.row, op.side, op.values)
    case 'addColumn':
      return addColumn(table, grid, op.col, op.side, op.values)
    case 'deleteRow':
      return deleteRow(table, grid, op.row)
    case 'deleteColumn':
      return deleteColumn(table, grid, op.col)
    case 'mergeCells':
      return mergeCells(table, grid, op)
    case 'splitCell':
      return splitCell(table, grid, op.row, op.col)
    case 'setCellAttrs':
      return setCellAttrs(table, grid, op.row, op.col, op)
    case 'moveRow':
      return moveRow(table, grid, op.from, op.to)
    case 'moveColumn':
      return moveColumn(table, grid, op.from, op.to)
    case 'toggleHeaderRow':
      return toggleHeaders(table, grid, (cell) => cell.row === 0)
    case 'toggleHeaderColumn':
      return toggleHeaders(table, grid, (cell) => cell.col === 0)
    case 'setColumnWidth':
      return withColumnWidth(table, grid, op.col, width)
  }
}

const minWidth = 20
const maxWidth = 2000

/** Limits the width of a column to the allowed range; 0 means no width. */
function clampedWidth(width: number): number {
  return width === 0 ? 0 : Math.min(Math.max(width, minWidth), maxWidth)
}

/** Refuses an operation that names a slot outside the grid. [TABLE-3] */
function outsideGrid(grid: TableGrid, op: TableOp): Refusal | null {
  const { rows, cols } = grid
  const [rowsNamed, colsNamed] = placesOf(op)
  const badRow = rowsNamed.find((row) => row >= rows)
  const badCol = colsNamed.find((col) => col >= cols)
  if (badRow === undefined && badCol === undefined) return null
  const named = badRow === undefined ? `column ${badCol}` : `row ${badRow}`
  return refused('ERR_CELL_RANGE', `The table has no ${named}: it has ${rows} rows and ${cols} columns, each counted from 0.`, {
    rows,
    cols,
  })
}

/** Returns the rows and the columns that an operation names. */
function placesOf(op: TableOp): readonly [readonly number[], readonly number[]] {
  switch (op.op) {
    case 'mergeCells':
      return [
        [op.fromRow, op.toRow],
        [op.fromCol, op.toCol],
      ]
    case 'moveRow':
      return [[op.from, op.to], []]
    case 'moveColumn':
      return [[], [op.from, op.to]]
    default:
      return ['row' in op ? [op.row] : [], 'col' in op ? [op.col] : []]
  }
}
