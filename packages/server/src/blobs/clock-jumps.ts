import type { Clock } from '../kernel/clock.ts'

/** A smaller step of the wall clock does not count as a jump. */
const MAX_DRIFT_MS = 60_000

/**
 * Makes a function that returns whether ages by the wall clock can be trusted. After a jump of the wall clock they cannot, until `graceMs` have
 * passed on the monotonic clock: by then everything from before the jump is really that old. [BLOB-15]
 */
export function createClockJumps(clock: Clock, graceMs: number): () => boolean {
  let lookedMs = { wall: clock.nowMs(), monotonic: clock.monotonicMs() }
  let trustedFromMs = Number.NEGATIVE_INFINITY
  return () => {
    const nowMs = { wall: clock.nowMs(), monotonic: clock.monotonicMs() }
    const jumpMs = nowMs.wall - lookedMs.wall - (nowMs.monotonic - lookedMs.monotonic)
    if (Math.abs(jumpMs) > MAX_DRIFT_MS) trustedFromMs = nowMs.monotonic + graceMs
    lookedMs = nowMs
    return nowMs.monotonic >= trustedFromMs
  }
}
