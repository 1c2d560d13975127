/** Records of calls and their bytes. */
export interface CallTally {
  readonly count: number
  readonly bytes: number
}

/** Documents whose tally is remembered. */
const MOST_REMEMBERED = 10_000

/**
 * Remembers for each document how many calls it has at most, so that a new one does not read all others to find that none
 * is beyond the bounds. A document has never more than its tally says, whatever becomes of the transactions that set it.
 * [AG-67]
 */
export class CallTallies {
  readonly #byKey = new Map<number, CallTally>()

  /** `null` when it is not known. */
  of(key: number): CallTally | null {
    return this.#byKey.get(key) ?? null
  }

  set(key: number, tally: CallTally): void {
    if (this.#byKey.size >= MOST_REMEMBERED && !this.#byKey.has(key)) this.#byKey.clear()
    this.#byKey.set(key, tally)
  }
}
