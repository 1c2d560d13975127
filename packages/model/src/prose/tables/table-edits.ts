import type { DocumentBody } from '../../body.ts'
import { isRefusal, type Edit, type EditRow, type Fix, type Refusal } from '../../edit.ts'
import { writePage } from '../edit-page.ts'
import { trail } from '../fixes.ts'
import { placeBeforeHealing } from '../heal-table.ts'
import { namingOf, type Printed } from '../block-names.ts'
import { elementsOf } from '../blocks.ts'
import type { ProseElement, ProseNode, ProseTree } from '../node.ts'
import { findProsePage, healWarnings, pageTree } from '../page.ts'
import { shownBlock, type ShownPage, type TellShown } from '../../seen/shown.ts'
import { refuseGone } from '../../seen/unseen-targets.ts'
import { addressFlaw } from '../targets.ts'
import { nodeAt, splice } from '../tree-path.ts'
import type { Applied } from '../applied.ts'
import { cellAttrsFlaw } from './cells.ts'
import { describeTable, linesOf, shownInGrid, type Grid } from './grid.ts'
import { readTableOp, type TableOp, type TableOpArgs } from './op-args.ts'
import { editTable } from './ops.ts'
import { selectorFlaw, type SelectedTable, selectTable, type TableSelector } from './select.ts'

export interface EditTable extends TableOpArgs, TableSelector, Printed {
  readonly pageId: string
  /** The version that the caller read, checked before the edit runs. A call with `expectedVersion` may use handles. [PROSE-47] */
  readonly expectedVersion?: number | undefined
}

export interface TableDone {
  readonly pageId: string
  readonly ok: true
  /** The table as stored after the edit. [TABLE-4] */
  readonly table: Grid
}

/** Refuses arguments of edit_table that are wrong for every document; `null` otherwise. [MCP-3] */
function editTableFlaw(args: EditTable): Refusal | null {
  const op = readTableOp(args)
  if (isRefusal(op)) return op
  const attrs = op.op === 'setCellAttrs' ? cellAttrsFlaw(op) : null
  return attrs ?? selectorFlaw(args) ?? addressFlaw(args, args.expectedVersion)
}

/** Applies one operation to one table of a page. [TOOL-edit_table, TABLE-4] */
export const editTableOfPage: Edit<EditTable, TableDone> = (body, args, environment) => {
  const flaw = editTableFlaw(args)
  if (flaw !== null) return flaw
  const op = readTableOp(args)
  if (isRefusal(op)) return op
  const page = findProsePage(body, args.pageId)
  if (isRefusal(page)) return page
  const stored = pageTree(page)
  const { tree } = stored
  const selected = selectTable(
    { body, pageId: page.id, tree, isVersionNamed: args.expectedVersion !== undefined, naming: args.naming },
    args,
  )
  if (isRefusal(selected)) return selected
  const edited = editTable(selected.table, op)
  if (isRefusal(edited)) return edited

  const { path, tableIndex, tableCount } = selected
  const moved = new Set(elementsOf(movedCells(selected.table, op)))
  const own = healsOf(stored.heals, selected.table)
  // A table that had to be made rectangular is stored that way, even if the operation changed nothing.
  const isChanged = edited.table !== selected.table || own.length > 0
  const done: Applied = {
    kind: 'applied',
    tree: isChanged ? (splice(tree, path, 1, [edited.table]) as ProseTree) : tree,
    isWritten: (block) => moved.has(block),
    fixes: [...own, ...edited.fixes],
  }
  const unseen = environment.seen && refuseGone(environment.seen, { ...args, tree }, done.tree, { path, block: selected.table })
  if (unseen) return unseen
  const others = stored.heals.filter((fix) => !own.includes(fix))
  const write = { body, pageId: page.id, stored: { ...stored, warnings: healWarnings(others) }, environment }
  let after = selected.table
  const written = writePage(write, done, ({ tree: now }) => {
    after = nodeAt(now, path)
    return {
      pageId: page.id,
      ok: true as const,
      table: describeTable({ table: after, path, tableIndex, tableCount }, namingOf(args)),
    }
  })
  return { ...written, shown: [shownTable(page.id, { table: after })] }
}

/** The cells of the row or column that an operation moves. On a live page all other cells stay the same nodes. [TABLE-5] */
function movedCells(table: ProseElement, op: TableOp): readonly ProseNode[] {
  if (op.op === 'moveRow') return linesOf(table)[op.from]?.content ?? []
  // Rows and columns only move in a table without merged cells, so each row has one cell per column.
  return op.op === 'moveColumn' ? linesOf(table).flatMap((line) => line.content[op.from] ?? []) : []
}

export interface GetTable extends TableSelector, Printed {
  readonly pageId: string
}

/** Returns one table of a page, healed. [TOOL-get_table, PROSE-24] */
export function getTable(
  body: DocumentBody,
  args: GetTable,
  tell: TellShown = () => {},
): { readonly pageId: string; readonly table: Grid } | Refusal {
  const flaw = selectorFlaw(args)
  if (flaw !== null) return flaw
  const page = findProsePage(body, args.pageId)
  if (isRefusal(page)) return page
  const selected = selectTable({ body, pageId: page.id, tree: pageTree(page).tree, isRead: true, naming: args.naming }, args)
  if (isRefusal(selected)) return selected
  tell([shownTable(page.id, selected)])
  return { pageId: page.id, table: describeTable(selected, namingOf(args)) }
}

/** Lists the text blocks of a table whose whole content a grid shows, as seen by the caller. [AG-17] */
function shownTable(pageId: string, { table }: Pick<SelectedTable, 'table'>): ShownPage {
  return { pageId, blocks: shownInGrid(table).map(shownBlock), isPart: true }
}

/** Returns the heals of a page that concern a table or its content. */
function healsOf(heals: readonly Fix[], table: ProseElement): readonly Fix[] {
  const place = heals.length === 0 ? undefined : placeBeforeHealing(table)
  if (place === undefined) return []
  const own = trail(place)
  return heals.filter((fix) => fix.path === own || fix.path?.startsWith(`${own}/`) === true)
}

export const tableEdits = {
  edit_table: { edit: editTableOfPage, flaw: editTableFlaw },
} as const satisfies Record<string, EditRow>
