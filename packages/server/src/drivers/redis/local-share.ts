import type { Bucket, Taker, Taking } from '../../access/rate-limiter.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import { memoryRateLimiter } from '../memory-limits.ts'
import { SLOW_PER_SEC } from './bucket-scripts.ts'

/** The part of every bucket that this node may spend while it cannot reach the bus. */
export interface LocalShare {
  take(key: string, bucket: Bucket, tokens: number, taker?: Taker): Taking
  left(key: string, bucket: Bucket): number
}

/**
 * Opens the part of one of `nodes()` nodes: rate and burst divided by the number of nodes, with a burst of at least one token. The part starts empty,
 * because it is unknown how much was taken from the shared bucket before. It is dropped after the outage. A call that asks for more tokens than the
 * burst of the part takes the whole burst. [LIFE-27]
 */
export function openLocalShare(clock: Clock, nodes: () => number): LocalShare {
  const emptied = memoryRateLimiter(clock, () => 0, clock.monotonicMs())
  const full = memoryRateLimiter(clock)
  const limiterOf = ({ ratePerSec }: Bucket) => (ratePerSec !== null && ratePerSec < SLOW_PER_SEC ? full : emptied)
  const partOf = ({ ratePerSec, burst }: Bucket): Bucket => {
    const count = Math.max(1, nodes())
    return { ratePerSec: ratePerSec === null ? null : ratePerSec / count, burst: Math.max(1, burst / count) }
  }
  return {
    take(key, bucket, tokens, taker) {
      const part = partOf(bucket)
      return limiterOf(bucket).take(key, part, Math.min(tokens, Math.floor(part.burst)), taker)
    },
    left: (key, bucket) => limiterOf(bucket).left(key, partOf(bucket)),
  }
}
