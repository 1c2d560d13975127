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
  // Numbers, because entries may be long texts that begin alike.
  const numbers = new Map<unknown, number>()
  const numberOf = (entry: unknown): number => {
    const number = numbers.get(entry) ?? numbers.size
    numbers.set(entry, number)
    return number
  }
  return new Comparison(before.map(numberOf), after.map(numberOf)).pairs
}

/** Parts of two lists: from an index, up to another one that is not in it. */
interface Parts {
  readonly before: readonly [from: number, to: number]
  readonly after: readonly [from: number, to: number]
}

class Comparison {
  readonly pairs: Pair[] = []
  readonly #before: readonly number[]
  readonly #after: readonly number[]
  #cellsLeft = ALL_CELLS

  constructor(before: readonly number[], after: readonly number[]) {
    this.#before = before
    this.#after = after
    this.#compare({ before: [0, before.length], after: [0, after.length] }, MAX_DEPTH)
  }

  #compare({ before: [i, beforeEnd], after: [j, afterEnd] }: Parts, depth: number): void {
    const most = Math.min(beforeEnd - i, afterEnd - j)
    let start = 0
    while (start < most && this.#before[i + start] === this.#after[j + start]) start++
    let end = 0
    while (end < most - start && this.#before[beforeEnd - 1 - end] === this.#after[afterEnd - 1 - end]) end++
    this.#run(i, j, start)
    this.#compareMiddle({ before: [i + start, beforeEnd - end], after: [j + start, afterEnd - end] }, depth)
    this.#run(beforeEnd - end, afterEnd - end, end)
  }

  #run(before: number, after: number, length: number): void {
    for (let n = 0; n < length; n++) this.pairs.push({ before: before + n, after: after + n })
  }

  #compareMiddle({ before: [i, beforeEnd], after: [j, afterEnd] }: Parts, depth: number): void {
    const cells = (beforeEnd - i) * (afterEnd - j)
    if (cells === 0) return
    const [old, now] = [this.#before.slice(i, beforeEnd), this.#after.slice(j, afterEnd)]
    if (cells <= Math.min(MAX_CELLS, this.#cellsLeft)) {
      this.#cellsLeft -= cells
      for (const pair of longestCommon(old, now)) this.pairs.push({ before: pair.before + i, after: pair.after + j })
    } else if (depth > 0) this.#divide({ before: [i, beforeEnd], after: [j, afterEnd] }, uniqueCommon(old, now), depth - 1)
  }

  /** `pairs` count from the beginning of the parts. */
  #divide({ before: [i, beforeEnd], after: [j, afterEnd] }: Parts, pairs: readonly Pair[], depth: number): void {
    if (pairs.length === 0) return
    let [atBefore, atAfter] = [i, j]
    for (const pair of pairs) {
      const [before, after] = [i + pair.before, j + pair.after]
      this.#compare({ before: [atBefore, before], after: [atAfter, after] }, depth)
      this.pairs.push({ before, after })
      atBefore = before + 1
      atAfter = after + 1
    }
    this.#compare({ before: [atBefore, beforeEnd], after: [atAfter, afterEnd] }, depth)
  }
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
