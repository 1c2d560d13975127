import type { Seats } from '../../access/seats.port.ts'
import type { RevocationStore } from '../../auth/revocations.port.ts'
import type { BlobLedger } from '../../blobs/blob-ledger.port.ts'
import type { RegistryStore } from '../../collections/registry-store.port.ts'
import type { CallStore } from '../../documents/call-store.port.ts'
import type { DocumentStore } from '../../documents/document-store.port.ts'
import type { ChangeFeed } from '../../feed/change-feed.port.ts'
import type { JobLeases } from '../../feed/job-leases.port.ts'
import type { RevocationFeed } from '../../feed/revocation-feed.port.ts'
import type { NodeRegistry } from '../../nodes/registry.port.ts'
import type { RecoveryStore } from '../../recovery/recovery-store.port.ts'
import type { ShareLinkStore } from '../../share-links/share-link-store.port.ts'
import type { Ownership } from '../../sync/ownership.port.ts'
import type { UpdateLog } from '../../sync/update-log.port.ts'
import type { CommitStats } from './commit-queue.ts'
import type { StoreTotals } from './store-totals.ts'

/** The storage ports of one database, independent of the thread that runs its SQL. */
export interface Stores {
  readonly documents: DocumentStore
  readonly calls: CallStore
  readonly updates: UpdateLog
  readonly ownership: Ownership
  readonly revocations: RevocationStore
  readonly recovery: RecoveryStore
  readonly blobs: BlobLedger
  readonly registries: RegistryStore
  readonly shareLinks: ShareLinkStore
  /** Only for one of several nodes. [LIFE-26] */
  readonly nodes: NodeRegistry
  readonly changeFeed: ChangeFeed
  readonly revocationFeed: RevocationFeed
  readonly jobLeases: JobLeases
  /** Only for one of several nodes; a relay that uses its store alone counts in memory. */
  readonly seats: Seats
}

/** Calls that concern the whole database. */
export interface StoreControl {
  /**
   * Resolves when the store can be read and written, else rejects with UNAVAILABLE or NOT_PERSISTED. After a failed commit it writes a
   * test row, so that a recovery is noticed. [LIFE-6, OPS-2]
   */
  ping(): Promise<void>
  /** Returns counters since the start, and the append samples since the previous call. */
  stats(): Promise<CommitStats>
  /** Totals over all workspaces, read from indexes. Too slow for every metrics scrape. */
  totals(): Promise<StoreTotals>
}
