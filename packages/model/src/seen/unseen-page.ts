import { refused, type Refusal } from '../edit.ts'
import type { Naming } from '../prose/block-names.ts'
import { blockId, idBearing, mapIdBearing, type Located } from '../prose/blocks.ts'
import type { ProseElement, ProseTree } from '../prose/node.ts'
import { currentBlock } from '../prose/stamped-blocks.ts'
import { quote } from '../quote.ts'
import { changedBy, type PageSight, removedBy } from './page-sight.ts'
import { partId } from './shown.ts'
import type { MergedContent } from './untouched.ts'

/** What differs between a page as a caller saw it and as it is. */
export interface UnseenBlocks {
  readonly changed: readonly Located[]
  readonly added: readonly Located[]
  /** Ids of blocks that are gone. */
  readonly removed: readonly string[]
}

export function isAllSeen({ changed, added, removed }: UnseenBlocks): boolean {
  return changed.length + added.length + removed.length === 0
}

/** What a whole-page write leaves as it is, whatever others made of it. */
export type Left = Pick<MergedContent, 'asSeen' | 'frames'>

const nothingLeft: Left = { asSeen: new Map(), frames: new Set() }

/** Compares the page with what its caller was shown of it. `isCounted`: whether a block with this id counts. [AG-24, AG-25] */
export function unseenBlocks(
  tree: ProseTree,
  sight: PageSight,
  isCounted: (id: string) => boolean,
  left = nothingLeft,
): UnseenBlocks {
  const changed: Located[] = []
  const added: Located[] = []
  const missing = sight.missing(tree)
  for (const { top, texts } of unitsOf(tree)) {
    let isExplained = texts.some(({ block }) => block === top.block) || left.frames.has(top.block)
    for (const located of texts) {
      const found = sight.of(located.block)
      // Where blocks are gone, what is around them cannot be compared.
      isExplained ||= found !== 'same' && (missing.length > 0 || !left.asSeen.has(blockId(located.block) ?? ''))
      const id = partId(located.block)
      if (id !== null && !isCounted(id)) continue
      if (found === 'changed') changed.push(located)
      else if (found === 'unknown') added.push(located)
    }
    // A list says more than its texts, such as which of its tasks are done.
    if (!isExplained && sight.of(asSeen(top.block, left)) === 'unknown') (texts.length === 0 ? added : changed).push(top)
  }
  return { changed, added, removed: missing.filter(isCounted) }
}

/** A block with the texts that the caller saw in it. */
function asSeen(block: ProseElement, left: Left): ProseElement {
  if (left.asSeen.size === 0) return block
  return mapIdBearing([block], (own) => left.asSeen.get(blockId(own) ?? '') ?? own)[0] as ProseElement
}

/** A top-level block and the text blocks in it, itself included where it is one. */
function* unitsOf(tree: ProseTree): Generator<{ readonly top: Located; readonly texts: readonly Located[] }> {
  for (const [index, block] of tree.entries()) {
    const texts = idBearing([block]).map(({ path, block: own }) => ({ path: [index, ...path.slice(1)], block: own }))
    yield { top: { path: [index], block }, texts }
  }
}

const MOST_BLOCKS = 10
const MOST_BYTES = 8_000
const MOST_BLOCK_BYTES = 2_000
const utf8 = new TextEncoder()

/** The refusal of a write of a whole page whose caller did not see what it would replace. It does not name the version: the caller is to read. [AG-24, AG-26] */
export function pageChanged(page: {
  readonly pageId: string
  readonly naming: Naming
  readonly sight: PageSight
  readonly unseen: UnseenBlocks
  /** The caller was shown the whole page. */
  readonly seen: boolean
}): Refusal {
  const { pageId, naming, sight, unseen, seen } = page
  const { changed, added, removed } = unseen
  let [left, bytes] = [MOST_BLOCKS, MOST_BYTES]
  const shown = (blocks: readonly Located[]): readonly object[] => {
    const told: object[] = []
    for (const located of blocks) {
      if (left === 0) break
      const most = Math.min(MOST_BLOCK_BYTES, bytes)
      const current = currentBlock(located, naming, most)
      bytes -= utf8.encode(current.content).length
      left--
      told.push({ ...current, ...changedBy(sight.changer(partId(located.block))) })
    }
    return told
  }
  const [changedBlocks, addedBlocks] = [shown(changed), shown(added)]
  const removedBlocks = removed.slice(0, left).map((id) => ({ id: quote(id), ...removedBy(sight.changer(id)) }))
  const total = changed.length + added.length + removed.length
  return refused('ERR_PAGE_CHANGED', sentence(pageId, total, seen), {
    pageId,
    seen,
    changedBlocks,
    addedBlocks,
    removedBlocks,
    total,
  })
}

function sentence(pageId: string, total: number, seen: boolean): string {
  const repair = 'Read it with ids: true, merge, and send it back; or write single blocks; or send replace: true.'
  return seen
    ? `Others changed ${total} ${total === 1 ? 'block' : 'blocks'} of page ${pageId} since you read it, and this call would lose that. ${repair}`
    : `This call would replace blocks of page ${pageId} that you were not shown as they are now. ${repair}`
}
