import type { Node } from 'prosemirror-model'
import { commonSequence } from './common-sequence.ts'
import { wordsIn } from './word-diff.ts'

/** Two blocks in the same gap can be one block that changed when at least this part of their words is common. */
export const LEAST_ALIKE = 0.3
/** Limit on comparisons of two words for all pairs of blocks of a page. Beyond it the order of words is ignored. */
const MAX_CELLS = 20_000_000

/** Whether a change from one block into the other can be shown inside the block. */
export function canBeOne(before: Node, after: Node): boolean {
  if (before.isTextblock || after.isTextblock) return before.isTextblock && after.isTextblock
  return before.type === after.type && !before.isLeaf
}

/** Returns the common part of the words of two blocks, from 0 to 1. Lists, tables and boxes are compared by their lines. */
export type Likeness = (before: Node, after: Node) => number

/** Reads each block only once, because each block of a rewritten page is compared with many others. */
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
    // An upper bound that ignores the order and repetitions. When it is too low, the exact comparison below is not needed.
    let alike = old.filter((part) => has.has(part)).length / most
    const cells = old.length * now.length
    if (alike >= LEAST_ALIKE && cells <= cellsLeft) {
      cellsLeft -= cells
      alike = commonSequence(old, now).length / most
    }
    // A list with as many lines as before is still the same list, even when each line changed a little.
    return !before.isTextblock && before.childCount === after.childCount ? Math.max(LEAST_ALIKE, alike) : alike
  }
}
