import type { Logger } from '../../kernel/log.ts'
import type { RegistryStore } from '../../collections/registry-store.port.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { Database } from './engine.ts'

export function sqlRegistries(_database: Database, _queue: CommitQueue, _log: Logger): RegistryStore {
  return {} as RegistryStore
}
