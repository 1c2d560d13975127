import { idsOf } from '@docrelay/model/prose/blocks'
import { equalNodes } from '@docrelay/model/prose/equal'
import { shortText, textLikeness } from '@docrelay/model/prose/likeness'
import { pushAll } from '@docrelay/model/prose/marks'
import type { ProseElement } from '@docrelay/model/prose/node'

/** For each node of the first list: the index of its counterpart in the second list, or -1. The indexes increase. */
export type Match = readonly number[]

/**
 * Pairs the blocks of two versions of a list: first equal blocks at both ends, then blocks by id (their own, or ids inside them), then other
 * blocks by equality and similarity. When blocks changed places, blocks with an id in `moved` get no counterpart. Blocks of different type, or
 * with two different ids, are never paired. Ids of the first list in `repeated` are ignored, because several blocks have them.
 */
export function matchBlocks(
  a: readonly ProseElement[],
  b: readonly ProseElement[],
  moved: ReadonlySet<string> = NONE,
  repeated: ReadonlySet<string> = NONE,
): Match {
  const match: number[] = new Array<number>(a.length).fill(-1)
  matchRange({ a, b, match, moved, repeated }, 0, a.length, 0, b.length, true)
  return match
}

const NONE: ReadonlySet<string> = new Set()

interface Lists {
  readonly a: readonly ProseElement[]
  readonly b: readonly ProseElement[]
  readonly match: number[]
  readonly moved: ReadonlySet<string>
  readonly repeated: ReadonlySet<string>
}

function matchRange(lists: Lists, aFrom: number, aTo: number, bFrom: number, bTo: number, byId: boolean): void {
  const { a, b, match, repeated } = lists
  let [as, ae, bs, be] = [aFrom, aTo, bFrom, bTo]
  while (as < ae && bs < be && equalNodes(a[as] as ProseElement, b[bs] as ProseElement)) match[as++] = bs++
  while (as < ae && bs < be && equalNodes(a[ae - 1] as ProseElement, b[be - 1] as ProseElement)) match[--ae] = --be
  if (as === ae || bs === be) return
  if (ae - as === 1 && be - bs === 1) {
    if (mayBeSame(a[as] as ProseElement, b[bs] as ProseElement, repeated)) match[as] = bs
    return
  }
  if (!byId) return matchAlike(lists, as, ae, bs, be)
  let [aNext, bNext] = [as, bs]
  for (const [i, j] of surePairs(a.slice(as, ae), b.slice(bs, be), lists.moved)) {
    matchRange(lists, aNext, as + i, bNext, bs + j, false)
    match[as + i] = bs + j
    aNext = as + i + 1
    bNext = bs + j + 1
  }
  matchRange(lists, aNext, ae, bNext, be, false)
}

type Pair = readonly [number, number]

/** The indexes of two blocks that may be paired, and the number of ids that the blocks share. Equal blocks without ids share 1. */
interface Candidate {
  readonly pair: Pair
  readonly shared: number
}

/**
 * Returns pairs of blocks that share ids, increasing in both lists, with the largest total of shared ids. Blocks not in `moved` are paired
 * first. When blocks moved, equal blocks without ids are paired too, because a moved block may have passed them.
 */
function surePairs(a: readonly ProseElement[], b: readonly ProseElement[], moved: ReadonlySet<string>): readonly Pair[] {
  if (moved.size === 0) return heaviestIncreasing(sharingIds(a, b))
  const pairs = [...sharingIds(a, b), ...equalWithoutIds(a, b)].sort((one, other) => one.pair[0] - other.pair[0])
  const isMoved = ({ pair: [i] }: Candidate) => moved.has(firstId(a[i] as ProseElement) as string)
  const others = pairs.filter(isMoved)
  const steady = heaviestIncreasing(pairs.filter((pair) => !isMoved(pair)))
  const found: Pair[] = []
  let next = 0
  for (let at = 0; at <= steady.length; at++) {
    const [from, to] = [steady[at - 1] ?? START, steady[at] ?? END]
    const first = next
    while (next < others.length && (others[next] as Candidate).pair[0] < to[0]) next++
    const between = others.slice(first, next).filter(({ pair: [, j] }) => j > from[1] && j < to[1])
    pushAll(found, heaviestIncreasing(between))
    if (at < steady.length) found.push(to)
  }
  return found
}

const START: Pair = [-1, -1]
const END: Pair = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]

/**
 * Returns all pairs of blocks of one type that share ids, in the order of the first list. All ids inside a block count: a table row may lose
 * its first cell, and its last cell may come from another row.
 */
function sharingIds(a: readonly ProseElement[], b: readonly ProseElement[]): readonly Candidate[] {
  const [inA, inB] = [ownersOfIds(a), ownersOfIds(b)]
  const found: Candidate[] = []
  let shared = new Map<number, number>()
  let current = -1
  const flush = () => {
    for (const [j, count] of shared) found.push({ pair: [current, j], shared: count })
    shared = new Map()
  }
  for (const [id, i] of inA) {
    const j = inB.get(id)
    if (i !== current) flush()
    current = i
    if (j !== undefined && a[i]?.type === b[j]?.type) shared.set(j, (shared.get(j) ?? 0) + 1)
  }
  flush()
  return found
}

/** Pairs equal blocks without ids: the first of several equal blocks with the first in the other list, the second with the second, and so on. */
function equalWithoutIds(a: readonly ProseElement[], b: readonly ProseElement[]): readonly Candidate[] {
  const inB = new Map(withoutIds(b))
  return withoutIds(a).flatMap(([key, i]): readonly Candidate[] => {
    const j = inB.get(key)
    return j === undefined ? [] : [{ pair: [i, j], shared: 1 }]
  })
}

/** Returns a key and the index of each block without ids. The key contains the block and the number of equal blocks before it. */
function withoutIds(nodes: readonly ProseElement[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>()
  return nodes.flatMap((node, index): readonly (readonly [string, number])[] => {
    if (firstId(node) !== undefined) return []
    const said = JSON.stringify(node)
    const count = counts.get(said) ?? 0
    counts.set(said, count + 1)
    return [[`${count} ${said}`, index]]
  })
}

/** Returns the index of the block that contains each id, in the order of the list. Leaves out ids that occur twice. */
function ownersOfIds(nodes: readonly ProseElement[]): ReadonlyMap<string, number> {
  const owners = new Map<string, number>()
  const repeated = new Set<string>()
  nodes.forEach((node, index) => {
    for (const id of idsOf([node])) {
      if (owners.has(id)) repeated.add(id)
      else owners.set(id, index)
    }
  })
  for (const id of repeated) owners.delete(id)
  return owners
}

function firstId(node: ProseElement): string | undefined {
  if (typeof node.attrs['id'] === 'string') return node.attrs['id']
  for (const child of node.content) {
    const id = child.type === 'text' ? undefined : firstId(child)
    if (id !== undefined) return id
  }
  return undefined
}

interface Chain extends Candidate {
  readonly sum: number
  readonly before: Chain | undefined
}

/** Returns the chain of pairs that increases in both indexes and shares the most ids. `pairs` must be sorted by their first index. */
function heaviestIncreasing(pairs: readonly Candidate[]): readonly Pair[] {
  if (pairs.length === 0) return []
  // A Fenwick tree over the second indexes: for each index, the chain with the highest sum that ends at or before it.
  const [least, most] = boundsOf(pairs)
  const size = most - least + 1
  const ends = new Array<Chain | undefined>(size + 1)
  const heavier = (one: Chain | undefined, other: Chain | undefined) => ((other?.sum ?? 0) >= (one?.sum ?? 0) ? other : one)
  const bestBefore = (second: number) => {
    let best: Chain | undefined
    for (let at = second; at > 0; at -= at & -at) best = heavier(best, ends[at])
    return best
  }
  for (let start = 0; start < pairs.length; ) {
    let end = start
    while (end < pairs.length && pairs[end]?.pair[0] === pairs[start]?.pair[0]) end++
    // A block may be in a chain only once. So the chains that end with a block are entered after all pairs of the block are computed.
    const chains = pairs.slice(start, end).map((candidate): Chain => {
      const before = bestBefore(candidate.pair[1] - least)
      return { ...candidate, before, sum: (before?.sum ?? 0) + candidate.shared }
    })
    for (const chain of chains)
      for (let at = chain.pair[1] - least + 1; at <= size; at += at & -at) ends[at] = heavier(ends[at], chain)
    start = end
  }
  const out: Pair[] = []
  for (let at = bestBefore(size); at !== undefined; at = at.before) out.push(at.pair)
  return out.reverse()
}

/** Returns the smallest and the largest second index of the pairs. */
function boundsOf(pairs: readonly Candidate[]): Pair {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { pair } of pairs) {
    least = Math.min(least, pair[1])
    most = Math.max(most, pair[1])
  }
  return [least, most]
}

/** Unpaired blocks between two pairs are paired by similarity if that takes at most this many comparisons, otherwise in order. */
const maxComparisons = 10_000

function matchAlike(lists: Lists, aFrom: number, aTo: number, bFrom: number, bTo: number): void {
  const { a, b, match, repeated } = lists
  const rows = aTo - aFrom
  const columns = bTo - bFrom
  if (rows * columns > maxComparisons) return matchInOrder(lists, aFrom, aTo, bFrom, bTo)
  // best[i][j] is the highest sum of similarities of pairs from a[i…] and b[j…].
  const best = Array.from({ length: rows + 1 }, () => new Float64Array(columns + 1))
  const likeness = Array.from({ length: rows }, (_, i) =>
    Float64Array.from({ length: columns }, (_, j) => alike(a[aFrom + i] as ProseElement, b[bFrom + j] as ProseElement, repeated)),
  )
  const at = (table: readonly Float64Array[], i: number, j: number) => (table[i] as Float64Array)[j] as number
  for (let i = rows - 1; i >= 0; i--) {
    for (let j = columns - 1; j >= 0; j--) {
      const paired = at(likeness, i, j) > 0 ? at(likeness, i, j) + at(best, i + 1, j + 1) : 0
      ;(best[i] as Float64Array)[j] = Math.max(paired, at(best, i + 1, j), at(best, i, j + 1))
    }
  }
  for (let i = 0, j = 0; i < rows && j < columns; ) {
    const like = at(likeness, i, j)
    if (like > 0 && at(best, i, j) === like + at(best, i + 1, j + 1)) match[aFrom + i++] = bFrom + j++
    else if (at(best, i, j) === at(best, i + 1, j)) i++
    else j++
  }
}

function matchInOrder({ a, b, match, repeated }: Lists, aFrom: number, aTo: number, bFrom: number, bTo: number): void {
  let j = bFrom
  for (let i = aFrom; i < aTo && j < bTo; i++) {
    if (alike(a[i] as ProseElement, b[j] as ProseElement, repeated) > 0) match[i] = j++
    else if (bTo - j > aTo - i) {
      j++
      i--
    }
  }
}

/** Returns the similarity of two blocks: 1 when equal, above 0 for two blocks of the same kind, 0 when they cannot be versions of one block. */
export function alike(a: ProseElement, b: ProseElement, repeated: ReadonlySet<string> = NONE): number {
  if (!mayBeSame(a, b, repeated)) return 0
  if (equalNodes(a, b)) return 1
  const [left, right] = [shortText(a.content), shortText(b.content)]
  return left === '' && right === '' ? 0.5 : 0.1 + 0.8 * textLikeness(left, right)
}

function mayBeSame(a: ProseElement, b: ProseElement, repeated: ReadonlySet<string>): boolean {
  const [one, other] = [a.attrs['id'], b.attrs['id']]
  return a.type === b.type && (one === undefined || other === undefined || one === other || repeated.has(one as string))
}
