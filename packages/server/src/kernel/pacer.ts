import type { Clock } from './clock.ts'
import { Load } from './load.ts'
import { gapMs, LOAD_MEMORY_MS } from './schedule.ts'
import type { Timers } from './timers.ts'

/**
 * Spaces out a step that costs nearly the same for one item as for many. After a quiet time the step runs at once;
 * under load it runs at most every few milliseconds, for all items that came meanwhile. The gap grows with the load up
 * to `widestMs`. So a single edit never waits, and a busy relay has far fewer wake-ups and writes.
 */
export class Pacer {
  readonly #widestMs: number
  readonly #gap: (perSecond: number, widestMs: number) => number
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #timers: Timers
  readonly #run: () => void
  #lastMs = Number.NEGATIVE_INFINITY
  readonly #load = new Load(LOAD_MEMORY_MS)
  #items = 0
  /** Cancels the run that waits. */
  #cancel: (() => void) | null = null

  constructor(options: {
    readonly widestMs: number
    /** Returns the length of the gap at a load; default: `gapMs`. */
    readonly gap?: (perSecond: number, widestMs: number) => number
    readonly clock: Pick<Clock, 'monotonicMs'>
    readonly timers: Timers
    readonly run: () => void
  }) {
    this.#widestMs = options.widestMs
    this.#gap = options.gap ?? gapMs
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
    const gap = this.#gap(this.#load.perSecond(this.#lastMs), this.#widestMs)
    const waitMs = this.#lastMs + gap - this.#clock.monotonicMs()
    // A timer cannot wait less than a millisecond.
    if (waitMs < 0.5) this.now()
    else this.#cancel = this.#timers.after(waitMs, () => this.now())
  }

  /** Runs at once, for items that must not be late. */
  now(): void {
    this.#cancel?.()
    this.#cancel = null
    const nowMs = this.#clock.monotonicMs()
    this.#load.add(this.#items, nowMs)
    this.#items = 0
    this.#lastMs = nowMs
    this.#run()
  }

  [Symbol.dispose](): void {
    this.#cancel?.()
    this.#cancel = null
  }
}
