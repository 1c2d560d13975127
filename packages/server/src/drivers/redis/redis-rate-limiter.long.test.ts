import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { describeRateLimiterContract } from '../../access/rate-limiter.contract.ts'
import type { Bucket, RateLimiter, Taker } from '../../access/rate-limiter.port.ts'
import { systemClock } from '../../kernel/clock.ts'
import { silentLogger } from '../../kernel/log.ts'
import { systemTimers } from '../../kernel/timers.ts'
import { openRedis, type Redis, scriptOf } from './redis.ts'
import { createRedisRateLimiter, type RedisRateLimiter } from './redis-rate-limiter.ts'
import { openRedisUnderTest, type RedisUnderTest } from './testing/redis-under-test.ts'

const found = await openRedisUnderTest()
if (typeof found === 'string') process.stderr.write(`skipped: ${found}\n`)

const bucket: Bucket = { ratePerSec: 40, burst: 80 }
const person = { kind: 'person' } as const
const agent = { kind: 'agent', leaves: 50 } as const

describe.skipIf(typeof found === 'string')('rate limit buckets in Redis', () => {
  const server = found as RedisUnderTest
  const cleanups: (() => unknown)[] = []
  let prefix = ''
  let tests = 0
  let made = 0

  const connect = async (): Promise<Redis> => {
    const redis = await openRedis({ url: server.url, prefix, timers: systemTimers, log: silentLogger })
    cleanups.push(() => redis[Symbol.asyncDispose]())
    return redis
  }
  /** Makes the buckets count and be full, as they are long after the start of a cluster. */
  const fillBuckets = async (): Promise<void> => {
    const redis = await connect()
    await redis.run(scriptOf(`return redis.call('SET', KEYS[1], '-1000000')`), ['bus:since'], [])
  }
  const node = async (nodes = 3): Promise<RedisRateLimiter> => {
    const limiter = createRedisRateLimiter({
      redis: await connect(),
      clock: systemClock,
      timers: systemTimers,
      node: `node-${++made}`,
      nodes: () => nodes,
    })
    cleanups.push(() => limiter[Symbol.dispose]())
    await expect.poll(() => limiter.isShared, { timeout: 5_000 }).toBe(true)
    return limiter
  }
  const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
  const takes = async (limiter: RateLimiter, count: number, taker?: Taker, key = 'write:w'): Promise<number> => {
    let taken = 0
    for (let i = 0; i < count; i++) if ((await limiter.take(key, bucket, 1, taker)).taken) taken++
    return taken
  }
  /** Returns the most tokens that a bucket may have given since `beganMs`. */
  const bound = (beganMs: number): number => 80 + (40 * (performance.now() - beganMs)) / 1000

  beforeEach(() => {
    prefix = `${server.prefix}${tests++}:`
  })
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  describeRateLimiterContract('Redis', async ({ clock, timers }) => {
    await fillBuckets()
    const limiter = createRedisRateLimiter({
      redis: await connect(),
      clock,
      timers,
      node: `node-${++made}`,
      nodes: () => 1,
      serverNowMs: () => clock.monotonicMs(),
    })
    cleanups.push(() => limiter[Symbol.dispose]())
    await expect.poll(() => limiter.isShared).toBe(true)
    return limiter
  })

  it('[LIM-2] three nodes that share a bucket take exactly its tokens together', async () => {
    await fillBuckets()
    const nodes = [await node(), await node(), await node()]
    const beganMs = performance.now()
    const taken = await Promise.all(nodes.map((one) => takes(one, 200)))
    const sum = taken.reduce((a, b) => a + b)
    expect(sum).toBeLessThanOrEqual(bound(beganMs))
    expect(sum).toBeGreaterThanOrEqual(78)
    expect(nodes.every((one) => one.answeredLocally === 0)).toBe(true)
  })

  it('[LIM-2] most takes of a busy caller need no request to Redis, and a node gives unspent tokens back', async () => {
    await fillBuckets()
    const [one, other] = [await node(), await node()]
    await one.take('write:w', bucket)
    await one.take('write:w', bucket)
    let atOnce = 0
    for (let i = 0; i < 9; i++) if (!(one.take('write:w', bucket) instanceof Promise)) atOnce++
    expect(atOnce).toBe(9)
    await one.take('write:w', bucket)
    await rest(600)
    expect(await takes(other, 200)).toBeGreaterThanOrEqual(80)
  })

  it('[LIM-2] a caller who writes four times a second on each of three nodes is never refused', async () => {
    await fillBuckets()
    const nodes = [await node(), await node(), await node()]
    let refused = 0
    for (let i = 0; i < 12; i++) {
      for (const one of nodes) if (!(await one.take('write:w', bucket, 1, person)).taken) refused++
      await rest(240)
    }
    await rest(2_600)
    expect(refused).toBe(0)
    expect(Number(await nodes[0]?.left('write:w', bucket))).toBe(80)
  })

  it('[LIM-2] a person who types three letters a second needs a request to Redis for at most half of them', async () => {
    await fillBuckets()
    const one = await node()
    let requests = 0
    for (let i = 0; i < 16; i++) {
      const taking = one.take('write:w', bucket, 1, person)
      if (taking instanceof Promise) requests++
      expect(await taking).toEqual({ taken: true })
      await rest(320)
    }
    expect(requests).toBeLessThanOrEqual(8)
  })

  it('[LIM-2] tokens that nodes have in advance count against the burst of the bucket', async () => {
    await fillBuckets()
    const typing = [await node(), await node()]
    const other = await node()
    // Each node sends at least three requests to Redis, and spends tokens for 2.4 s or more.
    for (const one of typing) {
      let requests = 0
      for (let i = 0; requests < 3 || i < 40; i++) {
        const taking = one.take('write:w', bucket, 1, person)
        if (taking instanceof Promise) requests++
        await taking
        await rest(60)
      }
    }
    // During this pause the bucket fills again. Tokens that nodes hold in advance must count. Otherwise the bucket would be full in addition to them.
    await rest(1_000)
    const beganMs = performance.now()
    let sum = await takes(other, 100)
    for (const one of typing) sum += await takes(one, 20, person)
    expect(sum).toBeLessThanOrEqual(bound(beganMs))
    expect(sum).toBeGreaterThanOrEqual(70)
  })

  it('[LIM-2] tokens that a dead node had in advance return to the bucket', async () => {
    await fillBuckets()
    const [dying, other] = [await node(), await node()]
    for (let i = 0; i < 12; i++) {
      await dying.take('write:w', bucket, 1, person)
      await rest(60)
    }
    dying[Symbol.dispose]()
    // The other node keeps requesting tokens in advance meanwhile.
    for (let i = 0; i < 30; i++) {
      await other.take('write:w', bucket, 1, person)
      await rest(100)
    }
    await rest(2_600)
    expect(Number(await other.left('write:w', bucket))).toBe(80)
  })

  it('[AG-86] an agent gets more than its eighth while the bucket lacks only the tokens that a person has in advance', async () => {
    await fillBuckets()
    const [people, agents] = [await node(), await node()]
    const most = { kind: 'agent', leaves: 90 } as const
    let byAgent = 0
    for (let i = 0; i < 40; i++) {
      await people.take('write:w', bucket, 1, person)
      await rest(60)
      // By now a person has a tenth of the burst in advance, so the bucket is never above the share of people.
      if (i > 20) byAgent += await takes(agents, 2, most)
    }
    expect(byAgent).toBeGreaterThan(16)
  })

  it('[AG-86] while a person writes on one node, an agent on another node leaves the share of people', async () => {
    await fillBuckets()
    const [people, agents] = [await node(), await node()]
    expect(await takes(people, 1, person)).toBe(1)
    const beganMs = performance.now()
    const byAgent = await takes(agents, 200, agent)
    expect(byAgent).toBeGreaterThanOrEqual(39)
    expect(byAgent).toBeLessThanOrEqual(40 + (40 * (performance.now() - beganMs)) / 1000)
    expect(await takes(people, 200, person)).toBeGreaterThanOrEqual(40)
  })

  it('[LIFE-27] garbage under the key of a bucket is replaced', async () => {
    await fillBuckets()
    const one = await node()
    const redis = await connect()
    for (const garbage of [`redis.call('RPUSH', KEYS[1], 'x')`, `redis.call('SET', KEYS[1], 'no numbers at all x')`]) {
      await redis.run(scriptOf(`redis.call('DEL', KEYS[1]) ${garbage} return 1`), ['b:{write:g}'], [])
      expect(await one.take('write:g', bucket)).toEqual({ taken: true })
    }
    expect(one.answeredLocally).toBe(0)
  })

  it.each([
    ['the key has another type', `redis.call('RPUSH', KEYS[1], 'x')`],
    ['the value is not a number', `redis.call('SET', KEYS[1], 'x')`],
    [
      'the time is an hour ahead, as after a step of the clock of the server',
      `redis.call('SET', KEYS[1], redis.call('TIME')[1] * 1000 + 3600000)`,
    ],
  ])('[LIFE-27] the stored time from which the buckets count is replaced when %s', async (_, write) => {
    const redis = await connect()
    const spoil = scriptOf(`redis.call('DEL', KEYS[1]) ${write} return 1`)
    await redis.run(spoil, ['bus:since'], [])
    const limiter = await node()
    await redis.run(spoil, ['bus:since'], [])
    await limiter.left('write:w', bucket)
    await expect.poll(() => limiter.isShared, { timeout: 5_000 }).toBe(true)
    await expect.poll(() => limiter.left('write:w', bucket)).toBeGreaterThan(0)
    expect(limiter.isShared).toBe(true)
  })

  describe.skipIf(server?.own === null)('while Redis fails', () => {
    const own = () => server.own as NonNullable<RedisUnderTest['own']>
    /** Lets three nodes take as many tokens as they can for `ms`, while `happens` disturbs Redis. */
    const draining = async (
      ms: number,
      happens: () => Promise<void>,
    ): Promise<{ sum: number; bound: number; nodes: RedisRateLimiter[] }> => {
      await fillBuckets()
      const nodes = [await node(), await node(), await node()]
      const beganMs = performance.now()
      const drain = async (one: RedisRateLimiter): Promise<number> => {
        let taken = 0
        while (performance.now() - beganMs < ms) {
          const taking = await one.take('write:w', bucket)
          if (taking.taken) taken++
          else await rest(Math.min(20, taking.retryAfterMs))
        }
        return taken
      }
      const [counts] = await Promise.all([Promise.all(nodes.map(drain)), happens()])
      return { sum: counts.reduce((a, b) => a + b), bound: bound(beganMs), nodes }
    }

    it('[LIFE-27] three nodes together stay within burst and rate when Redis is emptied', async () => {
      const { sum, bound: most } = await draining(1_500, async () => {
        await rest(700)
        await own().run('FLUSHALL')
      })
      expect(sum).toBeLessThanOrEqual(most)
      expect(sum).toBeGreaterThan(0.8 * most)
    })

    it.each([
      ['freezes and goes on', { out: () => own().kill('SIGSTOP'), back: () => own().kill('SIGCONT') }],
      ['is killed and started again', { out: () => own().kill('SIGKILL'), back: () => own().restart() }],
    ])('[LIFE-27] three nodes together stay within burst and rate when Redis %s', async (_, { out, back }) => {
      const outage = await draining(5_500, async () => {
        await rest(500)
        await out()
        await rest(1_700)
        await back()
      })
      expect(outage.sum).toBeLessThanOrEqual(outage.bound)
      expect(outage.sum).toBeGreaterThan(0.6 * outage.bound)
      expect(outage.nodes.map((one) => one.isShared)).toEqual([true, true, true])
      expect(outage.nodes.every((one) => one.answeredLocally > 10)).toBe(true)
    })

    it('[LIFE-27] while Redis is down a node gets its part of the rate, and slow buckets start full', async () => {
      await fillBuckets()
      const one = await node(4)
      await own().kill('SIGKILL')
      await expect.poll(() => one.isShared).toBe(false)
      const beganMs = performance.now()
      expect(await one.take('redeem:0:ann', { ratePerSec: 1 / 60, burst: 1 })).toEqual({ taken: true })
      expect(await one.take('redeem:0:ann', { ratePerSec: 1 / 60, burst: 1 })).toMatchObject({ taken: false })
      let taken = 0
      while (performance.now() - beganMs < 1_000) {
        const taking = await one.take('write:w', bucket)
        if (taking.taken) taken++
        else await rest(Math.min(20, taking.retryAfterMs))
      }
      expect(taken).toBeGreaterThanOrEqual(7)
      expect(taken).toBeLessThanOrEqual((10 * (performance.now() - beganMs)) / 1000 + 1)
      await own().restart()
    })
  })
})
