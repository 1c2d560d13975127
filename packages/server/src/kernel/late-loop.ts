import type { Clock } from './clock.ts'
import type { Timers } from './timers.ts'

const LOOK_MS = 100
/**
 * Time between checks after nobody has asked for `RESTS_AFTER_MS`, because each check wakes the processor. A delay that begins
 * then may be reported too short by this much. That does no harm, since the buckets of the rate limiter are full after such a
 * rest.
 */
const RESTING_LOOK_MS = 1_000
const RESTS_AFTER_MS = 10_000
/** A shorter delay is normal on a busy machine and is ignored. */
const LATE_MS = 100
/** Messages that waited during a delay are handled within this time after it. */
const KEPT_MS = 1_000

/**
 * Measures how long this thread was blocked and did not receive messages; afterwards they arrive all at once. A timer that fires late shows a past
 * delay, and a timer that is overdue a current one.
 */
export class LateLoop implements Disposable {
  private readonly clock: Clock
  private readonly timers: Timers
  private dueMs = 0
  private askedMs: number
  private lateMs = 0
  private keptUntilMs = 0
  private cancel: () => void

  constructor(clock: Clock, timers: Timers) {
    this.clock = clock
    this.timers = timers
    this.askedMs = clock.monotonicMs()
    this.cancel = this.lookLater(this.askedMs)
  }

  /** Returns the length of the delay from which messages may still be waiting; 0 when there was none. */
  delayMs(): number {
    const nowMs = this.clock.monotonicMs()
    const delayMs = this.delayAt(nowMs)
    const wasResting = this.isResting(nowMs)
    this.askedMs = nowMs
    if (wasResting) {
      this.cancel()
      this.look()
    }
    return delayMs
  }

  private delayAt(nowMs: number): number {
    const kept = nowMs < this.keptUntilMs ? this.lateMs : 0
    const overdueMs = nowMs - this.dueMs
    return overdueMs > LATE_MS ? kept + overdueMs : kept
  }

  private look(): void {
    const nowMs = this.clock.monotonicMs()
    if (nowMs - this.dueMs > LATE_MS) {
      this.lateMs = this.delayAt(nowMs)
      this.keptUntilMs = nowMs + KEPT_MS
    }
    this.cancel = this.lookLater(nowMs)
  }

  private lookLater(nowMs: number): () => void {
    const laterMs = this.isResting(nowMs) ? RESTING_LOOK_MS : LOOK_MS
    this.dueMs = nowMs + laterMs
    return this.timers.after(laterMs, () => this.look())
  }

  private isResting(nowMs: number): boolean {
    return nowMs - this.askedMs > RESTS_AFTER_MS
  }

  [Symbol.dispose](): void {
    this.cancel()
  }
}
