import { type EventLoopUtilization, performance } from 'node:perf_hooks'

/**
 * The share is averaged over this many readings. After a restart all people join within a few seconds, and the loop works hard only for
 * this time, which must not count as a busy loop.
 */
const READINGS = 20

/** Measures for which share of its time the event loop of this thread works, averaged over the last readings. */
export class LoopUse {
  #share = 0
  #last: EventLoopUtilization = performance.eventLoopUtilization()

  get share(): number {
    return this.#share
  }

  /** Measures the share of the time since the last call for which the loop has worked. */
  read(): void {
    const now = performance.eventLoopUtilization()
    this.#share += (performance.eventLoopUtilization(now, this.#last).utilization - this.#share) / READINGS
    this.#last = now
  }
}
