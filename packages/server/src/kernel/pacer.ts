import type { Clock } from './clock.ts'

/**
 * Spaces out a step that costs the same for one thing as for many: after a quiet time it runs at once, under load at most every `gapMs`, with all
 * that came in between. So a lone edit never waits, and a busy relay does a fraction of the wake-ups and writes.
 */
export class Pacer {
  readonly #gapMs: number
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #run: () => void
  #lastMs = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | null = null

  constructor(options: { readonly gapMs: number; readonly clock: Pick<Clock, 'monotonicMs'>; readonly run: () => void }) {
    this.#gapMs = options.gapMs
    this.#clock = options.clock
    this.#run = options.run
  }

  /** Runs now when the last run is long enough ago, else when it is; further requests until then are the same one. */
  request(): void {
    if (this.#timer !== null) return
    const waitMs = this.#lastMs + this.#gapMs - this.#clock.monotonicMs()
    if (waitMs <= 0) return this.now()
    this.#timer = setTimeout(() => this.now(), waitMs)
  }

  /** Runs without waiting, for what must not be late. */
  now(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#lastMs = this.#clock.monotonicMs()
    this.#run()
  }

  [Symbol.dispose](): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}
