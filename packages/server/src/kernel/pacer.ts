import type { Clock } from './clock.ts'
import type { Timers } from './timers.ts'

/** Above this many items per second, waiting one millisecond to gather items pays off. */
const PER_GAP_MS = 125
const MEMORY_MS = 100

/**
 * Spaces out a step that costs nearly the same for one item as for many. After a quiet time the step runs at once;
 * under load it runs at most every few milliseconds, for all items that came meanwhile. The gap grows with the load up
 * to `widestMs`. So a single edit never waits, and a busy relay has far fewer wake-ups and writes.
 */
export class Pacer {
  readonly #widestMs: number
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #timers: Timers
  readonly #run: () => void
  #lastMs = Number.NEGATIVE_INFINITY
  /** Decaying count of the items of about the last tenth of a second. */
  #load = 0
  #items = 0
  /** Cancels the run that waits. */
  #cancel: (() => void) | null = null

  constructor(options: {
    readonly widestMs: number
    readonly clock: Pick<Clock, 'monotonicMs'>
    readonly timers: Timers
    readonly run: () => void
  }) {
    this.#widestMs = options.widestMs
    this.#clock = options.clock
    this.#timers = options.timers
    this.#run = options.run
  }

  /**
   * Runs now when the last run is long enough ago, otherwise as soon as it is. `items`: how many items came since the
   * last request.
   */
  request(items = 1): void {
    this.#items += items
    if (this.#cancel !== null) return
    const waitMs = this.#lastMs + this.#gapMs() - this.#clock.monotonicMs()
    // A timer cannot wait less than a millisecond.
    if (waitMs < 0.5) this.now()
    else this.#cancel = this.#timers.after(waitMs, () => this.now())
  }

  /** Runs at once, for items that must not be late. */
  now(): void {
    this.#cancel?.()
    this.#cancel = null
    const nowMs = this.#clock.monotonicMs()
    this.#load = this.#load * Math.exp(Math.max(this.#lastMs - nowMs, -10_000) / MEMORY_MS) + this.#items
    this.#items = 0
    this.#lastMs = nowMs
    this.#run()
  }

  #gapMs(): number {
    return Math.min(this.#widestMs, (this.#load * 1000) / MEMORY_MS / PER_GAP_MS)
  }

  [Symbol.dispose](): void {
    this.#cancel?.()
    this.#cancel = null
  }
}
