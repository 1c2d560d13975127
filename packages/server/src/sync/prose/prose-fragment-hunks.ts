import { commonRuns, type Run } from './prose-fragment-anchors.ts'

/** A range of the first sequence, and the different range that replaces it in the second sequence. Ends are exclusive. */
export interface Hunk {
  readonly aFrom: number
  readonly aTo: number
  readonly bFrom: number
  readonly bTo: number
}

/** A range in each of two sequences, which may be equal. */
type Box = Hunk

/**
 * Returns the differences between two sequences of numbers. The differences contain as few elements as possible when a bounded number of
 * comparisons is enough to find such a solution.
 *
 * Otherwise rows of elements that stand once in each sequence are kept. `windows` lists the lengths of these rows, longest first. Without
 * these rows, two versions might each replace a long text as a whole, and the text would stand twice after their merge. [LIFE-14]
 *
 * One attempt makes at most 128 comparisons per element, and in long sequences 16 per element plus a fixed number. There is one attempt more
 * than there are windows. So the time is proportional to the length of the sequences, for any content. [G9]
 */
export function diff(a: Int32Array, b: Int32Array, windows: readonly number[]): readonly Hunk[] {
  const runs: Run[] = []
  const rate = Math.min(128, 16 + 8 * (maxEffort / (a.length + b.length + 1)))
  addRuns({ a, b, rate, out: runs }, { aFrom: 0, aTo: a.length, bFrom: 0, bTo: b.length }, windows)
  const hunks: Hunk[] = []
  let [i, j] = [0, 0]
  for (const run of [...runs, { a: a.length, b: b.length, length: 0 }]) {
    if (run.a > i || run.b > j) hunks.push({ aFrom: i, aTo: run.a, bFrom: j, bTo: run.b })
    i = run.a + run.length
    j = run.b + run.length
  }
  return hunks
}

interface Going {
  readonly a: Int32Array
  readonly b: Int32Array
  readonly rate: number
  readonly out: Run[]
}

/** Adds the runs that the two ranges of `box` have in common to `going.out`, in order. */
function addRuns(going: Going, box: Box, windows: readonly number[]): void {
  const { a, b, out } = going
  let { aFrom, aTo, bFrom, bTo } = box
  while (aFrom < aTo && bFrom < bTo && a[aFrom] === b[bFrom]) {
    aFrom++
    bFrom++
  }
  while (aTo > aFrom && bTo > bFrom && a[aTo - 1] === b[bTo - 1]) {
    aTo--
    bTo--
  }
  const [before, after] = [aFrom - box.aFrom, box.aTo - aTo]
  if (before > 0) out.push({ a: box.aFrom, b: box.bFrom, length: before })
  if (aFrom < aTo && bFrom < bTo) addMiddle(going, { aFrom, aTo, bFrom, bTo }, windows)
  if (after > 0) out.push({ a: aTo, b: bTo, length: after })
}

function addMiddle(going: Going, box: Box, windows: readonly number[]): void {
  const { a, b, rate, out } = going
  const { aFrom, aTo, bFrom, bTo } = box
  const [x, y] = [a.subarray(aFrom, aTo), b.subarray(bFrom, bTo)]
  const shortest = longestCommon(x, y, rate)
  if (shortest !== undefined) {
    for (const run of shortest) out.push({ a: aFrom + run.a, b: bFrom + run.b, length: run.length })
    return
  }
  for (const [at, size] of windows.entries()) {
    const found = commonRuns(x, y, size)
    if (found.length === 0) continue
    let [i, j] = [aFrom, bFrom]
    for (const run of found) {
      addRuns(going, { aFrom: i, aTo: aFrom + run.a, bFrom: j, bTo: bFrom + run.b }, windows.slice(at + 1))
      out.push({ a: aFrom + run.a, b: bFrom + run.b, length: run.length })
      i = aFrom + run.a + run.length
      j = bFrom + run.b + run.length
    }
    return addRuns(going, { aFrom: i, aTo, bFrom: j, bTo }, windows.slice(at + 1))
  }
}

/** Enough comparisons for two texts of 1,000 characters that have every second character in common. */
const maxEffort = 1_000_000

/** Marks a diagonal that no path reaches, because each path to it would leave one of the sequences. */
const NOWHERE = -(2 ** 30)

/**
 * Returns the runs of the longest common subsequence, or `undefined` when it takes too long to find. This is the greedy algorithm of Myers:
 * round `d` finds the furthest place in `a` on each diagonal (place in `a` minus place in `b`) with `d` elements removed or added.
 */
function longestCommon(a: Int32Array, b: Int32Array, rate: number): readonly Run[] | undefined {
  const [n, m] = [a.length, b.length]
  let effort = Math.min(rate * (n + m), maxEffort + 16 * (n + m))
  // All rounds are kept, so that `runsOf` can follow the path back. So their total size is bounded too.
  let places = maxEffort
  const rounds: Round[] = []
  let round: Round = { low: 0, reached: Int32Array.of(0) }
  for (let d = 0; ; d++) {
    const { low, reached } = round
    for (let at = 0; at < reached.length; at++) {
      const from = reached[at] as number
      const k = low + 2 * at
      let x = from
      if (x >= 0) while (x < n && x - k < m && a[x] === b[x - k]) x++
      reached[at] = x
      effort -= 1 + x - from
      if (x === n && x - k === m) return runsOf([...rounds, round], n, m)
    }
    places -= reached.length
    if (effort < 0 || places < 0) return undefined
    rounds.push(round)
    round = nextRound(round, d + 1, n, m)
  }
}

/** One round of the algorithm: the furthest place in `a` on every second diagonal, from the diagonal `low` on. */
interface Round {
  readonly low: number
  readonly reached: Int32Array
}

/**
 * Returns where round `d` starts on each diagonal: the place of the left neighbour plus 1 (which removes an element), or the place of the
 * right neighbour (which adds an element), whichever is further.
 */
function nextRound({ low: lowBefore, reached: before }: Round, d: number, n: number, m: number): Round {
  const low = -d + 2 * Math.max(0, d - m)
  const high = d - 2 * Math.max(0, d - n)
  const reached = new Int32Array((high - low) / 2 + 1)
  // The index of the left neighbour in `before`. A step from the left neighbour removes an element.
  let left = (low - 1 - lowBefore) / 2
  for (let at = 0; at < reached.length; at++, left++) {
    const removed = left < 0 ? NOWHERE : (before[left] as number) + 1
    const added = left + 1 >= before.length ? NOWHERE : (before[left + 1] as number)
    const byRemoving = removed > n ? NOWHERE : removed
    const byAdding = added - (low + 2 * at) > m ? NOWHERE : added
    reached[at] = byAdding > byRemoving ? byAdding : byRemoving
  }
  return { low, reached }
}

/** Returns the runs of equal elements on the path that the rounds have found. Follows the path back from its end. */
function runsOf(rounds: readonly Round[], n: number, m: number): readonly Run[] {
  const runs: Run[] = []
  let [x, k] = [n, n - m]
  for (let d = rounds.length - 1; d >= 0; d--) {
    const { low, reached } = rounds[d - 1] ?? { low: 0, reached: Int32Array.of() }
    const added = reached[(k + 1 - low) / 2] ?? NOWHERE
    const removed = (reached[(k - 1 - low) / 2] ?? NOWHERE) + 1
    const isAdded = added - k <= m && (added > removed || removed > n)
    const from = d === 0 ? 0 : isAdded ? added : removed
    if (x > from) runs.push({ a: from, b: from - k, length: x - from })
    x = isAdded ? from : from - 1
    k += isAdded ? 1 : -1
  }
  return runs.reverse()
}
