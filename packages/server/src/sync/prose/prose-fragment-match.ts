import { equalNodes } from '@docrelay/model/prose/equal'
import type { ProseElement, ProseNode } from '@docrelay/model/prose/node'

/** For each node of the first list the index of its counterpart in the second, -1 without one; increasing where present. */
export type Match = readonly number[]

/**
 * Pairs two versions of one list of blocks. Equal ends are paired first, then blocks by id (their own, or the first one inside), then
 * what lies between by equality and likeness. Of blocks that changed places those with an id in `moved` are left without a counterpart. Blocks of different type, or with two different ids, are never the same block.
 */
export function matchBlocks(
  a: readonly ProseElement[],
  b: readonly ProseElement[],
  moved: ReadonlySet<string> = new Set(),
): Match {
  const match: number[] = new Array<number>(a.length).fill(-1)
  matchRange({ a, b, match, moved }, 0, a.length, 0, b.length, true)
  return match
}

interface Lists {
  readonly a: readonly ProseElement[]
  readonly b: readonly ProseElement[]
  readonly match: number[]
  readonly moved: ReadonlySet<string>
}

function matchRange(lists: Lists, aFrom: number, aTo: number, bFrom: number, bTo: number, byId: boolean): void {
  const { a, b, match } = lists
  let [as, ae, bs, be] = [aFrom, aTo, bFrom, bTo]
  while (as < ae && bs < be && equalNodes(a[as] as ProseElement, b[bs] as ProseElement)) match[as++] = bs++
  while (as < ae && bs < be && equalNodes(a[ae - 1] as ProseElement, b[be - 1] as ProseElement)) match[--ae] = --be
  if (as === ae || bs === be) return
  if (!byId) return matchAlike(lists, as, ae, bs, be)
  let [aNext, bNext] = [as, bs]
  for (const [i, j] of idPairs(a.slice(as, ae), b.slice(bs, be), lists.moved)) {
    matchRange(lists, aNext, as + i, bNext, bs + j, false)
    match[as + i] = bs + j
    aNext = as + i + 1
    bNext = bs + j + 1
  }
  matchRange(lists, aNext, ae, bNext, be, false)
}

type Pair = readonly [number, number]

/** Pairs with the same id, unique on both sides, in increasing order on both: the longest such sequence, first of those that did not move. */
function idPairs(a: readonly ProseElement[], b: readonly ProseElement[], moved: ReadonlySet<string>): readonly Pair[] {
  const inB = uniqueKeys(b)
  const pairs: Pair[] = []
  for (const [key, i] of uniqueKeys(a)) {
    const j = inB.get(key)
    if (j !== undefined) pairs.push([i, j])
  }
  if (moved.size === 0) return longestIncreasing(pairs)
  const isMoved = ([i]: Pair) => moved.has(firstId(a[i] as ProseElement) as string)
  const others = pairs.filter(isMoved)
  const steady = longestIncreasing(pairs.filter((pair) => !isMoved(pair)))
  const found: Pair[] = []
  for (let at = 0; at <= steady.length; at++) {
    const [from, to] = [steady[at - 1] ?? START, steady[at] ?? END]
    found.push(...longestIncreasing(others.filter(([i, j]) => i > from[0] && i < to[0] && j > from[1] && j < to[1])))
    if (at < steady.length) found.push(to)
  }
  return found
}

const START: Pair = [-1, -1]
const END: Pair = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]

function uniqueKeys(nodes: readonly ProseElement[]): Map<string, number> {
  const keys = new Map<string, number>()
  const repeated = new Set<string>()
  nodes.forEach((node, index) => {
    const id = firstId(node)
    if (id === undefined) return
    const key = `${node.type} ${id}`
    if (keys.has(key)) repeated.add(key)
    keys.set(key, index)
  })
  for (const key of repeated) keys.delete(key)
  return keys
}

function firstId(node: ProseElement): string | undefined {
  if (typeof node.attrs['id'] === 'string') return node.attrs['id']
  for (const child of node.content) {
    const id = child.type === 'text' ? undefined : firstId(child)
    if (id !== undefined) return id
  }
  return undefined
}

/** `pairs` are increasing in their first member. */
export function longestIncreasing(pairs: readonly (readonly [number, number])[]): readonly (readonly [number, number])[] {
  const tails: number[] = []
  const previous: number[] = []
  pairs.forEach(([, value], index) => {
    let low = 0
    let high = tails.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((pairs[tails[middle] as number] as readonly [number, number])[1] < value) low = middle + 1
      else high = middle
    }
    previous[index] = low === 0 ? -1 : (tails[low - 1] as number)
    tails[low] = index
  })
  const out: (readonly [number, number])[] = []
  for (let at = tails.at(-1) ?? -1; at !== -1; at = previous[at] as number) out.push(pairs[at] as readonly [number, number])
  return out.reverse()
}

/** Up to this many comparisons a gap is paired by likeness; a larger one in order. */
const maxComparisons = 10_000

function matchAlike({ a, b, match, moved }: Lists, aFrom: number, aTo: number, bFrom: number, bTo: number): void {
  const rows = aTo - aFrom
  const columns = bTo - bFrom
  if (rows * columns > maxComparisons) return matchInOrder({ a, b, match, moved }, aFrom, aTo, bFrom, bTo)
  // best[i][j]: the highest sum of likeness that pairs of a[i…] with b[j…] can have.
  const best = Array.from({ length: rows + 1 }, () => new Float64Array(columns + 1))
  const likeness = Array.from({ length: rows }, (_, i) =>
    Float64Array.from({ length: columns }, (_, j) => alike(a[aFrom + i] as ProseElement, b[bFrom + j] as ProseElement)),
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

function matchInOrder({ a, b, match }: Lists, aFrom: number, aTo: number, bFrom: number, bTo: number): void {
  let j = bFrom
  for (let i = aFrom; i < aTo && j < bTo; i++) {
    if (alike(a[i] as ProseElement, b[j] as ProseElement) > 0) match[i] = j++
    else if (bTo - j > aTo - i) {
      j++
      i--
    }
  }
}

/** How much two blocks look like versions of one: 0 for not at all, 1 for equal; never 0 for the same kind of block. */
export function alike(a: ProseElement, b: ProseElement): number {
  if (a.type !== b.type || (a.attrs['id'] !== undefined && b.attrs['id'] !== undefined && a.attrs['id'] !== b.attrs['id']))
    return 0
  if (equalNodes(a, b)) return 1
  const [left, right] = [shortText(a.content), shortText(b.content)]
  const length = Math.max(left.length, right.length)
  if (length === 0) return 0.5
  let prefix = 0
  while (prefix < Math.min(left.length, right.length) && left[prefix] === right[prefix]) prefix++
  let suffix = 0
  while (suffix < Math.min(left.length, right.length) - prefix && left.at(-1 - suffix) === right.at(-1 - suffix)) suffix++
  return 0.1 + (0.8 * (prefix + suffix)) / length
}

/** The text of nodes up to a bound that is enough to tell blocks apart. */
function shortText(nodes: readonly ProseNode[]): string {
  let text = ''
  for (const node of nodes) {
    if (text.length > 400) break
    text += node.type === 'text' ? node.text.slice(0, 400) : shortText(node.content)
  }
  return text
}
