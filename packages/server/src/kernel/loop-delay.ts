import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { Timers } from './timers.ts'

type Histogram = ReturnType<typeof monitorEventLoopDelay>

/** Interval of the timer whose lateness is the delay of the main loop. */
export const LAG_TIMER_MS = 20
/** Interval of that timer while the loop is at rest; longer, because each turn of the timer wakes the processor. */
export const RESTING_LAG_TIMER_MS = 200

const LOOK_MS = 1_000
/** A loop is at rest when it worked for less than this share of each of the last `RESTS_AFTER_LOOKS` seconds. */
const RESTING_SHARE = 0.05
const RESTS_AFTER_LOOKS = 10

/**
 * Returns the longest delay of the main loop, in seconds, from the longest time between two turns of the timer. The histogram of
 * Node records the whole time between two turns, which is `timerMs` for a loop that is never late.
 */
export function longestDelaySecs(longestBetweenTurnsMs: number, timerMs: number): number {
  return Math.max(0, longestBetweenTurnsMs - timerMs) / 1_000
}

/** Decides whether the loop is at rest, from the share of each second in which it worked. Uses no clock. */
export class LoopRest {
  #quietLooks = 0

  looked(share: number): 'at rest' | 'at work' {
    this.#quietLooks = share < RESTING_SHARE ? this.#quietLooks + 1 : 0
    return this.#quietLooks >= RESTS_AFTER_LOOKS ? 'at rest' : 'at work'
  }
}

/**
 * Measures the longest delay of the loop of this thread. A delay that begins while the loop is at rest may be reported 200 ms too
 * short; all others are accurate to 20 ms. [OPS-4]
 */
export class LoopDelay implements Disposable {
  readonly #timers: Timers
  readonly #rest = new LoopRest()
  #timerMs = LAG_TIMER_MS
  #histogram: Histogram
  #longestSecs = 0
  readonly #takeShare: () => number
  #cancel: () => void

  /** `takeShare`: returns the share of the time since its last call in which the loop worked. */
  constructor(timers: Timers, takeShare: () => number = shareOfLoop()) {
    this.#timers = timers
    this.#takeShare = takeShare
    this.#histogram = started(this.#timerMs)
    this.#cancel = this.#lookLater()
  }

  /** The current interval of the timer, in ms. */
  get timerMs(): number {
    return this.#timerMs
  }

  /** Returns the longest delay since the last call, in seconds. */
  takeSecs(): number {
    this.#note()
    this.#histogram.reset()
    const secs = this.#longestSecs
    this.#longestSecs = 0
    return secs
  }

  #lookLater(): () => void {
    return this.#timers.after(LOOK_MS, () => {
      this.#cancel = this.#lookLater()
      const timerMs = this.#rest.looked(this.#takeShare()) === 'at rest' ? RESTING_LAG_TIMER_MS : LAG_TIMER_MS
      if (timerMs !== this.#timerMs) this.#restart(timerMs)
    })
  }

  #restart(timerMs: number): void {
    this.#note()
    this.#histogram.disable()
    this.#timerMs = timerMs
    this.#histogram = started(timerMs)
  }

  #note(): void {
    // A histogram without samples has no maximum.
    if (this.#histogram.count === 0) return
    this.#longestSecs = Math.max(this.#longestSecs, longestDelaySecs(this.#histogram.max / 1e6, this.#timerMs))
  }

  [Symbol.dispose](): void {
    this.#cancel()
    this.#histogram.disable()
  }
}

function started(timerMs: number): Histogram {
  const histogram = monitorEventLoopDelay({ resolution: timerMs })
  histogram.enable()
  return histogram
}

function shareOfLoop(): () => number {
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return utilization
  }
}
