import { keymap } from 'prosemirror-keymap'
import type { Node } from 'prosemirror-model'
import { type Command, Plugin, type Transaction } from 'prosemirror-state'
import { addRowAfter, CellSelection, goToNextCell, isInTable, tableEditing } from 'prosemirror-tables'
import { ySyncPluginKey } from 'y-prosemirror'
import { nodeType } from './node-types.ts'

/**
 * Lets people select table cells, and repairs tables with missing cells. Repairs run only after this person's own edits: if every open editor
 * repaired a received edit, each would add the missing cells.
 */
export function tables(): Plugin {
  const editing = tableEditing()
  const { appendTransaction: repair, ...spec } = editing.spec
  return new Plugin({
    ...spec,
    appendTransaction(transactions, before, state) {
      return transactions.some(isFromElsewhere) ? null : repair?.call(editing, transactions, before, state)
    },
  })
}

function isFromElsewhere(transaction: Transaction): boolean {
  const sync = transaction.getMeta(ySyncPluginKey) as { readonly isChangeOrigin?: boolean } | undefined
  return sync?.isChangeOrigin === true
}

/** Keeps a selection of cells at the edge of a table, where the browser would select text elsewhere. Must come after the plugin of `tables`. */
export function cellEdges(): Plugin {
  const stays: Command = ({ selection }) => selection instanceof CellSelection
  const keys = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown']
  return keymap(Object.fromEntries(keys.map((key) => [`Shift-${key}`, stays])))
}

/** Returns an empty table with a header row. */
export function emptyTable(rows: number, columns: number): Node {
  const row = (cell: string) =>
    nodeType('tableRow').create(
      null,
      Array.from({ length: columns }, () => nodeType(cell).create(null, nodeType('paragraph').create())),
    )
  const all = Array.from({ length: rows }, (_, at) => row(at === 0 ? 'tableHeader' : 'tableCell'))
  return nodeType('table').create(null, all)
}

/** Moves to the next cell; at the last cell, adds a row. */
export const nextCell: Command = (state, dispatch, view) => {
  if (!isInTable(state)) return false
  if (goToNextCell(1)(state, dispatch)) return true
  if (!addRowAfter(state, dispatch)) return false
  if (view !== undefined) goToNextCell(1)(view.state, view.dispatch)
  return true
}

export const previousCell: Command = (state, dispatch) => isInTable(state) && (goToNextCell(-1)(state, dispatch) || true)
