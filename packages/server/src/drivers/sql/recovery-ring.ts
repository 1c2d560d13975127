/** How many points a document keeps, and how old the newest must be before a write keeps the body it replaces. [LIFE-19, LIFE-21] */
export interface RecoveryRing {
  readonly points: number
  readonly intervalMs: number
}

export const DEFAULT_RECOVERY_RING: RecoveryRing = { points: 20, intervalMs: 600_000 }
