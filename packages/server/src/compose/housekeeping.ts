import { collectBlobs } from '../blobs/collect.ts'
import type { Storage } from '../drivers/sql/storage.ts'
import { systemTimers } from '../kernel/timers.ts'
import { lookEveryMs, shareLinkJob, startMaintenance, tombstoneJob, totalsJob } from '../operation/maintenance.ts'
import type { Base } from './base.ts'
import type { BlobBackend } from './blobs.ts'

/** Everything that ends by itself, when its time has come. [LIFE-30] */
export function startHousekeeping(
  { config, clock, log, metrics }: Base,
  storage: Storage,
  backend: BlobBackend,
): AsyncDisposable {
  const graceMs = config.tenancy.limits.blobGcGraceSecs * 1000
  const { store, locks } = backend
  const jobs = [
    tombstoneJob(storage.documents, clock, config.storage.tombstoneDays),
    shareLinkJob(storage.shareLinks, clock),
    totalsJob(metrics, () => storage.totals(), clock),
    {
      name: 'blobs',
      everyMs: lookEveryMs(graceMs),
      run: () => collectBlobs({ store, locks, ledger: storage.blobs, clock, graceMs }),
    },
  ]
  return startMaintenance({ jobs, timers: systemTimers, log })
}
