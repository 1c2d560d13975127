import { longestRising } from '@docrelay/model/longest-rising'
import type { Node } from 'prosemirror-model'
import { blockLikeness, canBeOne, LEAST_ALIKE, type Likeness } from './block-likeness.ts'
import { commonSequence, type Pair } from './common-sequence.ts'
import { type TextRun, wordDiff } from './word-diff.ts'

/** The change of one block. */
export type BlockChange =
  | { readonly kind: 'same' | 'added' | 'removed'; readonly block: Node }
  /** The text of a block changed, or only its type or attributes, for example the level of a heading. */
  | { readonly kind: 'text'; readonly before: Node; readonly block: Node; readonly runs: readonly TextRun[] }
  /** Something inside a list, a table or a box changed. */
  | { readonly kind: 'parts'; readonly block: Node; readonly parts: readonly BlockChange[] }

export interface Tally {
  readonly added: number
  readonly removed: number
  readonly changed: number
}

/** Blocks are paired by likeness only in gaps of at most this many blocks on each side, since each is compared with each. */
const MAX_GAP = 40

/**
 * Compares the blocks of two pages, or of two lists, tables or boxes. First it pairs equal blocks, whatever their ids. In the gaps between
 * these it pairs blocks with the same id, and in the remaining gaps blocks with enough common words. A moved block counts as removed and added.
 */
export function diffBlocks(before: Node, after: Node, likeness = blockLikeness()): readonly BlockChange[] {
  const [old, now] = [before.children, after.children]
  const same = commonSequence(old.map(saying), now.map(saying))
  const pairs = inGaps(same, old, now, (oldGap, nowGap) =>
    inGaps(byIds(oldGap, nowGap), oldGap, nowGap, (old, now) => byLikeness(old, now, likeness)).filter(
      ({ before: i, after: j }) => canBeOne(oldGap[i] as Node, nowGap[j] as Node),
    ),
  )
  const changes: BlockChange[] = []
  let [i, j] = [0, 0]
  for (const pair of [...pairs, { before: old.length, after: now.length }]) {
    for (const block of old.slice(i, pair.before)) changes.push({ kind: 'removed', block })
    for (const block of now.slice(j, pair.after)) changes.push({ kind: 'added', block })
    const [was, is] = [old[pair.before], now[pair.after]]
    if (was !== undefined && is !== undefined) changes.push(changeOf(was, is, likeness))
    i = pair.before + 1
    j = pair.after + 1
  }
  return changes
}

/** Counts the top-level blocks that were added, removed and changed. */
export function tallyOf(changes: readonly BlockChange[]): Tally {
  const count = (...kinds: readonly BlockChange['kind'][]) => changes.filter(({ kind }) => kinds.includes(kind)).length
  return { added: count('added'), removed: count('removed'), changed: count('text', 'parts') }
}

function changeOf(before: Node, block: Node, likeness: Likeness): BlockChange {
  if (saying(before) === saying(block)) return { kind: 'same', block }
  if (block.isTextblock) return { kind: 'text', before, block, runs: wordDiff(before, block) }
  return { kind: 'parts', block, parts: diffBlocks(before, block, likeness) }
}

/** Returns the content of a block as a text to compare: everything except the ids of blocks. */
function saying(block: Node): string {
  return JSON.stringify(block.toJSON(), (key, value: unknown) => (key === 'id' ? undefined : value))
}

/** Returns the pairs and, between each two of them, the pairs that `find` returns for the gap. */
function inGaps(
  pairs: readonly Pair[],
  old: readonly Node[],
  now: readonly Node[],
  find: (old: readonly Node[], now: readonly Node[]) => readonly Pair[],
): readonly Pair[] {
  const all: Pair[] = []
  let [i, j] = [0, 0]
  for (const pair of [...pairs, { before: old.length, after: now.length }]) {
    if (pair.before > i && pair.after > j)
      for (const found of find(old.slice(i, pair.before), now.slice(j, pair.after)))
        all.push({ before: found.before + i, after: found.after + j })
    if (pair.before < old.length) all.push(pair)
    i = pair.before + 1
    j = pair.after + 1
  }
  return all
}

function byIds(old: readonly Node[], now: readonly Node[]): readonly Pair[] {
  const places = new Map<string, number>()
  for (const [index, block] of old.entries()) for (const id of idsOf(block)) if (!places.has(id)) places.set(id, index)
  const taken = new Set<number>()
  const pairs = now.flatMap((block, after) => {
    const before = idsOf(block)
      .map((id) => places.get(id))
      .find((place) => place !== undefined && !taken.has(place) && canBeOne(old[place] as Node, block))
    if (before === undefined) return []
    taken.add(before)
    return [{ before, after }]
  })
  return longestRising(pairs, ({ before }) => before)
}

/** Returns the ids of a block and of all blocks inside it. */
function idsOf(block: Node): readonly string[] {
  const ids: string[] = []
  const add = (node: Node) => {
    const id: unknown = node.attrs['id']
    if (typeof id === 'string' && id !== '') ids.push(id)
  }
  add(block)
  block.descendants((node) => {
    add(node)
    return !node.isTextblock
  })
  return ids
}

/** Returns the pairs, in the order of both lists, whose sum of likenesses is greatest. */
function byLikeness(old: readonly Node[], now: readonly Node[], likeness: Likeness): readonly Pair[] {
  if (old.length > MAX_GAP || now.length > MAX_GAP) return []
  const width = now.length + 1
  const best = new Float64Array((old.length + 1) * width)
  const at = (i: number, j: number) => best[i * width + j] as number
  const alikeness = old.map((block) => now.map((other) => likeness(block, other)))
  const joined = (i: number, j: number) => {
    const alike = alikeness[i]?.[j] ?? 0
    return alike < LEAST_ALIKE ? -1 : alike + at(i + 1, j + 1)
  }
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--) best[i * width + j] = Math.max(joined(i, j), at(i + 1, j), at(i, j + 1))
  const pairs: Pair[] = []
  for (let i = 0, j = 0; i < old.length && j < now.length; ) {
    if (joined(i, j) === at(i, j)) pairs.push({ before: i++, after: j++ })
    else if (at(i + 1, j) >= at(i, j + 1)) i++
    else j++
  }
  return pairs
}
