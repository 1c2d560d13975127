import { cutAfter, quote } from '../quote.ts'
import { blockName, isAllIn, nameBeside, type Naming } from './block-names.ts'
import { idBearing, isIdBearing, type Located } from './blocks.ts'
import type { NodeType, ProseElement, ProseTree } from './node.ts'
import { blockText } from './text.ts'
import type { Path } from './tree-path.ts'

export interface BlockEntry {
  readonly id: string
  readonly type: NodeType
  /** The text of the block; absent for a container whose text blocks are entries of their own. [AG-42] */
  readonly text?: string
}

/** A list of blocks in a result. [TOOL-16] */
export interface BlockList {
  readonly blocks: readonly BlockEntry[]
  /** The number of all blocks; present when the list leaves some out. */
  readonly blocksTotal?: number
}

export interface ListOptions {
  readonly naming: Naming
  /** Whether the blocks come from the content of the call. The caller then knows them even where the list cuts their text. [AG-14, AG-42] */
  readonly isOwn: boolean
  readonly isListed?: (block: ProseElement, path: Path) => boolean
}

const maxEntries = 200
/** How many characters of a text a list shows when the caller sent the text itself. */
const ownCharacters = 48

/**
 * Returns those id-bearing blocks at any depth, and top-level blocks without id, for which `isListed` is true, in
 * document order.
 */
export function listBlocks(tree: ProseTree, { naming, isOwn, isListed = () => true }: ListOptions): BlockList {
  const blocks: BlockEntry[] = []
  let total = 0
  for (const located of listableBlocks(tree)) {
    const { path, block } = located
    if (!isListed(block, path) || total++ >= maxEntries) continue
    const text = blockText(block)
    const id = isOwn || isRule(block) ? blockName(located, naming) : nameBeside(located, text, naming)
    // The text blocks of a container follow the container in the list.
    const isContainer = textBlocksIn(located).some((inner) => isListed(inner.block, inner.path))
    blocks.push({ id, type: block.type, ...(!isContainer && { text: isOwn ? cutAfter(text, ownCharacters) : quote(text) }) })
  }
  return total > blocks.length ? { blocks, blocksTotal: total } : { blocks }
}

/** Whether an entry of a list shows the whole content of a stored block. [AG-14, AG-17] */
export function isToldWhole(block: ProseElement): boolean {
  return isRule(block) || isAllIn(blockText(block), block)
}

/** Whether a block is a rule, whose type is its whole content. */
function isRule({ type }: ProseElement): boolean {
  return type === 'horizontalRule'
}

/** Returns how many entries a list of all blocks of a page has. */
export function countBlocks(tree: ProseTree): number {
  let count = 0
  for (const _ of listableBlocks(tree)) count++
  return count
}

function* listableBlocks(tree: ProseTree): Generator<Located> {
  for (const [index, block] of tree.entries()) {
    const located = { path: [index], block }
    yield located
    yield* textBlocksIn(located)
  }
}

/** The text blocks inside a container, each with its path on the page. */
function textBlocksIn({ path, block }: Located): readonly Located[] {
  if (isIdBearing(block)) return []
  return idBearing([block]).map((inner) => ({ path: [...path, ...inner.path.slice(1)], block: inner.block }))
}
