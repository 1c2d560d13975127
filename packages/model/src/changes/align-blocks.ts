import { likeness, pairsOf } from '../nearest.ts'
import { blockId, idsOf, isIdBearing } from '../prose/blocks.ts'
import { equalAttrs } from '../prose/equal.ts'
import { serialiseHtml } from '../prose/html.ts'
import type { ProseElement, ProseTree } from '../prose/node.ts'
import { saysTheSame } from '../prose/same-blocks.ts'
import { blockText } from '../prose/text.ts'
import type { Pair } from './sequence.ts'

/** Whether a block has the same content after the write as before. A block that only received an id is unchanged. */
export function isUnchanged(before: ProseElement, after: ProseElement): boolean {
  return saysTheSame(after, before)
}

/**
 * Pairs each top-level block of the page before the edit with the same block after it. Equal blocks at both ends are paired first, then blocks
 * with the same id. Blocks without an id are paired by equal content, and those that remain by type and place. The pairs are in the order of the page
 * after the edit.
 */
export function alignBlocks(before: ProseTree, after: ProseTree): readonly Pair[] {
  const most = Math.min(before.length, after.length)
  const isSame = (i: number, j: number) => isUnchanged(before[i] as ProseElement, after[j] as ProseElement)
  let start = 0
  while (start < most && isSame(start, start)) start++
  let end = 0
  while (end < most - start && isSame(before.length - 1 - end, after.length - 1 - end)) end++
  const middle = new Middle(before.slice(start, before.length - end), after.slice(start, after.length - end))
  const pairs: Pair[] = Array.from({ length: start }, (_, i) => ({ before: i, after: i }))
  for (const pair of middle.pairs()) pairs.push({ before: pair.before + start, after: pair.after + start })
  for (let i = end; i > 0; i--) pairs.push({ before: before.length - i, after: after.length - i })
  return pairs
}

/** Two blocks that share only one neighbour are paired from this likeness on; a likeness ranges from 0 to 1. */
const LIKE = 0.3
/** The likeness compares this many characters at the start of each text. */
const COMPARED = 1_000

/** The blocks between the equal blocks at both ends. */
class Middle {
  private readonly before: ProseTree
  private readonly after: ProseTree
  /** `found` maps an index before to its index after; `taken` maps an index after to its index before. */
  private readonly found = new Map<number, number>()
  private readonly taken = new Map<number, number>()

  constructor(before: ProseTree, after: ProseTree) {
    this.before = before
    this.after = after
  }

  pairs(): readonly Pair[] {
    if (this.before.length > 0 && this.after.length > 0) {
      this.byIds()
      this.byContent()
      this.byPlace()
    }
    return [...this.taken].map(([after, before]) => ({ before, after })).sort((a, b) => a.after - b.after)
  }

  private pair(before: number, after: number): void {
    this.found.set(before, after)
    this.taken.set(after, before)
  }

  private byIds(): void {
    const places = new Map<string, number>()
    for (const [index, block] of this.after.entries()) for (const id of idsOf([block])) if (!places.has(id)) places.set(id, index)
    for (const [index, block] of this.before.entries()) {
      const match = idsOf([block])
        .map((id) => places.get(id))
        .find(
          (place) =>
            place !== undefined &&
            !this.taken.has(place) &&
            isIdBearing(this.after[place] as ProseElement) === isIdBearing(block),
        )
      if (match !== undefined) this.pair(index, match)
    }
  }

  /** Pairs only blocks that had no id. A block with another id is another block, even when it has the same words. */
  private byContent(): void {
    const places = new Map<string, number[]>()
    for (const index of this.freshAfter()) {
      const html = serialiseHtml([withoutIds(this.after[index] as ProseElement)])
      const list = places.get(html)
      if (list === undefined) places.set(html, [index])
      else list.push(index)
    }
    for (const index of this.namelessBefore()) {
      const match = places.get(serialiseHtml([this.before[index] as ProseElement]))?.shift()
      if (match !== undefined) this.pair(index, match)
    }
  }

  /**
   * Pairs blocks of one type that stand between the same two neighbours, whatever they say. With only one common neighbour their texts must
   * be alike. Otherwise a write of the whole page would pair a paragraph that somebody has just begun with an unrelated new one.
   */
  private byPlace(): void {
    const fresh = new Set(this.freshAfter())
    for (const index of this.namelessBefore()) {
      const behind = index === 0 ? 0 : plus(this.found.get(index - 1), 1)
      const ahead = index === this.before.length - 1 ? this.after.length - 1 : plus(this.found.get(index + 1), -1)
      const match = [behind, ahead].find(
        (place) =>
          place !== null &&
          fresh.has(place) &&
          this.after[place]?.type === this.before[index]?.type &&
          (behind === ahead || this.isAlike(index, place)),
      )
      if (match === undefined || match === null) continue
      fresh.delete(match)
      this.pair(index, match)
    }
  }

  private isAlike(before: number, after: number): boolean {
    const pairs = (block: ProseElement | undefined) => pairsOf(blockText(block as ProseElement), COMPARED)
    return likeness(new Set(pairs(this.before[before])), pairs(this.after[after])) >= LIKE
  }

  private namelessBefore(): readonly number[] {
    return indexesOf(this.before, (block, index) => !this.found.has(index) && idsOf([block]).length === 0)
  }

  /** Unpaired blocks after the write that have no id, or only ids that no block had before. */
  private freshAfter(): readonly number[] {
    const known = new Set(idsOf(this.before))
    return indexesOf(this.after, (block, index) => !this.taken.has(index) && !idsOf([block]).some((id) => known.has(id)))
  }
}

function plus(place: number | undefined, step: number): number | null {
  return place === undefined ? null : place + step
}

function indexesOf(tree: ProseTree, isMeant: (block: ProseElement, index: number) => boolean): readonly number[] {
  return tree.flatMap((block, index) => (isMeant(block, index) ? [index] : []))
}

function withoutIds(node: ProseElement): ProseElement {
  const { id: _, ...attrs } = node.attrs
  const content = node.content.map((child) => (child.type === 'text' ? child : withoutIds(child)))
  return { ...node, attrs: isIdBearing(node) ? attrs : node.attrs, content }
}

/** A text block before and after the write, at the same place in its container. */
export interface TextPair {
  readonly before: ProseElement
  readonly after: ProseElement
}

/** Pairs the text blocks of a container before and after the write; `null` when more than these text blocks changed. [AG-69] */
export function textPairs(before: ProseElement, after: ProseElement): readonly TextPair[] | null {
  const known = new Set(idsOf([before]))
  const pairs: TextPair[] = []
  const isAlike = (old: ProseElement, now: ProseElement): boolean => {
    if (isIdBearing(old) && isIdBearing(now)) {
      const [oldId, nowId] = [blockId(old), blockId(now)]
      pairs.push({ before: old, after: now })
      return oldId === null ? nowId === null || !known.has(nowId) : oldId === nowId
    }
    if (old.type !== now.type || !equalAttrs(old.attrs, now.attrs) || old.content.length !== now.content.length) return false
    return old.content.every((child, i) => {
      const other = now.content[i] as typeof child
      if (child === other && idsOf([child]).length === 0) return true
      return child.type === 'text' || other.type === 'text' ? saysTheSame(other, child) : isAlike(child, other)
    })
  }
  return isAlike(before, after) ? pairs : null
}
