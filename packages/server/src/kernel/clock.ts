/**
 * Time as a parameter. `nowMs` is the wall clock (dates, `exp`); `monotonicMs` never goes back and is for ages, grace, buckets and
 * timeouts, so that a jump of the wall clock changes none of them.
 */
export interface Clock {
  /** Milliseconds since 1970 UTC, integer. */
  nowMs(): number
  /** Milliseconds since some fixed point of this process, fractional. */
  monotonicMs(): number
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}
