/**
 * Who takes tokens. While a person writes, an agent leaves people `leaves` percent of the burst. An agent that finds no more than that share
 * still gets an eighth of the refill, at least one token a second. [AG-86]
 */
export type Taker = { readonly kind: 'person' } | { readonly kind: 'agent'; readonly leaves: number }

export type Taking = { readonly taken: true } | { readonly taken: false; readonly retryAfterMs: number }

/** A person counts as writing for this long after taking a token for a write; over several nodes up to 2 s longer. [AG-86] */
export const PERSON_WRITES_MS = 10_000

/**
 * Token buckets by key. One key is one bucket; its rate and burst are given with every call, so a configured change takes effect
 * at once. `ratePerSec === null` is unlimited and takes nothing. A driver in memory answers synchronously. A driver that shares
 * its buckets with other nodes answers synchronously when it can, else with a promise that never rejects and settles within 250
 * ms. Callers in one process get their answers for one key in the order of their calls. [LIFE-27]
 */
export interface RateLimiter {
  /**
   * Takes `tokens` (default 1, at most the burst) if the bucket has that many, else none. `retryAfterMs` is the time until the
   * bucket has them, at least 1. Without `taker` neither people nor agents are preferred.
   */
  take(key: string, bucket: Bucket, tokens?: number, taker?: Taker): Taking | Promise<Taking>
  /** Returns the number of tokens that could be taken now, fractions included; takes none. For an unlimited bucket: its burst. */
  left(key: string, bucket: Bucket): number | Promise<number>
}

/** Returns the key of the write bucket of a workspace, which sockets and MCP writes share. [WS-28] */
export function writeBucketKey(workspaceId: string): string {
  return `write:${workspaceId}`
}

/** Makes a bucket of a configured rate and burst. When either is `null`, the bucket is unlimited. [CFG-8] */
export function bucketOf(ratePerSec: number | null, burst: number | null): Bucket {
  return burst === null ? { ratePerSec: null, burst: 0 } : { ratePerSec, burst }
}

export interface Bucket {
  readonly ratePerSec: number | null
  readonly burst: number
}
