/**
 * Time as a parameter. `nowMs` is the wall clock, for dates and `exp`. `monotonicMs` never goes back; it is for ages,
 * grace periods, buckets and timeouts, so a jump of the wall clock changes none of these.
 */
export interface Clock {
  /** Milliseconds since 1970 UTC, integer. */
  nowMs(): number
  /** Milliseconds since a fixed moment of this process, with fractions. */
  monotonicMs(): number
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}
