import type { Clock } from '../kernel/clock.ts'
import type { DocumentStore } from '../documents/document-store.port.ts'
import type { Residents } from '../documents/residents.port.ts'
import type { Logger } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Timers } from '../kernel/timers.ts'
import type { ShareLinkStore } from '../share-links/share-link-store.port.ts'

const EVERY_MS = 60_000
/** Where something ends at once, the next look is the one that ends it. [CFG-8] */
const AT_ONCE_MS = 1_000
const PAUSE_MS = 100
const BATCH = 500
const SETTLE_EVERY_MS = 10 * 60_000
const LOOKED_AT = 2_000
/** Each becomes resident for a while. */
const SETTLED_AT_A_TIME = 4
/** At most a hundredth of the time goes into totals. */
const TOTALS_PAUSE = 100
const DAY_MS = 86_400_000

/** Something that has outlived its time, removed in batches so small that no edit waits for one. [LIFE-30] */
export interface MaintenanceJob {
  /** For the log. */
  readonly name: string
  readonly everyMs: number
  /** One batch; answers whether there is more, which is then taken after a pause. */
  run(): Promise<boolean>
}

/** How often to look for what ends `afterMs` after something: not later than that again, and once a minute is enough. */
export function lookEveryMs(afterMs: number): number {
  return Math.min(EVERY_MS, Math.max(AT_ONCE_MS, afterMs))
}

/** [LIFE-24] */
export function tombstoneJob(store: Pick<DocumentStore, 'purgeTombstones'>, clock: Clock, days: number): MaintenanceJob {
  return {
    name: 'tombstones',
    everyMs: lookEveryMs(days * DAY_MS),
    async run() {
      // Nothing is older than the epoch, and no store holds a number as large as the longest time allowed.
      const beforeMs = Math.max(0, clock.nowMs() - days * DAY_MS)
      return (await store.purgeTombstones(beforeMs, BATCH)) === BATCH
    },
  }
}

/** [TOOL-22] */
export function rememberedJob(store: Pick<DocumentStore, 'purgeRemembered'>, clock: Clock, keptMs: number): MaintenanceJob {
  return {
    name: 'request ids',
    everyMs: lookEveryMs(keptMs),
    run: async () => (await store.purgeRemembered(clock.nowMs() - keptMs, BATCH)) === BATCH,
  }
}

/**
 * Stores what was edited in documents that nobody has open: a process that ended at once leaves bodies behind their logs, and until somebody
 * opened them, blobs of their workspaces could not be released. One that cannot be stored is met again with the next look. [LIFE-30]
 */
export function settlingJob(
  store: Pick<DocumentStore, 'behind'>,
  residents: Pick<Residents, 'isResident' | 'settle'>,
): MaintenanceJob {
  let afterKey = 0
  return {
    name: 'edits',
    everyMs: SETTLE_EVERY_MS,
    async run() {
      const { documents, nextKey } = await store.behind(afterKey, LOOKED_AT)
      const cold = documents.filter((document) => !residents.isResident(document))
      const taken = cold.slice(0, SETTLED_AT_A_TIME)
      await Promise.allSettled(taken.map((document) => residents.settle(document)))
      afterKey = (cold.length > taken.length ? taken.at(-1)?.key : nextKey) ?? 0
      return afterKey > 0
    },
  }
}

/** [SHARE-3] */
export function shareLinkJob(store: Pick<ShareLinkStore, 'purgeExpired'>, clock: Clock): MaintenanceJob {
  return {
    name: 'share links',
    everyMs: EVERY_MS,
    run: async () => (await store.purgeExpired(clock.nowMs(), BATCH)) === BATCH,
  }
}

/** Totals of the store for the metrics; the longer they take, the less often. [OPS-3, OPS-4] */
export function totalsJob(
  metrics: Pick<Metrics, 'set'>,
  totals: () => Promise<{
    readonly documentBytes: number
    readonly blobBytes: number
    readonly unownedDocuments: number
    readonly recoveryPoints: number
  }>,
  clock: Clock,
): MaintenanceJob {
  let notBeforeMs = Number.NEGATIVE_INFINITY
  return {
    name: 'totals',
    everyMs: EVERY_MS,
    async run() {
      const startedMs = clock.monotonicMs()
      if (startedMs < notBeforeMs) return false
      const { documentBytes, blobBytes, unownedDocuments, recoveryPoints } = await totals()
      const endedMs = clock.monotonicMs()
      notBeforeMs = endedMs + (endedMs - startedMs) * TOTALS_PAUSE
      metrics.set('relay_storage_bytes_total', documentBytes + blobBytes)
      metrics.set('relay_doc_bytes_total', documentBytes)
      metrics.set('relay_unowned_documents', unownedDocuments)
      metrics.set('relay_version_points_total', recoveryPoints)
      return false
    },
  }
}

/** Runs every job now and then in its own time, one batch at a time. Disposing waits for the batches under way. */
export function startMaintenance(deps: {
  readonly jobs: readonly MaintenanceJob[]
  readonly timers: Timers
  readonly log: Logger
}): AsyncDisposable {
  const running = deps.jobs.map((job) => startJob(job, deps.timers, deps.log))
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(running.map((job) => job[Symbol.asyncDispose]()))
    },
  }
}

function startJob(job: MaintenanceJob, timers: Timers, log: Logger): AsyncDisposable {
  let closed = false
  let running: Promise<void> = Promise.resolve()
  let cancel: () => void = () => {}

  const round = async (): Promise<void> => {
    let more = false
    try {
      more = await job.run()
    } catch (error) {
      log.warn('maintenance.failed', 'What has outlived its time could not be removed; it is tried again.', {
        job: job.name,
        detail: String(error),
      })
    }
    if (!closed) cancel = timers.after(more ? PAUSE_MS : job.everyMs, start)
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
