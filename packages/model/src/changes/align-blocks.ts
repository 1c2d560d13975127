import { likeness, pairsOf } from '../nearest.ts'
import { blockId, idsOf, isIdBearing } from '../prose/blocks.ts'
import { equalAttrs } from '../prose/equal.ts'
import { serialiseHtml } from '../prose/html.ts'
import type { ProseElement, ProseTree } from '../prose/node.ts'
import { saysTheSame } from '../prose/same-blocks.ts'
import { blockText } from '../prose/text.ts'
import type { Pair } from './sequence.ts'

/** Whether a block says what it said before; an id that it had not may have come. */
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

/** The likeness, from 0 to 1, from which on a block without id counts as a rewritten one that shares only one neighbour with it. */
const LIKE = 0.3
/** So many characters of each text are compared. */
const COMPARED = 1_000

/** What lies between the equal ends. */
class Middle {
  private readonly before: ProseTree
  private readonly after: ProseTree
  /** By index before, and by index after, the index on the other side. */
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

  /** Only for blocks without ids: with ids, the same words under another id are another block. */
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
   * What stands alone between the same neighbours is the same block, whatever it says. Beside one of its neighbours it must say something
   * like it: else a write of the whole page would take a paragraph that somebody has just begun for another one.
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

  /** Blocks after whose ids, if any, nothing before had. */
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

/** Two text blocks in the same place of their container. */
export interface TextPair {
  readonly before: ProseElement
  readonly after: ProseElement
}

/** The text blocks of two containers, in pairs; `null` when the containers differ in more than the text of these. [AG-69] */
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
