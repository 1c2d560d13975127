import { parseCanonicalDom } from './canonical-dom.ts'
import { readCanonicalBlock } from './html.ts'
import type { ProseElement } from './node.ts'
import { storedTree } from './stored-trees.ts'

/** A block, and the place at which a later reading continues with it. */
export interface PlacedBlock {
  readonly block: ProseElement
  readonly place: number
}

/**
 * Yields the top-level blocks of a stored page from a place on; 0 is the first. Reads only as much of the page as the caller takes, because
 * canonical HTML reads the same block by block as in one piece. From the first block that is not canonical, the whole page is read.
 * [PROSE-24, TOOL-23]
 *
 * An even place is twice the character index at which a block of canonical HTML begins. An odd place is one more than twice the index of a
 * block.
 */
export function* storedBlocks(content: string, from: number): Generator<PlacedBlock> {
  let at = from / 2
  if (!Number.isInteger(at)) return yield* blocksFrom(content, (from - 1) / 2)
  for (let read = readCanonicalBlock(content, at); read !== null; read = readCanonicalBlock(content, at)) {
    yield { block: read.block, place: 2 * at }
    at = read.end
  }
  if (at < content.length || content === '') yield* blocksFrom(content, blocksBefore(content, at))
}

function* blocksFrom(content: string, first: number): Generator<PlacedBlock> {
  const { tree } = storedTree(content)
  for (let index = first; index < tree.length; index++) yield { block: tree[index] as ProseElement, place: 2 * index + 1 }
}

/** Returns the number of blocks in the canonical HTML before a character. */
function blocksBefore(content: string, at: number): number {
  return parseCanonicalDom(content.slice(0, at))?.length ?? Number.POSITIVE_INFINITY
}

/** Returns the index of the block at a place. Parses the whole page before that block. */
export function indexAt(content: string, place: number): number {
  const at = place / 2
  return Number.isInteger(at) ? blocksBefore(content, at) : (place - 1) / 2
}
