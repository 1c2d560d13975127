import type { Clock } from './clock.ts'

/**
 * Waits that end together: each ends on a multiple, of the wall clock, of the largest power of two that is no longer than asked for. So what
 * began at different moments, in different threads, shares one wake-up, and what follows from it shares posts and commits.
 */
export class Beats {
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #run: (work: () => void) => void
  readonly #due = new Map<number, Set<() => void>>()

  /** `run` is given everything that ends at one instant. */
  constructor(options: { readonly clock: Pick<Clock, 'nowMs'>; readonly run: (work: () => void) => void }) {
    this.#clock = options.clock
    this.#run = options.run
  }

  /** Runs `work` after about `waitMs`, at least 1; the returned function takes it back. The timer keeps no process alive. */
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
    setTimeout(end, ms).unref()
    return works
  }
}

/** Time to the next beat, or to the one after when the next is so near that a timer which came early would meet it twice. */
export function untilBeat(nowMs: number, waitMs: number): number {
  const stepMs = 2 ** Math.floor(Math.log2(waitMs))
  const ms = stepMs - (nowMs % stepMs)
  return ms * 4 <= stepMs ? ms + stepMs : ms
}
