import { longestRising } from '@docrelay/model/longest-rising'

/** The same thing in two lists, by its index in each. */
export interface Pair {
  readonly before: number
  readonly after: number
}

/** Limit of one exact comparison, which takes time and memory for every pair of entries. */
const MAX_CELLS = 1_000_000
/** Limit of all exact comparisons of two lists that differ in many places. */
const ALL_CELLS = 20_000_000
/** How often what lies between common entries is searched for entries that are rare there. */
const MAX_DEPTH = 8

/**
 * Returns a longest common subsequence of two lists, compared by `===`: the common start, the common end, and what is common between them.
 * Where that would be more than a million comparisons, the entries that occur once in each list divide what lies between start and end, and
 * each part is compared in the same way.
 */
export function commonSequence(before: readonly unknown[], after: readonly unknown[]): readonly Pair[] {
  const numbers = new Map<unknown, number>()
  // Numbers, because entries may be long texts that begin alike.
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

function uniqueCommon(before: readonly number[], after: readonly number[]): readonly Pair[] {
  const [left, right] = [uniques(before), uniques(after)]
  const pairs = [...right].flatMap(([entry, index]) => {
    const other = left.get(entry)
    return other === undefined ? [] : [{ before: other, after: index }]
  })
  return longestRising(pairs, (pair) => pair.before)
}

/** The index of each entry that occurs once, in order. */
function uniques(list: readonly number[]): ReadonlyMap<number, number> {
  const places = new Map<number, number>()
  for (const [index, entry] of list.entries()) places.set(entry, places.has(entry) ? -1 : index)
  return new Map([...places].filter(([, index]) => index >= 0))
}
