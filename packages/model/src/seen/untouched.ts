import { blockStamp } from '../prose/block-stamp.ts'
import { blockId, idBearing, idsOf, isCell, isIdBearing, mapIdBearing } from '../prose/blocks.ts'
import { withContent } from '../prose/equal.ts'
import type { ProseElement, ProseNode, ProseTree } from '../prose/node.ts'
import type { Stamp } from '../stamps/stamp.ts'
import type { PageSight } from './page-sight.ts'

/** The content of a call for a whole page, merged with the stored page. [AG-25] */
export interface MergedContent {
  /** The content, in which every block that the caller did not touch is the stored block. */
  readonly tree: ProseTree
  /** Ids of the blocks that the caller did not touch. */
  readonly untouched: ReadonlySet<string>
  /** Ids of the blocks that the caller changed, and that somebody else changed or removed too. */
  readonly stale: ReadonlySet<string>
  /** The blocks that the caller did not touch, as the caller saw them, by id. */
  readonly asSeen: ReadonlyMap<string, ProseElement>
  /** Stored lists, tables and boxes in which the caller changed only words, so that everything else in them stays as stored. */
  readonly frames: ReadonlySet<ProseElement>
}

/**
 * Compares content with the stamps that its ids carried. A block that still has the content of its stamp was not touched by the caller, so it stays as it is
 * stored now, or stays removed. [AG-25]
 */
export function mergeStamped(
  stored: ProseTree,
  content: ProseTree,
  stamps: ReadonlyMap<string, Stamp>,
  sight: PageSight,
): MergedContent {
  const asSeen = new Map<string, ProseElement>()
  const untouched = new Set<string>()
  const stale = new Set<string>()
  const frames = new Set<ProseElement>()
  if (stamps.size === 0) return { tree: content, untouched, stale, asSeen, frames }
  const known = new Map(
    idBearing(stored).flatMap(({ block }) => (blockId(block) === null ? [] : [[blockId(block), block] as const])),
  )
  for (const { block } of idBearing(content)) {
    const id = blockId(block)
    const stamp = id === null ? undefined : stamps.get(id)
    if (id === null || stamp === undefined) continue
    const now = known.get(id)
    if (blockStamp(block) === stamp) {
      untouched.add(id)
      asSeen.set(id, block)
    } else if (now === undefined || blockStamp(now) !== stamp) stale.add(id)
  }
  // A container whose stored blocks all equal those of the content needs no merge, so its white space stays as it is. [PROSE-54]
  const isStored = (container: ProseElement): boolean =>
    idBearing([container]).every(({ block }) => {
      const now = known.get(blockId(block) ?? '')
      return now === undefined ? blockId(block) === null : blockStamp(now) === blockStamp(block)
    })
  const merge = <N extends ProseNode>(nodes: readonly N[]): readonly N[] =>
    nodes.flatMap((node): readonly N[] => {
      if (node.type === 'text') return [node]
      const element = node as ProseElement
      if (isIdBearing(element)) {
        const id = blockId(element)
        if (id === null || !untouched.has(id)) return [node]
        const now = known.get(id)
        return now === undefined ? [] : [now as ProseNode as N]
      }
      if (element.content.length === 0 || isStored(element)) return [node]
      const inside = merge(element.content)
      // A container that becomes empty is removed; a cell stays, since its row needs all its cells.
      if (inside.length === 0 && !isCell(element)) return []
      return [withContent(element, inside) as ProseNode as N]
    })
  const frameOf = framesOf(stored)
  /** Returns the stored container with the words of the caller, when the caller changed nothing but words in it. */
  const withWords = (block: ProseElement): ProseElement | undefined => {
    const frame = frameOf(block)
    if (frame === undefined || isIdBearing(block)) return undefined
    const words = new Map(idBearing([block]).map((own) => [blockId(own.block), own.block]))
    const [seen] = mapIdBearing([block], (own) => {
      const id = blockId(own)
      return id === null || !stamps.has(id) || untouched.has(id) ? own : (known.get(id) ?? own)
    })
    if (seen === undefined || sight.of(seen) !== 'same') return undefined
    frames.add(frame)
    const isChanged = (id: string | null) => id !== null && stamps.has(id) && !untouched.has(id)
    const [now] = mapIdBearing([frame], (own) => (isChanged(blockId(own)) ? (words.get(blockId(own)) ?? own) : own))
    return now
  }
  const tree = content.flatMap((block): ProseTree => {
    const now = withWords(block)
    return now === undefined ? merge([block]) : [now]
  })
  return { tree, untouched, stale, asSeen, frames }
}

/** Finds the stored top-level block with the ids that a block of the content has; `undefined` when these ids are in no stored block, or in several. */
function framesOf(stored: ProseTree): (block: ProseElement) => ProseElement | undefined {
  const owners = new Map(stored.flatMap((block) => idsOf([block]).map((id) => [id, block] as const)))
  return (block) => {
    const found = new Set(idsOf([block]).flatMap((id) => owners.get(id) ?? []))
    const [only] = found
    return found.size === 1 && only?.type === block.type ? only : undefined
  }
}
