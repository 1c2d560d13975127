import type { RevocationStore } from '../../auth/revocations.port.ts'
import type { BlobLedger } from '../../blobs/blob-ledger.port.ts'
import type { RegistryStore } from '../../collections/registry-store.port.ts'
import type { CallStore } from '../../documents/call-store.port.ts'
import type { DocumentStore } from '../../documents/document-store.port.ts'
import type { RecoveryStore } from '../../recovery/recovery-store.port.ts'
import type { ShareLinkStore } from '../../share-links/share-link-store.port.ts'
import type { UpdateLog } from '../../sync/update-log.port.ts'

/** The storage ports of one database, independent of the thread that runs its SQL. */
export interface Stores {
  readonly documents: DocumentStore
  readonly calls: CallStore
  readonly updates: UpdateLog
  readonly revocations: RevocationStore
  readonly recovery: RecoveryStore
  readonly blobs: BlobLedger
  readonly registries: RegistryStore
  readonly shareLinks: ShareLinkStore
}
