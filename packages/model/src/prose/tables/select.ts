import { isRefusal, refused, type Refusal } from '../../edit.ts'
import { anchorFlaw } from '../anchors.ts'
import { isIdBearing } from '../blocks.ts'
import { quote } from '../../quote.ts'
import type { ProseElement, ProseNode } from '../node.ts'
import { findTarget, isAddressed, type Address, type TargetPage } from '../targets.ts'
import { startsWith, type Path } from '../tree-path.ts'

/** The arguments that select a table. */
export interface TableSelector extends Address {
  readonly tableIndex?: number | undefined
}

export interface SelectedTable {
  readonly table: ProseElement
  readonly path: Path
  readonly tableIndex: number
  readonly tableCount: number
}

/** Refuses arguments that cannot select a table on any page; `null` otherwise. [MCP-3] */
export function selectorFlaw(selector: TableSelector): Refusal | null {
  if (selector.tableIndex === undefined || !isAddressed(selector)) return anchorFlaw(selector.anchor, 'anchor')
  const expected = 'tableIndex alone, or id and anchor without it'
  return refused('ERR_BAD_ARGUMENT', `A table is named by ${expected}.`, { argument: 'tableIndex', expected })
}

/** Finds the selected table: by number, by a block inside it, or the only one of the page. [TABLE-1] */
export function selectTable(page: TargetPage, selector: TableSelector): SelectedTable | Refusal {
  const { tableIndex, id, anchor } = selector
  const tables = tablesOf(page.tree)
  const tableCount = tables.length
  if (tableCount === 0)
    return refused('ERR_TABLE_NOT_FOUND', `The page "${quote(page.pageId)}" has no table.`, { pageId: page.pageId })
  if (isAddressed(selector)) return selectAround(page, { id, anchor }, tables)
  if (tableIndex === undefined && tableCount > 1) {
    const hint = `name one by tableIndex (0 to ${tableCount - 1}) or by the id of a block inside`
    return refused('ERR_TABLE_AMBIGUOUS', `The page has ${tableCount} tables; ${hint}.`, { tableCount })
  }
  const index = tableIndex ?? 0
  const found = tables[index]
  if (found !== undefined) return { ...found, tableIndex: index, tableCount }
  return refused('ERR_TABLE_INDEX', `The page has no table ${index}; it has ${tableCount}, numbered from 0.`, {
    tableIndex: index,
    tableCount,
  })
}

interface FoundTable {
  readonly table: ProseElement
  readonly path: Path
}

/** Returns all tables of a page, nested tables included, in document order. */
function tablesOf(tree: readonly ProseNode[]): readonly FoundTable[] {
  const found: FoundTable[] = []
  const walk = (nodes: readonly ProseNode[], parent: Path): void =>
    nodes.forEach((node, index) => {
      if (node.type === 'text' || node.content.length === 0 || isIdBearing(node)) return
      const path = [...parent, index]
      if (node.type === 'table') found.push({ table: node, path })
      walk(node.content, path)
    })
  walk(tree, [])
  return found
}

/** Finds the innermost table around a block; an addressed table itself counts. */
function selectAround(page: TargetPage, address: Address, tables: readonly FoundTable[]): SelectedTable | Refusal {
  const target = findTarget(page, address)
  if (isRefusal(target)) return target
  // In document order, an inner table comes after the tables around it, so the last match is the innermost table.
  const tableIndex = tables.findLastIndex(({ path }) => startsWith(target.path, path))
  const found = tables[tableIndex]
  if (found !== undefined) return { ...found, tableIndex, tableCount: tables.length }
  const { id } = address
  const named = id === undefined ? 'The block with this text' : `The block ${quote(id)}`
  const hint = `name one of the page's tables by tableIndex (0 to ${tables.length - 1})`
  return refused('ERR_TARGET_NOT_IN_TABLE', `${named} is not inside a table; ${hint}, or a block inside it.`, {
    ...(id === undefined ? {} : { id: quote(id) }),
  })
}
