import { refused, type Refusal } from '../edit.ts'
import type { Naming } from '../prose/block-names.ts'
import { blockId, idBearing, mapIdBearing, type Located } from '../prose/blocks.ts'
import type { ProseElement, ProseTree } from '../prose/node.ts'
import { currentBlock } from '../prose/stamped-blocks.ts'
import { quote } from '../quote.ts'
import { changedBy, type PageSight, removedBy } from './page-sight.ts'
import { partId } from './shown.ts'
import type { MergedContent } from './untouched.ts'

/** The differences between a page as a caller saw it and the stored page. */
export interface UnseenBlocks {
  readonly changed: readonly Located[]
  readonly added: readonly Located[]
  /** The ids of removed blocks. */
  readonly removed: readonly string[]
}

export function isAllSeen({ changed, added, removed }: UnseenBlocks): boolean {
  return changed.length + added.length + removed.length === 0
}

/** The parts that a write of the whole page leaves as they are stored, even when others changed them. */
export type Left = Pick<MergedContent, 'asSeen' | 'frames'>

const nothingLeft: Left = { asSeen: new Map(), frames: new Set() }

/** Compares a stored page with what the caller was shown of the page. `isCounted` says whether the block with an id counts. [AG-24, AG-25] */
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
      // When blocks of the page are gone, the container of a changed or new block cannot be compared as a whole.
      isExplained ||= found !== 'same' && (missing.length > 0 || !left.asSeen.has(blockId(located.block) ?? ''))
      const id = partId(located.block)
      if (id !== null && !isCounted(id)) continue
      if (found === 'changed') changed.push(located)
      else if (found === 'unknown') added.push(located)
    }
    // A container such as a list has more content than its texts, for example which tasks are done.
    if (!isExplained && sight.of(asSeen(top.block, left)) === 'unknown') (texts.length === 0 ? added : changed).push(top)
  }
  return { changed, added, removed: missing.filter(isCounted) }
}

/** Returns a block with its text blocks as the caller saw them. */
function asSeen(block: ProseElement, left: Left): ProseElement {
  if (left.asSeen.size === 0) return block
  return mapIdBearing([block], (own) => left.asSeen.get(blockId(own) ?? '') ?? own)[0] as ProseElement
}

/** Yields each top-level block with the blocks inside that can have an id; a text block includes itself. */
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

/** Refuses a write of a whole page that would replace blocks which its caller has not seen. Names no version: the caller has to read. [AG-24, AG-26] */
export function pageChanged(page: {
  readonly pageId: string
  readonly naming: Naming
  readonly sight: PageSight
  readonly unseen: UnseenBlocks
  /** Whether the caller was shown the whole page. */
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
