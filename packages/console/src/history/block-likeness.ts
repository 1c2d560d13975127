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

/** What is compared of a block, and how often it has each. */
interface Content {
  readonly entries: readonly string[]
  readonly counts: ReadonlyMap<string, number>
}

/** Tells of many pairs of blocks how alike they are. Each block is read once: in a page that was written anew every one is compared with many. */
export class BlockLikeness {
  readonly #contents = new Map<Node, Content>()
  #cellsLeft = MAX_CELLS

  /** The part, from 0 to 1, of the words, or of the lines of a list, table or box, that two blocks have in common. */
  of(before: Node, after: Node): number {
    if (!canBeOne(before, after)) return 0
    // A list of which every line changed a little is still the same list.
    const least = !before.isTextblock && before.childCount === after.childCount ? LEAST_ALIKE : 0
    return Math.max(least, this.#common(this.#contentOf(before), this.#contentOf(after)))
  }

  #common(before: Content, after: Content): number {
    const most = Math.max(before.entries.length, after.entries.length)
    if (most === 0) return 1
    // In whatever order: no more than this can be common in the same order.
    const anyhow = commonCount(before, after) / most
    const cells = before.entries.length * after.entries.length
    if (anyhow < LEAST_ALIKE || cells > this.#cellsLeft) return anyhow
    this.#cellsLeft -= cells
    return commonSequence(before.entries, after.entries).length / most
  }

  #contentOf(block: Node): Content {
    const known = this.#contents.get(block)
    if (known !== undefined) return known
    const entries = block.isTextblock ? wordsIn(block) : block.children.map(({ textContent }) => textContent)
    const counts = new Map<string, number>()
    for (const entry of entries) counts.set(entry, (counts.get(entry) ?? 0) + 1)
    const content = { entries, counts }
    this.#contents.set(block, content)
    return content
  }
}

function commonCount(before: Content, after: Content): number {
  const [few, many] = before.counts.size < after.counts.size ? [before, after] : [after, before]
  let common = 0
  for (const [entry, count] of few.counts) common += Math.min(count, many.counts.get(entry) ?? 0)
  return common
}
