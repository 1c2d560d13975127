/**
 * Token buckets by key. One key is one bucket; its rate and burst are given with every call, so a configured change takes effect at once.
 * `ratePerSec === null` is unlimited and takes nothing. The in-memory driver answers synchronously.
 */
export interface RateLimiter {
  /** Takes one token if there is one. `retryAfterMs` is the time until the next token, at least 1. */
  take(key: string, bucket: Bucket): { readonly taken: true } | { readonly taken: false; readonly retryAfterMs: number }
}

export interface Bucket {
  readonly ratePerSec: number | null
  readonly burst: number
}
