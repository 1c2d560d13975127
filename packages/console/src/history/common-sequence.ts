import { longestRising } from '@docrelay/model/longest-rising'

/** The same thing in two lists, by its index in each. */
export interface Pair {
  readonly before: number
  readonly after: number
}

/** Limit of the exact comparison, which takes time and memory for every pair of entries. */
const MAX_CELLS = 1_000_000

/**
 * Returns a longest common subsequence of two lists, compared by `===`: the common start, the common end, and what is common between them.
 * Where that would be more than a million comparisons, only entries that occur once in each list count between start and end.
 */
export function commonSequence(before: readonly unknown[], after: readonly unknown[]): readonly Pair[] {
  const most = Math.min(before.length, after.length)
  let start = 0
  while (start < most && before[start] === after[start]) start++
  let end = 0
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  const pairs: Pair[] = Array.from({ length: start }, (_, i) => ({ before: i, after: i }))
  const middle = [before.slice(start, before.length - end), after.slice(start, after.length - end)] as const
  const isExact = middle[0].length * middle[1].length <= MAX_CELLS
  for (const pair of isExact ? longestCommon(...middle) : uniqueCommon(...middle))
    pairs.push({ before: pair.before + start, after: pair.after + start })
  for (let i = end; i > 0; i--) pairs.push({ before: before.length - i, after: after.length - i })
  return pairs
}

function longestCommon(before: readonly unknown[], after: readonly unknown[]): readonly Pair[] {
  const width = after.length + 1
  // lengths[i * width + j]: of the longest common subsequence of what begins at i and at j.
  const lengths = new Uint32Array((before.length + 1) * width)
  const at = (i: number, j: number) => lengths[i * width + j] as number
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      lengths[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const pairs: Pair[] = []
  for (let i = 0, j = 0; i < before.length && j < after.length; ) {
    if (before[i] === after[j]) pairs.push({ before: i++, after: j++ })
    else if (at(i + 1, j) >= at(i, j + 1)) i++
    else j++
  }
  return pairs
}

function uniqueCommon(before: readonly unknown[], after: readonly unknown[]): readonly Pair[] {
  const [left, right] = [uniques(before), uniques(after)]
  const pairs = [...right].flatMap(([entry, index]) => {
    const other = left.get(entry)
    return other === undefined ? [] : [{ before: other, after: index }]
  })
  return longestRising(pairs, (pair) => pair.before)
}

/** The index of each entry that occurs once, in order. */
function uniques(list: readonly unknown[]): ReadonlyMap<unknown, number> {
  const places = new Map<unknown, number>()
  for (const [index, entry] of list.entries()) places.set(entry, places.has(entry) ? -1 : index)
  return new Map([...places].filter(([, index]) => index >= 0))
}
