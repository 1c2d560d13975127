import type { Refusal, Warning } from '../edit.ts'
import { namingOf, type Printed } from '../prose/block-names.ts'
import { blockStamp } from '../prose/block-stamp.ts'
import { blockId, idBearing, idsOf } from '../prose/blocks.ts'
import { isBlankPage } from '../prose/equal.ts'
import type { ProseElement, ProseTree } from '../prose/node.ts'
import type { Stamp } from '../stamps/stamp.ts'
import { PageSight } from './page-sight.ts'
import type { Seen } from './seen.ts'
import { partId, partsOf, shownBlock, shownHeadings, type ShownPage } from './shown.ts'
import { isAllSeen, pageChanged, type UnseenBlocks, unseenBlocks } from './unseen-page.ts'
import { mergeStamped, type MergedContent } from './untouched.ts'

/** A page that a call writes as a whole. */
interface WholePage extends Printed {
  readonly pageId: string
  readonly tree: ProseTree
  readonly isVersionNamed?: boolean
  readonly sight?: PageSight | undefined
  readonly environment: { readonly seen?: Seen }
}

interface Checked extends MergedContent {
  readonly warnings: readonly Warning[]
  /** The caller was not shown the page that the call replaces. [AG-26] */
  readonly isBlind: boolean
}

const nobody = new PageSight(undefined, '')

/**
 * Decides whether a page may be written as a whole, and keeps the stored blocks that the caller did not touch. Compares with the page as it is stored at the
 * moment of the write. [AG-24, AG-25, AG-26]
 */
export function checkWholePage(
  page: WholePage,
  content: { readonly tree: ProseTree; readonly stamps: ReadonlyMap<string, Stamp> },
  isReplaced: boolean,
): Checked | Refusal {
  const { tree, pageId, sight = nobody } = page
  const merged = mergeStamped(tree, content.tree, content.stamps, sight)
  const written = (): Checked => ({ ...merged, warnings: [], isBlind: false })
  const refuse = (unseen: UnseenBlocks, seen: boolean) => pageChanged({ pageId, naming: namingOf(page), sight, unseen, seen })
  if (isBlankPage(tree) || page.isVersionNamed === true || isReplaced) return written()
  const stale = staleBlocks(tree, merged)
  if (!isAllSeen(stale)) return refuse(stale, sight.isWhole)
  if (page.environment.seen === undefined) return written()
  if (sight.isWhole) {
    const unseen = unseenBlocks(tree, sight, (id) => !merged.untouched.has(id), merged)
    return isAllSeen(unseen) ? written() : refuse(unseen, true)
  }
  const isStamped = content.stamps.size > 0
  if (!isStamped && page.environment.seen.blind === 'warn') return { ...merged, warnings: [blind(pageId)], isBlind: true }
  const lost = lostBlocks(tree, merged)
  if (isStamped && isAllSeen(lost)) return written()
  return refuse(lost, false)
}

/** Returns the blocks that both the caller and somebody else changed. [AG-25] */
function staleBlocks(tree: ProseTree, { stale }: MergedContent): UnseenBlocks {
  const present = new Set(idsOf(tree))
  const blocks = unseenBlocks(tree, nobody, (id) => stale.has(id))
  const changed = blocks.added.filter(({ block }) => stale.has(blockId(block) ?? ''))
  return { changed, added: [], removed: [...stale].filter((id) => !present.has(id)) }
}

/** Returns the stored blocks that the content of a call lacks. [AG-26] */
function lostBlocks(tree: ProseTree, { tree: content }: MergedContent): UnseenBlocks {
  const kept = new Set(idsOf(content))
  const names = new Set(Array.from(partsOf(content), shownBlock))
  const { added } = unseenBlocks(tree, nobody, (id) => !kept.has(id))
  const changed = added.filter(({ block }) => partId(block) !== null || !names.has(shownBlock(block)))
  return { changed, added: [], removed: [] }
}

function blind(pageId: string): Warning {
  return { reason: `you were not shown all of page ${pageId} before you replaced it; removed lists what was there` }
}

const MOST_NAMED = 5

/**
 * Warns a caller that sent blocks as it had read them, although others changed or removed these blocks since: the blocks stay as they are stored now.
 * [AG-25, AG-32]
 */
export function keptWarnings(tree: ProseTree, { asSeen }: MergedContent): readonly Warning[] {
  if (asSeen.size === 0) return []
  const stored = new Map(idBearing(tree).map(({ block }) => [blockId(block), block]))
  const kept = [...asSeen].filter(([id, seen]) => {
    const now = stored.get(id)
    return now === undefined || blockStamp(now) !== blockStamp(seen)
  })
  if (kept.length === 0) return []
  const [blocks, them, they] =
    kept.length === 1 ? ['block', 'it', 'it stays as it is'] : ['blocks', 'them', 'they stay as they are']
  const ids = kept.slice(0, MOST_NAMED).map(([id]) => id)
  const named = `${ids.join(', ')}${kept.length > MOST_NAMED ? ', …' : ''}`
  return [
    {
      reason: `the content says of ${kept.length} ${blocks} what you read before others changed or removed ${them}; ${they} now: ${named}`,
    },
  ]
}

/**
 * Returns what the caller knows of a page after writing it as a whole: all blocks except those that the caller did not touch and that others may have
 * changed. [AG-19, AG-25]
 */
export function shownAfter(
  { pageId, sight = nobody }: WholePage,
  tree: ProseTree,
  { untouched, frames }: MergedContent,
): ShownPage {
  const kept = [...frames].filter((frame) => sight.of(frame) !== 'same')
  const unseen = new Set(idsOf(kept))
  // Parts without id, such as images, that others put into kept containers.
  const nameless = new Set(
    [...partsOf(kept)].filter((part) => partId(part) === null && sight.of(part) !== 'same').map(shownBlock),
  )
  const isKnown = (block: ProseElement): boolean => {
    const id = partId(block)
    if (id === null) return !nameless.has(shownBlock(block)) && !idsOf([block]).some((inside) => unseen.has(inside))
    return !untouched.has(id) || sight.of(block) === 'same'
  }
  const headings = { from: 0, blocks: shownHeadings(tree), isAll: true } as const
  return { pageId, blocks: [...partsOf(tree)].filter(isKnown).map(shownBlock), headings }
}
