/**
 * Token buckets by key. One key is one bucket; its rate and burst are given with every call, so a configured change takes effect at once.
 * `ratePerSec === null` is unlimited and takes nothing. The in-memory driver answers synchronously.
 */
export interface RateLimiter {
  /**
   * Takes `tokens` (default 1, at most the burst) if the bucket has as many, else none. `retryAfterMs` is the time until it has, at least 1.
   */
  take(
    key: string,
    bucket: Bucket,
    tokens?: number,
  ): { readonly taken: true } | { readonly taken: false; readonly retryAfterMs: number }
}

/** Makes a bucket of a configured rate and burst. When either is `null`, the bucket is unlimited. [CFG-8] */
export function bucketOf(ratePerSec: number | null, burst: number | null): Bucket {
  return burst === null ? { ratePerSec: null, burst: 0 } : { ratePerSec, burst }
}

export interface Bucket {
  readonly ratePerSec: number | null
  readonly burst: number
}
