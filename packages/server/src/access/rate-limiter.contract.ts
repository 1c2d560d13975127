import { beforeEach, describe, expect, it } from 'vitest'
import { type ManualTime, manualTime } from '../kernel/testing/manual-time.ts'
import type { Bucket, RateLimiter, Taker, Taking } from './rate-limiter.port.ts'

/**
 * Registers the tests that every driver of `RateLimiter` passes. Each test uses new keys, so a driver may keep its state. `open` returns a limiter
 * whose buckets are full and follow the clock of the test.
 */
export function describeRateLimiterContract(name: string, open: (time: ManualTime) => RateLimiter | Promise<RateLimiter>): void {
  describe(`RateLimiter: ${name}`, () => {
    let time: ManualTime
    let limiter: RateLimiter
    let key: string
    let tests = 0
    const bucket = { ratePerSec: 40, burst: 80 }
    /**
     * Takes tokens one after another, as a single caller does, and returns how many calls succeed.
     */
    const countTaken = async (count: number, take: () => Taking | Promise<Taking>): Promise<number> => {
      let taken = 0
      for (let i = 0; i < count; i++) if ((await take()).taken) taken++
      return taken
    }
    const takes = (count: number, of: Bucket = bucket, at = key): Promise<number> => countTaken(count, () => limiter.take(at, of))

    beforeEach(async () => {
      time = manualTime()
      limiter = await open(time)
      key = `key-${tests++}`
    })

    it('[LIM-2] a new bucket is full and gives its burst', async () => {
      expect(await takes(200)).toBe(80)
    })

    it('[LIM-2] a bucket refills at its rate, up to its burst', async () => {
      await takes(80)
      await time.advance(500)
      expect(await takes(100)).toBe(20)
      await time.advance(60_000)
      expect(await takes(100)).toBe(80)
    })

    it('[REST-28] `left` returns the number of tokens in a bucket and takes none', async () => {
      expect(await limiter.left(key, bucket)).toBe(80)
      await takes(80)
      await time.advance(500)
      expect([await limiter.left(key, bucket), await limiter.left(key, bucket), await takes(100)]).toEqual([20, 20, 20])
      await time.advance(60_000)
      expect([await limiter.left(key, bucket), await limiter.left(`${key}-other`, bucket)]).toEqual([80, 80])
    })

    it('[LIM-2] over any time a bucket gives no more than burst and rate allow', async () => {
      let given = 0
      for (let i = 0; i < 100; i++) {
        given += await takes(7)
        await time.advance(33)
      }
      expect(given).toBeLessThanOrEqual(80 + 3.3 * 40)
      expect(given).toBeGreaterThanOrEqual(80 + 3.2 * 40)
    })

    it('[LIM-2] a refusal says when the next token is available, and takes none', async () => {
      await takes(80)
      const refusal = await limiter.take(key, bucket)
      expect(refusal).toEqual({ taken: false, retryAfterMs: 25 })
      await time.advance(10)
      expect(await limiter.take(key, bucket)).toEqual({ taken: false, retryAfterMs: 15 })
      await time.advance(15)
      expect(await takes(5)).toBe(1)
    })

    it('[LIM-2] a call after the named waiting time succeeds, also at odd rates', async () => {
      for (const ratePerSec of [0.1, 3, 7, 333, 5_000]) {
        const odd = { ratePerSec, burst: 1 }
        const at = `${key}-${ratePerSec}`
        for (let i = 0; i < 20; i++) {
          const outcome = await limiter.take(at, odd)
          if (outcome.taken) continue
          expect(outcome.retryAfterMs).toBeGreaterThanOrEqual(1)
          await time.advance(outcome.retryAfterMs)
          expect((await limiter.take(at, odd)).taken).toBe(true)
        }
      }
    })

    it('[MCP-54] several tokens are taken together or not at all, and a call after the named waiting time succeeds', async () => {
      await takes(77)
      expect(await limiter.take(key, bucket, 5)).toEqual({ taken: false, retryAfterMs: 50 })
      await time.advance(50)
      expect((await limiter.take(key, bucket, 5)).taken).toBe(true)
      expect(await takes(1)).toBe(0)
    })

    it('[LIM-2] tokens go to concurrent callers in the order in which they asked', async () => {
      const outcomes = await Promise.all(Array.from({ length: 100 }, async () => limiter.take(key, bucket)))
      expect(outcomes.map(({ taken }) => taken)).toEqual([...Array<true>(80).fill(true), ...Array<false>(20).fill(false)])
    })

    it('[LIM-2] buckets of different keys are independent', async () => {
      await takes(80)
      expect([await takes(1), await takes(1, bucket, `${key}-other`)]).toEqual([0, 1])
    })

    it('[CFG-8] a bucket with rate null never refuses', async () => {
      expect(await takes(10_000, { ratePerSec: null, burst: 1 })).toBe(10_000)
      expect(await takes(200)).toBe(80)
    })

    const person = { kind: 'person' } as const
    const agent = { kind: 'agent', leaves: 50 } as const
    const takesAs = (count: number, taker: Taker): Promise<number> => countTaken(count, () => limiter.take(key, bucket, 1, taker))

    it('[AG-86] while a person writes, an agent leaves the share of the burst; a person can take all', async () => {
      expect(await takesAs(1, person)).toBe(1)
      expect(await takesAs(200, agent)).toBe(39)
      expect(await takesAs(200, person)).toBe(40)
    })

    it('[AG-86] while nobody writes, and with a share of 0, an agent takes the whole burst', async () => {
      expect(await takesAs(200, agent)).toBe(80)
      await time.advance(60_000)
      expect(await takesAs(1, person)).toBe(1)
      await time.advance(10_000)
      expect(await takesAs(200, agent)).toBe(80)
      await time.advance(60_000)
      expect(await takesAs(1, person)).toBe(1)
      expect(await takesAs(200, { kind: 'agent', leaves: 0 })).toBe(79)
    })

    it('[AG-86] an eighth of the refill is for agents while people take everything else', async () => {
      await takesAs(80, person)
      await takesAs(1, agent)
      let [people, agents] = [0, 0]
      for (let i = 0; i < 100; i++) {
        await time.advance(100)
        people += await takesAs(10, person)
        agents += await takesAs(3, agent)
      }
      expect(agents).toBeGreaterThanOrEqual(49)
      expect(people + agents).toBeLessThanOrEqual(401)
      expect(people).toBeGreaterThanOrEqual(340)
    })

    it('[AG-86] at least one token a second is for agents, also of a slow bucket', async () => {
      const slow = { ratePerSec: 2, burst: 10 }
      const at = `${key}-slow`
      for (let i = 0; i < 10; i++) await limiter.take(at, slow, 1, person)
      await limiter.take(at, slow, 1, agent)
      let agents = 0
      for (let i = 0; i < 20; i++) {
        await time.advance(500)
        while ((await limiter.take(at, slow, 1, person)).taken);
        if ((await limiter.take(at, slow, 1, agent)).taken) agents++
      }
      expect(agents).toBeGreaterThanOrEqual(9)
    })

    it('[AG-86] a refusal tells an agent when it gets its token, and a call after that time succeeds', async () => {
      await takesAs(60, person)
      for (let i = 0; i < 20; i++) {
        const outcome = await limiter.take(key, bucket, 1 + (i % 5), agent)
        if (outcome.taken) continue
        await time.advance(outcome.retryAfterMs)
        expect((await limiter.take(key, bucket, 1 + (i % 5), agent)).taken).toBe(true)
      }
    })

    it('[LIM-2] a changed rate and burst apply from the next call', async () => {
      await takes(80)
      await time.advance(1_000)
      expect(await takes(100, { ratePerSec: 10, burst: 5 })).toBe(5)
    })

    it('[LIM-2] a jump of the wall clock adds no tokens', async () => {
      await takes(80)
      time.jumpWall(3_600_000)
      expect(await takes(1)).toBe(0)
    })
  })
}
