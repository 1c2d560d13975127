/**
 * How many points a document keeps, how old the newest must be before a write keeps the body it replaces, and what the call records of a
 * workspace may take. [LIFE-19, LIFE-21, AG-67]
 */
export interface RecoveryRing {
  readonly points: number
  readonly intervalMs: number
  readonly undoBytes?: number
}

export const DEFAULT_RECOVERY_RING: RecoveryRing = { points: 20, intervalMs: 600_000 }
