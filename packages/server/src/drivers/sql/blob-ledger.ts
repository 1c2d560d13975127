import type { Logger } from '../../kernel/log.ts'
import type { BlobLedger } from '../../blobs/blob-ledger.port.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { Database } from './engine.ts'

export function sqlBlobLedger(_database: Database, _queue: CommitQueue, _log: Logger): BlobLedger {
  return {} as BlobLedger
}
