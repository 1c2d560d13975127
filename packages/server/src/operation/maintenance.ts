import type { Clock } from '../kernel/clock.ts'
import type { CallStore } from '../documents/call-store.port.ts'
import type { DocumentStore } from '../documents/document-store.port.ts'
import type { Residents } from '../documents/residents.port.ts'
import type { Logger } from '../kernel/log.ts'
import type { FeedBounds } from '../feed/feed-table.port.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Timers } from '../kernel/timers.ts'
import type { ShareLinkStore } from '../share-links/share-link-store.port.ts'

const EVERY_MS = 60_000
/** Shortest interval of a job: data that expires at once is removed within this time. [CFG-8] */
const AT_ONCE_MS = 1_000
const PAUSE_MS = 100
const BATCH = 500
/** Call records removed in one batch. One record may have 1 MiB. */
const CALL_BATCH = 50
const SETTLE_EVERY_MS = 10 * 60_000
const LOOKED_AT = 2_000
/** Documents settled in one batch. Each document becomes resident for a while. */
const SETTLED_AT_A_TIME = 4
/** After the totals were computed, the job pauses for a hundred times as long. */
const TOTALS_PAUSE = 100
const DAY_MS = 86_400_000

/** Removes expired data in batches so small that no edit waits for one. [LIFE-30] */
export interface MaintenanceJob {
  /** Name for the log. */
  readonly name: string
  readonly everyMs: number
  /** Runs one batch; returns whether there is more, which follows after a pause. */
  run(): Promise<boolean>
}

/** Returns the interval in ms of a job that removes data which expires after `afterMs`: that time, but from one second to one minute. */
export function lookEveryMs(afterMs: number): number {
  return Math.min(EVERY_MS, Math.max(AT_ONCE_MS, afterMs))
}

/** Removes tombstones that are older than `days` days. [LIFE-24] */
export function tombstoneJob(store: Pick<DocumentStore, 'purgeTombstones'>, clock: Clock, days: number): MaintenanceJob {
  return {
    name: 'tombstones',
    everyMs: lookEveryMs(days * DAY_MS),
    async run() {
      // Times before 1970 are not needed, and a store cannot hold a number as large as the longest allowed time.
      const beforeMs = Math.max(0, clock.nowMs() - days * DAY_MS)
      return (await store.purgeTombstones(beforeMs, BATCH)) === BATCH
    },
  }
}

/** Removes expired entries of Y client ids from former lives of documents. [WS-62] */
export function formerClientsJob(store: Pick<DocumentStore, 'purgeFormerClients'>, clock: Clock): MaintenanceJob {
  return {
    name: 'former clients',
    everyMs: EVERY_MS,
    run: async () => (await store.purgeFormerClients(clock.nowMs(), BATCH)) === BATCH,
  }
}

/**
 * Gives a lineage to documents that an older release made: to all of them after the start, later to those that such a release makes while this one
 * runs. [WS-61, LIFE-29]
 */
export function lineageJob(store: Pick<DocumentStore, 'giveLineages'>): MaintenanceJob {
  let afterKey = 0
  return {
    name: 'lineages',
    everyMs: EVERY_MS,
    async run() {
      const { lastKey, more } = await store.giveLineages(afterKey, BATCH)
      afterKey = lastKey
      return more
    },
  }
}

/** Removes remembered request ids `keptMs` after their write. [TOOL-22] */
export function rememberedJob(store: Pick<DocumentStore, 'purgeRemembered'>, clock: Clock, keptMs: number): MaintenanceJob {
  return {
    name: 'request ids',
    everyMs: lookEveryMs(keptMs),
    run: async () => (await store.purgeRemembered(clock.nowMs() - keptMs, BATCH)) === BATCH,
  }
}

/** Maximum size of the change feed in bytes; above it the oldest rows are removed. [FEED-3] */
const MOST_FEED_BYTES = 1024 ** 3
/** Rows of the revocation feed are kept for this long. Nodes read them within seconds. The revocations themselves are kept elsewhere. [AUTH-14] */
const REVOCATIONS_TOLD_MS = 15 * 60_000

interface PurgesFeed {
  purge(bounds: FeedBounds): Promise<boolean>
}

/** Removes rows of the change feed that are too old or too many. [FEED-3] */
export function changeFeedJob(feed: PurgesFeed, keepDays: number): MaintenanceJob {
  return {
    name: 'change feed',
    everyMs: EVERY_MS,
    run: () => feed.purge({ keptMs: keepDays * DAY_MS, mostBytes: MOST_FEED_BYTES, limit: BATCH }),
  }
}

/** Removes rows of the revocation feed that are so old that every node has read them. [AUTH-14] */
export function revocationFeedJob(feed: PurgesFeed): MaintenanceJob {
  return {
    name: 'revocation feed',
    everyMs: EVERY_MS,
    run: () => feed.purge({ keptMs: REVOCATIONS_TOLD_MS, mostBytes: null, limit: BATCH }),
  }
}

/**
 * Wraps a job of several transactions so that only one of several nodes runs it. `claim` takes or renews the lease of the job. A node that does not
 * get the lease calls `otherwise` and skips the job until its next run. [LIFE-30]
 */
export function onOneNode(
  job: MaintenanceJob,
  claim: () => Promise<{ readonly isMine: boolean }>,
  otherwise: () => void = () => undefined,
): MaintenanceJob {
  return {
    ...job,
    async run() {
      if ((await claim()).isMine) return job.run()
      otherwise()
      return false
    },
  }
}

/** The method of the log that the job needs. */
interface PurgesRemovals {
  purgeRemovals(beforeMs: number, limit: number): Promise<number>
}

/** Rows about removed blocks are kept for this long. A room that is loaded later knows nothing of these removals. [AG-110] */
const REMOVALS_KEPT_MS = 10 * 60_000

/** Removes old rows about blocks that rooms have removed. [AG-110] */
export function removalsJob(store: PurgesRemovals, clock: Clock): MaintenanceJob {
  return {
    name: 'removals',
    everyMs: EVERY_MS,
    run: async () => (await store.purgeRemovals(clock.nowMs() - REMOVALS_KEPT_MS, BATCH)) === BATCH,
  }
}

/** Removes expired call records, and the oldest ones while all of them take more than `mostBytes`. Sets the gauge of their bytes. [AG-67] */
export function callRecordsJob(given: {
  readonly store: Pick<CallStore, 'purge' | 'totalBytes'>
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'set'>
  readonly keptMs: number
  readonly mostBytes: () => Promise<number>
}): MaintenanceJob {
  const { store, clock, metrics, keptMs } = given
  return {
    name: 'call records',
    everyMs: EVERY_MS,
    async run() {
      const nowMs = clock.nowMs()
      const mostBytes = await given.mostBytes()
      const removed = await store.purge({ beforeMs: nowMs - keptMs, mostBytes, limit: CALL_BATCH, nowMs })
      metrics.set('relay_call_records_bytes', await store.totalBytes())
      return removed === CALL_BATCH
    },
  }
}

/**
 * Settles documents that are not resident and whose bodies lack edits. A process that ended abruptly leaves such documents, and without this job
 * blobs of their workspaces could not be released until somebody opened them. A document that cannot be settled is tried again in a later run.
 * Documents that another live node owns are left to that node. [LIFE-30]
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

/** Removes expired share links. [SHARE-3] */
export function shareLinkJob(store: Pick<ShareLinkStore, 'purgeExpired'>, clock: Clock): MaintenanceJob {
  return {
    name: 'share links',
    everyMs: EVERY_MS,
    run: async () => (await store.purgeExpired(clock.nowMs(), BATCH)) === BATCH,
  }
}

/** Metrics that only one node exports, so that a sum over the nodes is right. [OPS-3] */
const OF_ONE_NODE = [
  'relay_storage_bytes_total',
  'relay_doc_bytes_total',
  'relay_unowned_documents',
  'relay_version_points_total',
] as const

/** Sets the totals of this node to 0, because another node exports them now. */
export function clearTotals(metrics: Pick<Metrics, 'set'>): void {
  for (const name of OF_ONE_NODE) metrics.set(name, 0)
}

/** Computes the totals of the store for the metrics. The longer the computation takes, the less often it runs. [OPS-3, OPS-4] */
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

/** Runs every job at its own interval, one batch at a time. Disposing waits for running batches. */
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
      log.warn('maintenance.failed', 'Expired data could not be removed; the relay tries again.', {
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
