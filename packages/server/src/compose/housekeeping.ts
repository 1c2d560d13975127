import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createClockJumps } from '../blobs/clock-jumps.ts'
import { collectBlobs, removeForgottenUploads } from '../blobs/collect.ts'
import { REMEMBERED_MS } from '../documents/once.ts'
import { UNDOABLE_MS } from '../documents/undo-targets.ts'
import type { Storage } from '../drivers/sql/storage.ts'
import { systemTimers } from '../kernel/timers.ts'
import {
  lookEveryMs,
  callRecordsJob,
  type MaintenanceJob,
  formerClientsJob,
  lineageJob,
  rememberedJob,
  removalsJob,
  settlingJob,
  shareLinkJob,
  startMaintenance,
  tombstoneJob,
  totalsJob,
} from '../operation/maintenance.ts'
import type { Base } from './base.ts'
import type { BlobBackend } from './blobs.ts'
import type { Live } from './live.ts'

const HOUR_MS = 3_600_000

/** What the call records of all workspaces may take where a database server has its own disk. [AG-67] */
const SERVER_CALL_BYTES = 4 * 1024 ** 3
/** The part of the volume that they may take otherwise. */
const VOLUME_PART = 0.02

async function mostCallBytes(url: string): Promise<number> {
  if (!url.startsWith('sqlite:')) return SERVER_CALL_BYTES
  const { bsize, blocks } = await statfs(dirname(url.slice('sqlite:'.length)))
  return Math.floor(bsize * blocks * VOLUME_PART)
}

/** Starts the jobs that remove expired data. [LIFE-30] */
export function startHousekeeping(
  { config, clock, log, metrics }: Base,
  storage: Storage,
  backend: BlobBackend,
  { rooms }: Pick<Live, 'rooms'>,
): AsyncDisposable {
  const graceMs = config.tenancy.limits.blobGcGraceSecs * 1000
  const { store, locks } = backend
  const { direct } = store
  const agesAreTrue = createClockJumps(clock, graceMs)
  const jobs: readonly MaintenanceJob[] = [
    settlingJob(storage.documents, rooms),
    tombstoneJob(storage.documents, clock, config.storage.tombstoneDays),
    shareLinkJob(storage.shareLinks, clock),
    rememberedJob(storage.documents, clock, REMEMBERED_MS),
    removalsJob(storage.updates, clock),
    callRecordsJob({
      store: storage.calls,
      clock,
      metrics,
      keptMs: UNDOABLE_MS,
      mostBytes: () => mostCallBytes(config.storage.url),
    }),
    formerClientsJob(storage.documents, clock),
    lineageJob(storage.documents),
    totalsJob(metrics, () => storage.totals(), clock),
    {
      name: 'blobs',
      everyMs: lookEveryMs(graceMs),
      // After a jump of the wall clock nothing is released by its age.
      run: async () =>
        agesAreTrue() &&
        collectBlobs({
          store,
          locks,
          ledger: storage.blobs,
          settle: (document, quietMs) => rooms.settle(document, quietMs),
          clock,
          graceMs,
        }),
    },
    ...(direct === null
      ? []
      : [
          {
            name: 'staged objects',
            everyMs: HOUR_MS,
            run: () => removeForgottenUploads(store, direct, clock, config.blobs.presignTtlSecs),
          },
        ]),
  ]
  return startMaintenance({ jobs, timers: systemTimers, log })
}
