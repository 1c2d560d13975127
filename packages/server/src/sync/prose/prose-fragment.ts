import { isEmptyPage } from '@docrelay/model/prose/equal'
import type { ProseTree } from '@docrelay/model/prose/node'
import type * as Y from 'yjs'
import { createProseCache, readUnits, type ProseCache } from './prose-fragment-read.ts'
import { reconcileUnits } from './prose-fragment-reconcile.ts'
import { createElements } from './prose-fragment-write.ts'

/**
 * A live page as a tree of the content model; `[]` when the fragment is empty. Never writes. [PROSE-8, PROSE-24]
 *
 * Reading is tolerant, and what breaks the model is shown healed. With a `cache` (see `forgetTouched`) blocks that did not change since
 * the last reading are the same objects and cost nothing.
 */
export function readFragment(fragment: Y.XmlFragment, cache: ProseCache = createProseCache()): ProseTree {
  const units = readUnits(fragment, cache)
  return units.length === 1 ? (units[0]?.nodes ?? []) : units.flatMap((unit) => unit.nodes)
}

/** Writes a page into an empty fragment; the empty page leaves it empty. The same tree makes the same structs in the same order. [PROSE-7, PROSE-9] */
export function fillFragment(fragment: Y.XmlFragment, tree: ProseTree): void {
  if (!isEmptyPage(tree)) fragment.insert(0, createElements(tree))
}

/**
 * Makes the live fragment say `after` wherever `after` differs from `before`, and touches nothing else. [LIFE-14, PROSE-50]
 *
 * `before` is a page the caller has seen; the fragment may have moved on since. Blocks are matched by `id`, by equality, then by kind
 * and likeness in place, at every depth; unchanged blocks keep their live nodes, and in a changed text block the text that stays is not
 * touched. A block moved or given another type is made anew. A block that is gone from the fragment stays gone, blocks that were added
 * to it stay. Of blocks that changed places, those with an id in `moved` are the moved ones. Runs synchronously in the caller's transaction. What a changed block ends up as satisfies the content model. [YDOC-13]
 */
export function reconcileFragment(
  fragment: Y.XmlFragment,
  before: ProseTree,
  after: ProseTree,
  cache: ProseCache = createProseCache(),
  moved: ReadonlySet<string> = new Set(),
): void {
  reconcileUnits(fragment, before, after, { cache, moved })
}
