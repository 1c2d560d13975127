import { longestRising } from '@docrelay/model/longest-rising'

/** An entry that two lists have in common, by its index in each. */
export interface Pair {
  readonly before: number
  readonly after: number
}

/** Limit on the pairs of entries of one exact comparison, which takes time and memory for each pair. */
const MAX_CELLS = 1_000_000
/** Limit on the pairs of entries of all exact comparisons of two lists together. */
const ALL_CELLS = 20_000_000
/** How many times a part between common entries is divided again by the entries that occur once in it. */
const MAX_DEPTH = 8

/**
 * Returns a common subsequence of two lists, with entries compared by `===`. It is a longest one when the parts between the common start and
 * the common end have at most a million pairs of entries. Longer parts are divided at the entries that occur once in each list, and each
 * division is compared in the same way; the result may then be shorter than possible.
 */
export function commonSequence(before: readonly unknown[], after: readonly unknown[]): readonly Pair[] {
  const numbers = new Map<unknown, number>()
  // Compares numbers instead of the entries, because entries may be long texts with the same beginning.
  const numbered = (list: readonly unknown[]) =>
    list.map((entry) => {
      const number = numbers.get(entry) ?? numbers.size
      numbers.set(entry, number)
      return number
    })
  const [old, now] = [numbered(before), numbered(after)]
  const pairs: Pair[] = []
  let cellsLeft = ALL_CELLS
  const compare = (i: number, j: number, oldEnd: number, nowEnd: number, depth: number): void => {
    while (i < oldEnd && j < nowEnd && old[i] === now[j]) pairs.push({ before: i++, after: j++ })
    let end = 0
    while (i < oldEnd - end && j < nowEnd - end && old[oldEnd - end - 1] === now[nowEnd - end - 1]) end++
    const middle = [old.slice(i, oldEnd - end), now.slice(j, nowEnd - end)] as const
    const cells = middle[0].length * middle[1].length
    const isExact = cells <= Math.min(MAX_CELLS, cellsLeft)
    if (isExact) cellsLeft -= cells
    const found = isExact ? longestCommon(...middle) : uniqueCommon(...middle)
    let [fromOld, fromNow] = [i, j]
    const goOnTo = (toOld: number, toNow: number): void => {
      if (!isExact && depth > 0 && found.length > 0) compare(fromOld, fromNow, toOld, toNow, depth - 1)
      fromOld = toOld + 1
      fromNow = toNow + 1
    }
    for (const pair of found) {
      const [atOld, atNow] = [i + pair.before, j + pair.after]
      goOnTo(atOld, atNow)
      pairs.push({ before: atOld, after: atNow })
    }
    goOnTo(oldEnd - end, nowEnd - end)
    for (; end > 0; end--) pairs.push({ before: oldEnd - end, after: nowEnd - end })
  }
  compare(0, 0, old.length, now.length, MAX_DEPTH)
  return pairs
}

function longestCommon(before: readonly number[], after: readonly number[]): readonly Pair[] {
  const width = after.length + 1
  // lengths[i * width + j] is the length of the longest common subsequence of `before` from i on and `after` from j on.
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

function uniqueCommon(before: readonly number[], after: readonly number[]): readonly Pair[] {
  const [left, right] = [uniques(before), uniques(after)]
  const pairs = [...right].flatMap(([entry, index]) => {
    const other = left.get(entry)
    return other === undefined ? [] : [{ before: other, after: index }]
  })
  return longestRising(pairs, (pair) => pair.before)
}

/** Returns the index of each entry that occurs exactly once, in the order of the list. */
function uniques(list: readonly number[]): ReadonlyMap<number, number> {
  const places = new Map<number, number>()
  for (const [index, entry] of list.entries()) places.set(entry, places.has(entry) ? -1 : index)
  return new Map([...places].filter(([, index]) => index >= 0))
}
