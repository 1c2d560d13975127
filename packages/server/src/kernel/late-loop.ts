import type { Clock } from './clock.ts'
import type { Timers } from './timers.ts'

const LOOK_MS = 100
/** A delay below this is usual on a busy machine. */
const LATE_MS = 100
/** What came meanwhile is handled within this time after a delay. */
const KEPT_MS = 1_000

/**
 * Knows how long this thread did not get to its messages: what was sent meanwhile arrives all at once. A timer that runs late shows it, and so does
 * one that is overdue.
 */
export class LateLoop implements Disposable {
  private readonly clock: Clock
  private readonly timers: Timers
  private dueMs: number
  private lateMs = 0
  private keptUntilMs = 0
  private cancel: () => void

  constructor(clock: Clock, timers: Timers) {
    this.clock = clock
    this.timers = timers
    this.dueMs = clock.monotonicMs() + LOOK_MS
    this.cancel = timers.after(LOOK_MS, () => this.look())
  }

  /** How long the delay lasted from which messages may still wait; 0 when there was none. */
  delayMs(): number {
    const nowMs = this.clock.monotonicMs()
    const kept = nowMs < this.keptUntilMs ? this.lateMs : 0
    const overdueMs = nowMs - this.dueMs
    return overdueMs > LATE_MS ? kept + overdueMs : kept
  }

  private look(): void {
    const nowMs = this.clock.monotonicMs()
    if (nowMs - this.dueMs > LATE_MS) {
      this.lateMs = this.delayMs()
      this.keptUntilMs = nowMs + KEPT_MS
    }
    this.dueMs = nowMs + LOOK_MS
    this.cancel = this.timers.after(LOOK_MS, () => this.look())
  }

  [Symbol.dispose](): void {
    this.cancel()
  }
}
