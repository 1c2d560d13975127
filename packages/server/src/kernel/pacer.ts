import type { Clock } from './clock.ts'

/** Things per second at which a gap of one millisecond is worth its wait. */
const PER_GAP_MS = 125
const MEMORY_MS = 100

/**
 * Spaces out a step that costs nearly the same for one thing as for many: after a quiet time it runs at once, under load at most every few
 * milliseconds, with all that came in between. The gap grows with the load up to `widestMs`. So a lone edit never waits, and a busy relay does a
 * fraction of the wake-ups and writes.
 */
export class Pacer {
  readonly #widestMs: number
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #run: () => void
  #lastMs = Number.NEGATIVE_INFINITY
  /** A decaying count of what was asked for in about the last tenth of a second. */
  #load = 0
  #items = 0
  #timer: NodeJS.Timeout | null = null

  constructor(options: { readonly widestMs: number; readonly clock: Pick<Clock, 'monotonicMs'>; readonly run: () => void }) {
    this.#widestMs = options.widestMs
    this.#clock = options.clock
    this.#run = options.run
  }

  /** Runs now when the last run is long enough ago, else when it is. `items`: how many things came since the last request. */
  request(items = 1): void {
    this.#items += items
    if (this.#timer !== null) return
    const waitMs = this.#lastMs + this.#gapMs() - this.#clock.monotonicMs()
    // A timer cannot wait less than a millisecond.
    if (waitMs < 0.5) this.now()
    else this.#timer = setTimeout(() => this.now(), waitMs)
  }

  /** Runs without waiting, for what must not be late. */
  now(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
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
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}
