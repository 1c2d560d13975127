/**
 * Limits from the configuration: how many points a document keeps, how old the newest point must be before a write keeps the body that it replaces,
 * and how many bytes the call records of a workspace may take. [LIFE-19, LIFE-21, AG-67]
 */
export interface RecoveryRing {
  readonly points: number
  readonly intervalMs: number
  readonly undoBytes?: number
}

export const DEFAULT_RECOVERY_RING: RecoveryRing = { points: 20, intervalMs: 600_000 }
