import { randomUUID } from 'node:crypto'
import type { RateLimiter } from '../access/rate-limiter.port.ts'
import type { FeedHints } from '../feed/hints.port.ts'
import { createLocalHints } from '../feed/local-hints.ts'
import type { SessionFacts } from '../mcp/session-facts.port.ts'
import { systemTimers } from '../kernel/timers.ts'
import type { Check } from '../operation/health.ts'
import type { Base } from './base.ts'

/** State that several relays share for speed. The store holds the truth, so a relay works without the bus. [LIFE-27] */
export interface Bus {
  /** The buckets that all relays share; `null` for `memory:`, where this process has its own. */
  readonly rateLimiter: RateLimiter | null
  /** Hints to other nodes that the change feed has a new row. */
  readonly hints: FeedHints
  /** Facts of MCP sessions that all nodes share; `null` for `memory:`. */
  readonly sessionFacts: SessionFacts | null
  readonly check: Check
}

/**
 * Opens the bus of `[bus] url`. Resolves within a second, also when the bus does not answer. `nodes` returns the number of live
 * nodes at the last heartbeat.
 */
export async function openBus(
  base: Pick<Base, 'config' | 'clock' | 'log' | 'metrics'>,
  nodes: () => number,
  opened: AsyncDisposableStack,
): Promise<Bus> {
  const { config, clock, log, metrics } = base
  if (config.bus.url === 'memory:') {
    metrics.set('relay_bus_up', 1)
    const check = () => ({ ok: true, detail: 'in memory' })
    return { rateLimiter: null, hints: createLocalHints(), sessionFacts: null, check }
  }
  // Imported only here, so that a relay without a bus does not load the Redis client.
  const [{ openRedis }, { createRedisRateLimiter }, { redisHints }, { redisSessionFacts }] = await Promise.all([
    import('../drivers/redis/redis.ts'),
    import('../drivers/redis/redis-rate-limiter.ts'),
    import('../drivers/redis/redis-hints.ts'),
    import('../drivers/redis/redis-session-facts.ts'),
  ])
  const timers = systemTimers
  const redis = opened.use(await openRedis({ url: config.bus.url, timers, log }))
  const rateLimiter = opened.use(createRedisRateLimiter({ redis, clock, timers, nodes, node: randomUUID() }))
  let counted = 0
  metrics.beforeScrape(() => {
    metrics.set('relay_bus_up', redis.isUp ? 1 : 0)
    metrics.add('relay_rate_local_total', rateLimiter.answeredLocally - counted)
    counted = rateLimiter.answeredLocally
  })
  const check = () => (redis.isUp ? { ok: true } : { ok: false, detail: 'no answer; limits are counted by each node' })
  return { rateLimiter, hints: redisHints(redis), sessionFacts: redisSessionFacts(redis), check }
}
