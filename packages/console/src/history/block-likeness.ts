import type { Node } from 'prosemirror-model'
import { commonSequence } from './common-sequence.ts'
import { wordsIn } from './word-diff.ts'

/** Two blocks that stand between the same neighbours are one block that changed when this part of their words is common. */
export const LEAST_ALIKE = 0.3
/** Limit of the comparisons of words in their order, for all pairs of blocks of a page; beyond it the order does not count. */
const MAX_CELLS = 20_000_000

/** Whether a change from one block into the other can be shown inside of it. */
export function canBeOne(before: Node, after: Node): boolean {
  if (before.isTextblock || after.isTextblock) return before.isTextblock && after.isTextblock
  return before.type === after.type && !before.isLeaf
}

/** Tells which part, from 0 to 1, of the words, or of the lines of a list, table or box, two blocks have in common. */
export type Likeness = (before: Node, after: Node) => number

/** Reads each block once, as in a page that was written anew every one is compared with many. */
export function blockLikeness(): Likeness {
  const read = new Map<Node, readonly [parts: readonly string[], has: ReadonlySet<string>]>()
  const partsOf = (block: Node) => {
    const known = read.get(block)
    if (known !== undefined) return known
    const parts = block.isTextblock ? wordsIn(block) : block.children.map(({ textContent }) => textContent)
    const made = [parts, new Set(parts)] as const
    read.set(block, made)
    return made
  }
  let cellsLeft = MAX_CELLS
  return (before, after) => {
    if (!canBeOne(before, after)) return 0
    const [[old], [now, has]] = [partsOf(before), partsOf(after)]
    const most = Math.max(old.length, now.length)
    if (most === 0) return 1
    // In whatever order, and however often: no more than this can be common in the same order.
    let alike = old.filter((part) => has.has(part)).length / most
    const cells = old.length * now.length
    if (alike >= LEAST_ALIKE && cells <= cellsLeft) {
      cellsLeft -= cells
      alike = commonSequence(old, now).length / most
    }
    // A list of which every line changed a little is still the same list.
    return !before.isTextblock && before.childCount === after.childCount ? Math.max(LEAST_ALIKE, alike) : alike
  }
}
