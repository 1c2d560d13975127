import { blockStamp } from '../prose/block-stamp.ts'
import { blockId, isIdBearing, isLeaf } from '../prose/blocks.ts'
import type { ProseElement, ProseNode } from '../prose/node.ts'
import { readStampedId, type Stamp } from '../stamps/stamp.ts'

/**
 * A block as an answer showed it, `id#stamp`; of a block without id `#stamp`. Text, since thousands of them are sent between threads.
 * [AG-17]
 */
export type ShownBlock = string

/** What an answer showed of one page. */
export interface ShownPage {
  readonly pageId: string
  readonly blocks: readonly ShownBlock[]
  /** A block or section that the call asked for; otherwise the page is shown from its start, or from where the answer before ended. */
  readonly isPart?: true
  readonly headings?: ShownHeadings
}

/** Headings of a page as an answer showed them, with their places in the outline. [AG-79] */
export interface ShownHeadings {
  /** The index of the first; of a page that is no part it follows from what was shown before. */
  readonly from: number
  readonly blocks: readonly ShownBlock[]
  /** The whole outline was shown. */
  readonly isAll?: true
}

/** Called by a read with what its answer shows, each time it makes one; the last call counts. */
export type TellShown = (pages: readonly ShownPage[]) => void

export interface NamedStamp {
  /** `null`: the block has no id. */
  readonly id: string | null
  readonly stamp: Stamp
}

export function readShownBlock(shown: ShownBlock): NamedStamp {
  const stamped = readStampedId(shown)
  return stamped ?? { id: null, stamp: shown.slice(1) }
}

/**
 * Every block that stands for itself: at any depth one that has none in it, such as a text block or an image, and a block of the page's top level
 * with all that is in it, since items, cells and boxes have no id.
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

/** The id by which a part is remembered. */
export function partId(block: ProseElement): string | null {
  return isIdBearing(block) ? blockId(block) : null
}

export function shownBlock(block: ProseElement): ShownBlock {
  return `${partId(block) ?? ''}#${blockStamp(block)}`
}

/** The headings that have sections, in their order. [PROSE-60] */
export function shownHeadings(tree: readonly ProseElement[]): readonly ShownBlock[] {
  return tree.filter(({ type }) => type === 'heading').map(shownBlock)
}

export function shownBlocks(tree: readonly ProseElement[]): readonly ShownBlock[] {
  return Array.from(partsOf(tree), shownBlock)
}
