/** Number and bytes of the call records of a document. */
export interface CallTally {
  readonly count: number
  readonly bytes: number
}

/** Maximum number of documents whose tally is remembered. */
const MOST_REMEMBERED = 10_000

/**
 * Remembers for each document upper bounds of the number and bytes of its call records, so that a new call need not read all others to find that none
 * is beyond the limits. A document never has more than its tally, even when a transaction that set the tally was rolled back. [AG-67]
 */
export class CallTallies {
  readonly #byKey = new Map<number, CallTally>()

  /** Returns the tally of a document; `null` when it is unknown. */
  of(key: number): CallTally | null {
    return this.#byKey.get(key) ?? null
  }

  set(key: number, tally: CallTally): void {
    if (this.#byKey.size >= MOST_REMEMBERED && !this.#byKey.has(key)) this.#byKey.clear()
    this.#byKey.set(key, tally)
  }
}
