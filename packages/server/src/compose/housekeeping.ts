import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createClockJumps } from '../blobs/clock-jumps.ts'
import { createBlobCollector, removeForgottenUploads } from '../blobs/collect.ts'
import { REMEMBERED_MS } from '../documents/once.ts'
import { UNDOABLE_MS } from '../documents/undo-targets.ts'
import type { Storage } from '../drivers/sql/storage.ts'
import { systemTimers } from '../kernel/timers.ts'
import {
  lookEveryMs,
  callRecordsJob,
  changeFeedJob,
  clearTotals,
  type MaintenanceJob,
  formerClientsJob,
  lineageJob,
  onOneNode,
  rememberedJob,
  removalsJob,
  revocationFeedJob,
  settlingJob,
  shareLinkJob,
  startMaintenance,
  tombstoneJob,
  totalsJob,
} from '../operation/maintenance.ts'
import type { Base } from './base.ts'
import type { BlobBackend } from './blobs.ts'
import { leaseOf } from './leases.ts'
import type { Live } from './live.ts'

const HOUR_MS = 3_600_000
/**
 * Added to the lease of a job. Longer than the pauses between its batches, so that a node keeps the job until the job is done.
 */
const LEASE_SLACK_MS = 30_000

/** Most bytes of the call records of all workspaces, when the database server has its own disk. [AG-67] */
const SERVER_CALL_BYTES = 4 * 1024 ** 3
/** For a SQLite store: the share of the volume that the call records of all workspaces may take. */
const VOLUME_PART = 0.02

async function mostCallBytes(url: string): Promise<number> {
  if (!url.startsWith('sqlite:')) return SERVER_CALL_BYTES
  const { bsize, blocks } = await statfs(dirname(url.slice('sqlite:'.length)))
  return Math.floor(bsize * blocks * VOLUME_PART)
}

/** Starts the jobs that remove expired data. [LIFE-30] */
export function startHousekeeping(
  base: Base,
  storage: Storage,
  backend: BlobBackend,
  { rooms }: Pick<Live, 'rooms'>,
  opened: AsyncDisposableStack,
): AsyncDisposable {
  const { config, clock, log, metrics, severalNodes } = base
  const graceMs = config.tenancy.limits.blobGcGraceSecs * 1000
  const { store } = backend
  const { direct } = store
  const agesAreTrue = createClockJumps(clock, graceMs)
  const collectBlobs = createBlobCollector({
    store,
    ledger: storage.blobs,
    settle: (document, quietMs) => rooms.settle(document, quietMs),
    clock,
    graceMs,
  })
  /**
   * Lets only one node run a job of several transactions. Other jobs need no lease: each batch is one transaction, which the store lets one node run.
   */
  const byOne = (job: MaintenanceJob, otherwise?: () => void): MaintenanceJob =>
    severalNodes ? onOneNode(job, leaseOf(base, storage, job.name, job.everyMs + LEASE_SLACK_MS, opened), otherwise) : job
  const jobs: readonly MaintenanceJob[] = [
    byOne(settlingJob(storage.documents, rooms)),
    tombstoneJob(storage.documents, clock, config.storage.tombstoneDays),
    shareLinkJob(storage.shareLinks, clock),
    rememberedJob(storage.documents, clock, REMEMBERED_MS),
    removalsJob(storage.updates, clock),
    byOne(
      callRecordsJob({
        store: storage.calls,
        clock,
        metrics,
        keptMs: UNDOABLE_MS,
        mostBytes: () => mostCallBytes(config.storage.url),
      }),
      () => metrics.set('relay_call_records_bytes', 0),
    ),
    formerClientsJob(storage.documents, clock),
    lineageJob(storage.documents),
    byOne(
      totalsJob(metrics, () => storage.totals(), clock),
      () => clearTotals(metrics),
    ),
    byOne({
      name: 'blobs',
      everyMs: lookEveryMs(graceMs),
      // After a jump of the wall clock the age of a blob is unknown, so nothing is released.
      run: async () => agesAreTrue() && collectBlobs(),
    }),
    ...(direct === null
      ? []
      : [
          byOne({
            name: 'staged objects',
            everyMs: HOUR_MS,
            run: () => removeForgottenUploads(store, direct, clock, config.blobs.presignTtlSecs),
          }),
        ]),
    ...(severalNodes ? [changeFeedJob(storage.changeFeed, config.feed.keepDays), revocationFeedJob(storage.revocationFeed)] : []),
  ]
  return startMaintenance({ jobs, timers: systemTimers, log })
}
