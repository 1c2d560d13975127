import type { Fix } from '../edit.ts'
import { blockId, elementsOf, idsOf, isIdBearing, mapIdBearing, withBlockId } from './blocks.ts'
import { equalLists } from './equal.ts'
import { FixList } from './fixes.ts'
import { heal } from './heal.ts'
import type { ProseElement, ProseNode, ProseTree } from './node.ts'

/** What a verb made of a page: a tree of the content model whose untouched nodes are those of the tree before. */
export interface Verbed {
  readonly kind: 'verbed'
  /** `===` the tree before when nothing changed. Ids are not complete yet. */
  readonly tree: ProseTree
  /** Whether a block of `tree` is one that the verb wrote. [TOOL-16] */
  isWritten(block: ProseElement): boolean
  readonly fixes: readonly Fix[]
}

export type Side = 'before' | 'after'

/**
 * Heals what a verb put together; `given` is what it put in or moved. [PROSE-59] Where the page stays as it was, `replaced` counts as
 * written instead: it says what was to be written.
 */
export function verbed(
  before: ProseTree,
  nodes: readonly ProseNode[],
  given: readonly ProseNode[],
  replaced: readonly ProseNode[] = given,
): Verbed {
  const fixes = new FixList()
  const healed = heal(nodes, fixes)
  const tree = equalLists(before, healed) ? before : healed
  let sets: { readonly old: ReadonlySet<ProseNode>; readonly own: ReadonlySet<ProseNode> } | undefined
  return {
    kind: 'verbed',
    tree,
    fixes: fixes.list,
    isWritten: (block) => {
      sets ??= { old: new Set(elementsOf(before)), own: new Set(elementsOf(tree === before ? replaced : given)) }
      return sets.own.has(block) || (isIdBearing(block) && !sets.old.has(block))
    },
  }
}

/** Content without ids that other blocks own or that stood in it before. [PROSE-45] */
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
 * Content whose first id-bearing block has the first id of what it replaces, unless the content carries ids. [PROSE-45]
 * `carried` names ids that content beside it brings along.
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
