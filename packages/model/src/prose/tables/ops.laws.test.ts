import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { equalNodes } from '../equal.ts'
import { parseHtml, serialiseHtml } from '../html.ts'
import type { ProseElement } from '../node.ts'
import { anyTable } from '../testing/arbitrary.ts'
import { violations } from '../testing/content-model.ts'
import { blockText } from '../text.ts'
import { coversCol, coversRow, isMerged, readGrid, type PlacedCell } from './grid.ts'
import { editTable } from './ops.ts'
import type { TableOp } from './op-args.ts'

const runs = { seed: 1, numRuns: 300 }
const place = fc.nat(4)
const side = fc.constantFrom('before' as const, 'after' as const)

const anyOp: fc.Arbitrary<TableOp> = fc.oneof(
  fc.record({ op: fc.constant('addRow' as const), row: place, side }),
  fc.record({ op: fc.constant('addColumn' as const), col: place, side }),
  fc.record({ op: fc.constant('deleteRow' as const), row: place }),
  fc.record({ op: fc.constant('deleteColumn' as const), col: place }),
  fc.record({ op: fc.constant('mergeCells' as const), fromRow: place, fromCol: place, toRow: place, toCol: place }),
  fc.record({ op: fc.constant('splitCell' as const), row: place, col: place }),
  fc.record({
    op: fc.constant('setCellAttrs' as const),
    row: place,
    col: place,
    backgroundColor: fc.constantFrom('red', '', 'no colour'),
    align: fc.constantFrom('left', ''),
  }),
  fc.record({ op: fc.constant('moveRow' as const), from: place, to: place }),
  fc.record({ op: fc.constant('moveColumn' as const), from: place, to: place }),
  fc.constant({ op: 'toggleHeaderRow' as const }),
  fc.constant({ op: 'toggleHeaderColumn' as const }),
  fc.record({ op: fc.constant('setColumnWidth' as const), col: place, width: fc.constantFrom(0, 1, 100, 9999) }),
)

function done(table: ProseElement, op: TableOp): ProseElement {
  const edited = editTable(table, op)
  if (edited.kind === 'refused') throw new Error(edited.message)
  return edited.table
}

/** Whether an operation may change this cell; a move changes no cell. */
function isAddressed(cell: PlacedCell, op: TableOp): boolean {
  switch (op.op) {
    case 'addRow':
    case 'deleteRow':
      return coversRow(cell, op.row) || cell.rowspan > 1
    case 'addColumn':
    case 'deleteColumn':
    case 'setColumnWidth':
      return coversCol(cell, op.col) || cell.colspan > 1
    case 'mergeCells':
      return true
    case 'splitCell':
    case 'setCellAttrs':
      return coversRow(cell, op.row) && coversCol(cell, op.col)
    case 'moveRow':
    case 'moveColumn':
      return false
    case 'toggleHeaderRow':
      return cell.row === 0
    case 'toggleHeaderColumn':
      return cell.col === 0
  }
}

describe('laws of table ops', () => {
  it('[TABLE-4] after any op the table is rectangular, satisfies the model, and reads back equal', () => {
    fc.assert(
      fc.property(anyTable, fc.array(anyOp, { maxLength: 6 }), (given, ops) => {
        let table = given
        for (const op of ops) {
          const edited = editTable(table, op)
          if (edited.kind === 'refused') continue
          table = edited.table
          expect(violations([table])).toEqual([])
        }
        const html = serialiseHtml([table])
        expect(serialiseHtml(parseHtml(html, { source: 'stored' }).tree)).toBe(html)
      }),
      runs,
    )
  })

  it('[TABLE-5] cells that an op does not address stay the same objects', () => {
    fc.assert(
      fc.property(anyTable, anyOp, (table, op) => {
        const edited = editTable(table, op)
        if (edited.kind === 'refused' || op.op === 'mergeCells') return
        const nodes = new Set(readGrid(edited.table).cells.map((cell) => cell.node))
        for (const cell of readGrid(table).cells) if (!isAddressed(cell, op)) expect(nodes.has(cell.node)).toBe(true)
      }),
      runs,
    )
  })

  it('[TABLE-7] deleting an added row or column gives the table back', () => {
    fc.assert(
      fc.property(anyTable, fc.nat(), side, (table, at, where) => {
        const { rows, cols } = readGrid(table)
        const step = where === 'after' ? 1 : 0
        const [row, col] = [at % rows, at % cols]
        const tall = done(table, { op: 'addRow', row, side: where })
        expect(equalNodes(done(tall, { op: 'deleteRow', row: row + step }), table)).toBe(true)
        const broad = done(table, { op: 'addColumn', col, side: where })
        expect(equalNodes(done(broad, { op: 'deleteColumn', col: col + step }), table)).toBe(true)
      }),
      runs,
    )
  })

  it('[TABLE-7] merging keeps all text inside and outside, and splitting then gives single cells', () => {
    const textOf = (table: ProseElement) =>
      readGrid(table)
        .cells.map((cell) => cell.node.content.map(blockText).join(' '))
        .join(' ')
        .split(/\s+/)
        .filter((word) => word !== '')
        .sort()
    fc.assert(
      fc.property(anyTable, place, place, place, place, (table, fromRow, fromCol, toRow, toCol) => {
        const edited = editTable(table, { op: 'mergeCells', fromRow, fromCol, toRow, toCol })
        if (edited.kind === 'refused') return
        expect(textOf(edited.table)).toEqual(textOf(table))
        const split = done(edited.table, { op: 'splitCell', row: fromRow, col: fromCol })
        expect(textOf(split)).toEqual(textOf(table))
        const cell = readGrid(split).cells.find((other) => coversRow(other, toRow) && coversCol(other, toCol))
        expect(cell !== undefined && isMerged(cell)).toBe(false)
      }),
      runs,
    )
  })

  it('[TABLE-7] toggling the header of a row or column of one kind twice gives back its cells, except for scopes', () => {
    const plain = (html: string) => html.replaceAll(/ scope="\w+"/g, '')
    fc.assert(
      fc.property(anyTable, fc.constantFrom('toggleHeaderRow' as const, 'toggleHeaderColumn' as const), (table, op) => {
        const once = done(table, { op })
        const thrice = done(done(once, { op }), { op })
        expect(plain(serialiseHtml([thrice]))).toBe(plain(serialiseHtml([once])))
      }),
      runs,
    )
  })

  it('[TABLE-7] moving a row or column there and back changes nothing', () => {
    fc.assert(
      fc.property(anyTable, fc.constantFrom('moveRow' as const, 'moveColumn' as const), place, place, (table, op, from, to) => {
        const edited = editTable(table, { op, from, to })
        if (edited.kind === 'refused') return
        expect(equalNodes(done(edited.table, { op, from: to, to: from }), table)).toBe(true)
      }),
      runs,
    )
  })
})
