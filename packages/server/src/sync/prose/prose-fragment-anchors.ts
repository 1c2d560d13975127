/** A row of elements that two sequences have in common: the indexes in both sequences where the row begins, and its length. */
export interface Run {
  readonly a: number
  readonly b: number
  readonly length: number
}

/**
 * Finds windows of `size` elements that stand exactly once in each of two sequences. Returns a largest set of such windows with the same
 * order in both sequences. Windows that continue each other become one run. Takes at most as long as sorting the windows, for any content.
 */
export function commonRuns(a: Int32Array, b: Int32Array, size: number): readonly Run[] {
  if (a.length < size || b.length < size) return []
  const runs: Run[] = []
  let last: { a: number; b: number; length: number } | undefined
  for (const [i, j] of longestIncreasing(pairsOf(a, b, size))) {
    const [aEnd, bEnd] = last === undefined ? [0, 0] : [last.a + last.length, last.b + last.length]
    if (last !== undefined && i - j === last.a - last.b && i <= aEnd) last.length = i + size - last.a
    // Windows that overlap on different diagonals cannot both be kept.
    else if (i >= aEnd && j >= bEnd) runs.push((last = { a: i, b: j, length: size }))
  }
  return runs
}

type Pair = readonly [number, number]

/** Returns the indexes of each window that stands once in each sequence, in the order of the first sequence. */
function pairsOf(a: Int32Array, b: Int32Array, size: number): readonly Pair[] {
  const [inA, inB] = [hashes(a, size), hashes(b, size)]
  const table = new Table(inA.length)
  inA.forEach((hash, at) => table.add(hash, at))
  const places = new Int32Array(inA.length).fill(NONE)
  inB.forEach((hash, at) => {
    const i = table.placeOf(hash)
    if (i >= 0) places[i] = places[i] === NONE ? at : MANY
  })
  const pairs: Pair[] = []
  places.forEach((j, i) => {
    // Different windows may have the same hash.
    if (j >= 0 && isSame(a, i, b, j, size)) pairs.push([i, j])
  })
  return pairs
}

const NONE = -1
const MANY = -2

function isSame(a: Int32Array, i: number, b: Int32Array, j: number, size: number): boolean {
  for (let at = 0; at < size; at++) if (a[i + at] !== b[j + at]) return false
  return true
}

/** Returns a rolling hash of each window. */
function hashes(list: Int32Array, size: number): Int32Array {
  const out = new Int32Array(list.length - size + 1)
  let leaving = 1
  for (let i = 1; i < size; i++) leaving = Math.imul(leaving, FACTOR)
  let hash = 0
  for (let i = 0; i < list.length; i++) {
    if (i >= size) hash = (hash - Math.imul(list[i - size] as number, leaving)) | 0
    hash = (Math.imul(hash, FACTOR) + (list[i] as number)) | 0
    if (i >= size - 1) out[i - size + 1] = hash
  }
  return out
}

const FACTOR = 0x01_00_01_93

/** A hash table from window hashes to window indexes. A hash that was added twice has no index. A `Map` takes ten times as long. */
class Table {
  readonly #hashes: Int32Array
  readonly #places: Int32Array

  constructor(count: number) {
    const slots = 2 ** Math.ceil(Math.log2(count * 2 + 1))
    this.#hashes = new Int32Array(slots)
    this.#places = new Int32Array(slots).fill(NONE)
  }

  add(hash: number, place: number): void {
    const slot = this.#slotOf(hash)
    if (slot < 0) return
    this.#hashes[slot] = hash
    this.#places[slot] = this.#places[slot] === NONE ? place : MANY
  }

  placeOf(hash: number): number {
    const slot = this.#slotOf(hash)
    return slot < 0 ? NONE : (this.#places[slot] as number)
  }

  /**
   * Returns the slot of a hash, or a free slot for it. Gives up and returns -1 after 32 slots of other hashes, because hostile content can
   * send all hashes to the same slot.
   */
  #slotOf(hash: number): number {
    const mask = this.#hashes.length - 1
    const start = Math.imul(hash ^ (hash >>> 15), 0x2c_1b_3c_6d) >>> 8
    for (let step = 0; step < 32; step++) {
      const slot = (start + step) & mask
      if (this.#places[slot] === NONE || this.#hashes[slot] === hash) return slot
    }
    return -1
  }
}

/** Returns a longest chain of pairs in which both numbers increase. `pairs` must be sorted by their first number. */
function longestIncreasing(pairs: readonly Pair[]): readonly Pair[] {
  // By length of a chain minus 1: the pair with the lowest second number that ends a chain of this length.
  const ends = new Int32Array(pairs.length)
  const before = new Int32Array(pairs.length).fill(NONE)
  let length = 0
  pairs.forEach(([, j], at) => {
    let [low, high] = [0, length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((pairs[ends[middle] as number] as Pair)[1] < j) low = middle + 1
      else high = middle
    }
    if (low > 0) before[at] = ends[low - 1] as number
    ends[low] = at
    if (low === length) length++
  })
  const chain: Pair[] = []
  for (let at = length === 0 ? NONE : (ends[length - 1] as number); at !== NONE; at = before[at] as number)
    chain.push(pairs[at] as Pair)
  return chain.reverse()
}
