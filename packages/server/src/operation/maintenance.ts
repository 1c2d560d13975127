import type { DocumentStore } from '../documents/document-store.port.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import type { Timers } from '../kernel/timers.ts'

const EVERY_MS = 60_000
/** Where deleted ids are free at once, the next look is the one that frees them. [CFG-8] */
const AT_ONCE_MS = 1_000
const BATCH = 500
const DAY_MS = 86_400_000

/** Removes what has outlived its time, in small batches with pauses between, so that no edit waits for it. [LIFE-24, LIFE-30] */
export function startMaintenance(deps: {
  readonly store: Pick<DocumentStore, 'purgeTombstones'>
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  readonly tombstoneDays: number
}): AsyncDisposable {
  let closed = false
  let running: Promise<void> = Promise.resolve()
  let cancel: () => void = () => {}
  const everyMs = deps.tombstoneDays === 0 ? AT_ONCE_MS : EVERY_MS

  const round = async (): Promise<void> => {
    let full = false
    try {
      // Nothing is older than the epoch, and no store holds a number as large as the longest time allowed.
      const beforeMs = Math.max(0, deps.clock.nowMs() - deps.tombstoneDays * DAY_MS)
      const purged = await deps.store.purgeTombstones(beforeMs, BATCH)
      full = purged === BATCH
    } catch (error) {
      deps.log.warn('maintenance.failed', 'Old tombstones could not be removed; it is tried again.', { error })
    }
    if (!closed) cancel = deps.timers.after(full ? 100 : everyMs, start)
  }
  const start = (): void => {
    running = round()
  }
  start()

  return {
    async [Symbol.asyncDispose]() {
      closed = true
      cancel()
      await running
    },
  }
}
