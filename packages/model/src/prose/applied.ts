import type { Fix } from '../edit.ts'
import { blockId, elementsOf, idsOf, isIdBearing, mapIdBearing, withBlockId } from './blocks.ts'
import { equalLists } from './equal.ts'
import { FixList } from './fixes.ts'
import { heal } from './heal.ts'
import type { ProseElement, ProseNode, ProseTree } from './node.ts'

/** The result of an operation on a page: a tree of the content model that shares unchanged nodes with the tree before. */
export interface Applied {
  readonly kind: 'applied'
  /** The tree before (`===`) when nothing changed. Ids are not complete yet. */
  readonly tree: ProseTree
  /** Whether the operation wrote this block of `tree`. [TOOL-16] */
  isWritten(block: ProseElement): boolean
  readonly fixes: readonly Fix[]
}

export type Side = 'before' | 'after'

/**
 * Heals the result of an operation. `given` are the nodes that the operation inserted or moved. [PROSE-59] When the page does not change, the nodes `replaced`
 * count as written instead of `given`, because `replaced` already has the content that the operation would write.
 */
export function applied(
  before: ProseTree,
  nodes: readonly ProseNode[],
  given: readonly ProseNode[],
  replaced: readonly ProseNode[] = given,
): Applied {
  const fixes = new FixList()
  const healed = heal(nodes, fixes)
  const tree = equalLists(before, healed) ? before : healed
  let sets: { readonly old: ReadonlySet<ProseNode>; readonly own: ReadonlySet<ProseNode> } | undefined
  return {
    kind: 'applied',
    tree,
    fixes: fixes.list,
    isWritten: (block) => {
      sets ??= { old: new Set(elementsOf(before)), own: new Set(elementsOf(tree === before ? replaced : given)) }
      return sets.own.has(block) || (isIdBearing(block) && !sets.old.has(block))
    },
  }
}

/** Returns content without the ids that other blocks have, or that occur earlier in the content. [PROSE-45] */
export function withOwnIds(content: ProseTree, owned: Iterable<string>): ProseTree {
  const taken = new Set(owned)
  return mapIdBearing(content, (block) => {
    const id = blockId(block)
    if (id === null || taken.has(id)) return withBlockId(block, null)
    taken.add(id)
    return block
  })
}

/**
 * Gives the first id-bearing block of content the first id of the replaced nodes, unless the content has ids of its own. [PROSE-45] `carried` are the ids that
 * neighbouring content brings.
 */
export function withPassedId(content: ProseTree, replaced: readonly ProseNode[], carried?: ReadonlySet<string>): ProseTree {
  const id = idsOf(replaced).find((other) => carried?.has(other) !== true)
  if (id === undefined || idsOf(content).length > 0) return content
  let isPassed = false
  return mapIdBearing(content, (block) => {
    if (isPassed) return block
    isPassed = true
    return withBlockId(block, id)
  })
}
