/** Refusals further apart than this are not counted together. */
const WINDOW_MS = 60_000
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 10_000
const KEPT = 10_000

/**
 * Decides how long the close after a failed AUTH is delayed: 0 s the first time, then 0.5 s, doubling up to 10 s. The delay is needed
 * because some clients reconnect at once after any close code. Pure: the caller passes address, subject and time. [WS-16]
 */
export class RefusedSignIns {
  readonly #refused = new Map<string, { readonly count: number; readonly atMs: number }>()

  /** `who`: the verified subject, or the reason of the refusal when the token could not be verified. */
  waitMs(address: string, who: string, nowMs: number): number {
    const key = `${address}\n${who}`
    const earlier = this.#refused.get(key)
    const count = earlier !== undefined && nowMs - earlier.atMs < WINDOW_MS ? earlier.count + 1 : 1
    // Deleting and setting the key again makes it the newest entry.
    this.#refused.delete(key)
    this.#refused.set(key, { count, atMs: nowMs })
    for (const oldest of this.#refused.keys()) {
      if (this.#refused.size <= KEPT) break
      this.#refused.delete(oldest)
    }
    return count === 1 ? 0 : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(count - 2, 10))
  }

  /** Number of remembered refusals. */
  get size(): number {
    return this.#refused.size
  }
}
