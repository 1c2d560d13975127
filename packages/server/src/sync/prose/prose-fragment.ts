import { isEmptyPage } from '@docrelay/model/prose/equal'
import type { ProseTree } from '@docrelay/model/prose/node'
import type { TextChange } from '@docrelay/model/prose/text-splices'
import type * as Y from 'yjs'
import { createProseCache, readUnits, type ProseCache } from './prose-fragment-read.ts'
import { reconcileUnits } from './prose-fragment-reconcile.ts'
import { createElements } from './prose-fragment-write.ts'

/**
 * Reads a live page as a tree of the content model; `[]` when the fragment is empty. Never writes. [PROSE-8, PROSE-24]
 *
 * Accepts any content; content that violates the model is shown healed. With a `cache` (see `forgetTouched`), blocks that have not changed
 * since the last reading are the same objects and cost nothing.
 */
export function readFragment(fragment: Y.XmlFragment, cache: ProseCache = createProseCache()): ProseTree {
  const units = readUnits(fragment, cache)
  return units.length === 1 ? (units[0]?.nodes ?? []) : units.flatMap((unit) => unit.nodes)
}

/**
 * Writes a page into an empty fragment. An empty page leaves the fragment empty. The same tree always produces the same structs in the same
 * order. [PROSE-7, PROSE-9]
 */
export function fillFragment(fragment: Y.XmlFragment, tree: ProseTree): void {
  if (!isEmptyPage(tree)) fragment.insert(0, createElements(tree))
}

/**
 * Applies the difference between `before` and `after` to the live fragment and touches nothing else. [LIFE-14, PROSE-50]
 *
 * `before` is a page that the caller has seen; the fragment may have changed since. Blocks are matched by `id`, by equality, then by kind
 * and similarity at their place, at every depth. Unchanged blocks keep their live nodes, and in a changed text block the unchanged text is
 * not touched. A block that moved or changed its type is created anew. A block that is gone from the fragment stays gone; blocks that were
 * added to the fragment stay. When blocks changed places, the blocks with an id in `moved` have moved. In a block that `words`
 * names, only the named words are touched. Runs synchronously in the caller's transaction. Every changed block satisfies the content model
 * afterwards. [YDOC-13]
 */
export function reconcileFragment(
  fragment: Y.XmlFragment,
  before: ProseTree,
  after: ProseTree,
  cache: ProseCache = createProseCache(),
  moved: ReadonlySet<string> = new Set(),
  words: readonly TextChange[] = [],
): void {
  reconcileUnits(fragment, before, after, { cache, moved, words })
}
