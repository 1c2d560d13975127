import type { Clock } from '../kernel/clock.ts'
import type { Random } from '../kernel/ids.ts'
import type { Logger } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { BlobLedger } from './blob-ledger.port.ts'
import type { BlobReaders } from './blob-readers.port.ts'
import type { BlobStore } from './blob-store.port.ts'

export interface BlobSettings {
  readonly maxBlobBytes: number
  readonly maxConcurrentUploads: number
  readonly presignTtlSecs: number
  readonly enforcePrivateBlobs: boolean
  readonly enforcePrivateDocs: boolean
}

export interface BlobDeps {
  readonly store: BlobStore
  readonly ledger: BlobLedger
  readonly readers: BlobReaders
  /** Throws UNAVAILABLE while the disk is too full for uploads. [X34] */
  readonly checkSpace: () => Promise<void>
  readonly settings: BlobSettings
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: Pick<Metrics, 'add'>
}
