import { createClockJumps } from '../blobs/clock-jumps.ts'
import { collectBlobs, removeForgottenUploads } from '../blobs/collect.ts'
import { REMEMBERED_MS } from '../documents/once.ts'
import type { Storage } from '../drivers/sql/storage.ts'
import { systemTimers } from '../kernel/timers.ts'
import {
  lookEveryMs,
  type MaintenanceJob,
  formerClientsJob,
  lineageJob,
  rememberedJob,
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
