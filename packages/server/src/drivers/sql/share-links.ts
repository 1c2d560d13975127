import type { Logger } from '../../kernel/log.ts'
import type { ShareLinkStore } from '../../share-links/share-link-store.port.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { Database } from './engine.ts'

export function sqlShareLinks(_database: Database, _queue: CommitQueue, _log: Logger): ShareLinkStore {
  return {} as ShareLinkStore
}
