import type { Bucket, RateLimiter, Taker, Taking } from '../access/rate-limiter.port.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Timers } from '../kernel/timers.ts'
import { RpcError } from './json-rpc.ts'
import type { RateBucket } from './tool.ts'

export interface RateDeps {
  readonly limiter: RateLimiter
  readonly buckets: Readonly<Record<RateBucket, Bucket>>
  /** Returns the key of a bucket. The write bucket has the same key as for sockets, so calls and sockets share it. [MCP-54, WS-28] */
  readonly keyOf: (bucket: RateBucket, workspaceId: string) => string
  /** Percent of the burst of the write bucket that calls leave while people write. [AG-86] */
  readonly peopleShare: number
  readonly timers: Timers
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Counts a refusal. [MCP-56] */
  readonly refused: (bucket: RateBucket) => void
}

/** The tokens that a call takes. From a bucket with a smaller burst it takes the whole burst. */
export interface Price {
  readonly bucket: RateBucket
  readonly tokens: number
}

/** Whether the tokens of a call are taken or must be waited for. `wait` rejects with RATE_LIMITED, or with the signal's reason. */
export type Taken = { readonly kind: 'taken' } | { readonly kind: 'wait'; wait(signal: AbortSignal): Promise<void> }

/**
 * Takes the tokens of a call, as `createRate` says. `mayWait`: the call may wait, because its client would not retry after an error. Returns
 * synchronously when the limiter does. [AG-87]
 */
export type TakeRate = (workspaceId: string, price: Price, mayWait: boolean) => Taken | Promise<Taken>

const MAX_WAIT_MS = 2_000
const MAX_WAITING = 64

interface Waiting {
  /** When the call is refused at the latest. */
  readonly untilMs: number
  /** Tries to take the tokens. */
  try(): Taking | Promise<Taking>
  settle(outcome: Taking): void
}

/**
 * Makes the rate limit of calls. When the bucket is empty, a call waits up to 2 s in order of arrival, at most 64 calls of a workspace at a
 * time; other calls get RATE_LIMITED with the wait computed from the bucket. [MCP-55, AG-87]
 */
export function createRate({ limiter, buckets, keyOf, peopleShare, timers, clock, refused }: RateDeps): TakeRate {
  /** Waiting calls by the key of their bucket, in order of arrival. */
  const queues = new Map<string, Waiting[]>()
  const counts = new Map<string, number>()
  const agent: Taker = { kind: 'agent', leaves: peopleShare }

  function limited(bucket: RateBucket, retryAfterMs: number): RpcError {
    const { ratePerSec, burst } = buckets[bucket]
    refused(bucket)
    const retryAfter = Math.max(1, Math.ceil(retryAfterMs / 1000))
    const message = `ERR_RATE_LIMIT: the ${bucket} bucket of the workspace is empty (${ratePerSec} per second, burst ${burst}); try again in ${retryAfter} s.`
    const data = { code: 'ERR_RATE_LIMIT', bucket, retryAfter, perSecond: ratePerSec, burst }
    return new RpcError('limit', message, data, { 'Retry-After': String(retryAfter) })
  }

  /** Gives waiting calls their tokens in order. Stops at the first call that must wait on. */
  function serve(key: string, queue: Waiting[]): void {
    for (let first = queue[0]; first !== undefined; first = queue[0]) {
      const waiting = first
      const outcome = waiting.try()
      if (outcome instanceof Promise) return void outcome.then((known) => answer(key, queue, waiting, known) && serve(key, queue))
      if (!answer(key, queue, waiting, outcome)) return
    }
    if (queues.get(key) === queue) queues.delete(key)
  }

  /**
   * Settles the first call of the queue and removes it. Returns false when that call must wait on; a timer then serves the queue again when
   * the token is due.
   */
  function answer(key: string, queue: Waiting[], first: Waiting, outcome: Taking): boolean {
    if (!outcome.taken && clock.monotonicMs() + outcome.retryAfterMs <= first.untilMs) {
      timers.after(outcome.retryAfterMs, () => serve(key, queue))
      return false
    }
    queue.shift()
    first.settle(outcome)
    return true
  }

  function waitIn(
    key: string,
    workspaceId: string,
    bucket: RateBucket,
    take: () => Taking | Promise<Taking>,
    signal: AbortSignal,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      counts.set(workspaceId, (counts.get(workspaceId) ?? 0) + 1)
      const left = (): void => {
        signal.removeEventListener('abort', left)
        const others = (counts.get(workspaceId) ?? 1) - 1
        if (others === 0) counts.delete(workspaceId)
        else counts.set(workspaceId, others)
        if (signal.aborted) reject(signal.reason as Error)
      }
      const waiting: Waiting = {
        untilMs: clock.monotonicMs() + MAX_WAIT_MS,
        // An aborted call takes no token: the queue passes over it.
        try: () => (signal.aborted ? { taken: true } : take()),
        settle(outcome) {
          if (signal.aborted) return
          left()
          if (outcome.taken) resolve()
          else reject(limited(bucket, outcome.retryAfterMs))
        },
      }
      signal.addEventListener('abort', left)
      if (signal.aborted) return left()
      const queue = queues.get(key)
      if (queue !== undefined) return void queue.push(waiting)
      const started = [waiting]
      queues.set(key, started)
      serve(key, started)
    })
  }

  return (workspaceId, { bucket, tokens }, mayWait) => {
    const key = keyOf(bucket, workspaceId)
    const asked = Math.min(tokens, Math.max(1, buckets[bucket].burst))
    const take = () => limiter.take(key, buckets[bucket], asked, ...(bucket === 'write' ? [agent] : []))
    const isQueued = mayWait && queues.has(key)
    const takenOrWaits = (outcome: Taking): Taken => {
      if (outcome.taken) return { kind: 'taken' }
      const canWait = mayWait && outcome.retryAfterMs <= MAX_WAIT_MS && (counts.get(workspaceId) ?? 0) < MAX_WAITING
      if (!canWait) throw limited(bucket, isQueued ? MAX_WAIT_MS : outcome.retryAfterMs)
      return { kind: 'wait', wait: (signal) => waitIn(key, workspaceId, bucket, take, signal) }
    }
    const outcome = isQueued ? ({ taken: false, retryAfterMs: 1 } as const) : take()
    return outcome instanceof Promise ? outcome.then(takenOrWaits) : takenOrWaits(outcome)
  }
}
