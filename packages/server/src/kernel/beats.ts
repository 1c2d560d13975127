import type { Clock } from './clock.ts'
import type { Timers } from './timers.ts'

/**
 * Lets waits end together. Each wait ends on a multiple, on the wall clock, of the largest power of two that is not
 * longer than the wait. So work that began at different moments, in different threads, shares one wake-up, and its
 * messages and commits are shared too.
 */
export class Beats {
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #timers: Timers
  readonly #run: (work: () => void) => void
  readonly #due = new Map<number, Set<() => void>>()

  /** `run` is called with all work whose wait ends at the same time. */
  constructor(options: {
    readonly clock: Pick<Clock, 'nowMs'>
    readonly timers: Timers
    readonly run: (work: () => void) => void
  }) {
    this.#clock = options.clock
    this.#timers = options.timers
    this.#run = options.run
  }

  /** Runs `work` after about `waitMs`, at least 1; the returned function cancels it. */
  after(waitMs: number, work: () => void): () => void {
    const nowMs = this.#clock.nowMs()
    const ms = untilBeat(nowMs, waitMs)
    const works = this.#due.get(nowMs + ms) ?? this.#begin(nowMs + ms, ms)
    works.add(work)
    return () => void works.delete(work)
  }

  #begin(atMs: number, ms: number): Set<() => void> {
    const works = new Set<() => void>()
    this.#due.set(atMs, works)
    const end = (): void => {
      this.#due.delete(atMs)
      this.#run(() => {
        for (const work of works) work()
      })
    }
    this.#timers.after(ms, end)
    return works
  }
}

/**
 * Returns the time to the next beat. If the beat is so near that an early timer would meet it twice, returns the time to the beat after it.
 */
export function untilBeat(nowMs: number, waitMs: number): number {
  const stepMs = 2 ** Math.floor(Math.log2(waitMs))
  const ms = stepMs - (nowMs % stepMs)
  return ms * 4 <= stepMs ? ms + stepMs : ms
}
