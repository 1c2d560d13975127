/** Timers as a parameter, so that tests can let an hour pass at once. Delays are measured on the monotonic clock. */
export interface Timers {
  /** Runs `run` once after at least `delayMs`; the returned function cancels it and may be called at any time. */
  after(delayMs: number, run: () => void): () => void
}

/** Real timers that do not keep the process alive, for periodic work and deadlines. */
export const systemTimers: Timers = {
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Real timers that keep the process alive until they fire or are cancelled, for a pause that somebody awaits. */
export const waitingTimers: Timers = {
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
}
