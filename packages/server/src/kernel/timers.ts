/** Waiting as a parameter, so that tests can let an hour pass at once. Delays are measured on the monotonic clock. */
export interface Timers {
  /** Runs `run` once after at least `delayMs`; the returned function cancels it and may be called at any time. */
  after(delayMs: number, run: () => void): () => void
}

/** Real timers; they do not keep the process alive. */
export const systemTimers: Timers = {
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
