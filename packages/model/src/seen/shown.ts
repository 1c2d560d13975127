import { blockStamp } from '../prose/block-stamp.ts'
import { blockId, isIdBearing, isLeaf } from '../prose/blocks.ts'
import type { ProseElement, ProseNode } from '../prose/node.ts'
import { readStampedId, type Stamp } from '../stamps/stamp.ts'

/**
 * A block as an answer showed it: `id#stamp`, or `#stamp` for a block without id. A text, since thousands of blocks are sent between threads.
 * [AG-17]
 */
export type ShownBlock = string

/** The part of one page that an answer showed. */
export interface ShownPage {
  readonly pageId: string
  readonly blocks: readonly ShownBlock[]
  /** The answer shows one block or section of the page. Otherwise it shows the page from its start, or from where the answer before ended. */
  readonly isPart?: true
  readonly headings?: ShownHeadings
}

/** Headings of a page as an answer showed them, with their places in the outline. [AG-79] */
export interface ShownHeadings {
  /** The index of the first heading, used when the page has `isPart`. Without `isPart` the index follows from the answers before. */
  readonly from: number
  readonly blocks: readonly ShownBlock[]
  /** The answer showed the whole outline. */
  readonly isAll?: true
}

/** A read calls this function with what its answer shows, for each answer that it makes. The last call counts. */
export type TellShown = (pages: readonly ShownPage[]) => void

export interface NamedStamp {
  /** The id of the block; `null` when it has none. */
  readonly id: string | null
  readonly stamp: Stamp
}

export function readShownBlock(shown: ShownBlock): NamedStamp {
  const stamped = readStampedId(shown)
  return stamped ?? { id: null, stamp: shown.slice(1) }
}

/**
 * Yields every block that is remembered by itself: at any depth a block without blocks inside, such as a text block or an image, and each top-level block as
 * a whole, since items, cells and boxes have no id.
 */
export function* partsOf(tree: readonly ProseElement[]): Generator<ProseElement> {
  for (const block of tree) {
    yield block
    if (!isLeaf(block)) yield* leavesIn(block.content)
  }
}

function* leavesIn(nodes: readonly ProseNode[]): Generator<ProseElement> {
  for (const node of nodes) {
    if (node.type === 'text') continue
    if (isLeaf(node)) yield node
    else yield* leavesIn(node.content)
  }
}

/** Returns the id by which a part is remembered; `null` for a part that is remembered by its stamp. */
export function partId(block: ProseElement): string | null {
  return isIdBearing(block) ? blockId(block) : null
}

export function shownBlock(block: ProseElement): ShownBlock {
  return `${partId(block) ?? ''}#${blockStamp(block)}`
}

/** Returns the headings that have sections, in order: those at the top level of the page. [PROSE-60] */
export function shownHeadings(tree: readonly ProseElement[]): readonly ShownBlock[] {
  return tree.filter(({ type }) => type === 'heading').map(shownBlock)
}

export function shownBlocks(tree: readonly ProseElement[]): readonly ShownBlock[] {
  return Array.from(partsOf(tree), shownBlock)
}
