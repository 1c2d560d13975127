import type { Logger } from '../../kernel/log.ts'
import type { RecoveryStore } from '../../recovery/recovery-store.port.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { Database } from './engine.ts'

/** How many points a document keeps, and how old the newest must be before a write keeps the body it replaces. [LIFE-19, LIFE-21] */
export interface RecoveryRing {
  readonly points: number
  readonly intervalMs: number
}

export const DEFAULT_RECOVERY_RING: RecoveryRing = { points: 20, intervalMs: 600_000 }

export function sqlRecovery(_database: Database, _queue: CommitQueue, _log: Logger, _ring: RecoveryRing): RecoveryStore {
  return {} as RecoveryStore
}
