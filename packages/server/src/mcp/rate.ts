import type { Bucket, RateLimiter } from '../access/rate-limiter.port.ts'
import { RpcError } from './json-rpc.ts'
import type { RateBucket } from './tool.ts'

export interface RateDeps {
  readonly limiter: RateLimiter
  readonly buckets: Readonly<Record<RateBucket, Bucket>>
  /** The key of the write bucket is the same as for sockets, so that both take from one bucket. [MCP-54, WS-28] */
  readonly keyOf: (bucket: RateBucket, workspaceId: string) => string
  /** Counts a refusal. [MCP-56] */
  readonly refused: (bucket: RateBucket) => void
}

/** `tokens`: the cost of the call. A bucket with a smaller burst gives all it can hold. */
export type TakeRate = (workspaceId: string, bucket: RateBucket, tokens: number) => void

/** Takes the tokens of a call. Throws RATE_LIMITED when the bucket is empty, with the wait computed from the bucket. [MCP-55] */
export function createRate({ limiter, buckets, keyOf, refused }: RateDeps): TakeRate {
  return (workspaceId, bucket, tokens) => {
    const { ratePerSec, burst } = buckets[bucket]
    const outcome = limiter.take(keyOf(bucket, workspaceId), buckets[bucket], Math.min(tokens, Math.max(1, burst)))
    if (outcome.taken) return
    refused(bucket)
    const retryAfter = Math.max(1, Math.ceil(outcome.retryAfterMs / 1000))
    const message = `ERR_RATE_LIMIT: the ${bucket} bucket of the workspace is empty (${ratePerSec} per second, burst ${burst}); try again in ${retryAfter} s.`
    const data = { code: 'ERR_RATE_LIMIT', bucket, retryAfter, perSecond: ratePerSec, burst }
    throw new RpcError('limit', message, data, { 'Retry-After': String(retryAfter) })
  }
}
