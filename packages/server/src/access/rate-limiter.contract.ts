import { beforeEach, describe, expect, it } from 'vitest'
import { type ManualTime, manualTime } from '../kernel/testing/manual-time.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Bucket, RateLimiter } from './rate-limiter.port.ts'

/** Registers what every driver of `RateLimiter` keeps to. Keys are new in every test, so a driver may keep its state. */
export function describeRateLimiterContract(name: string, open: (clock: Clock) => RateLimiter): void {
  describe(`RateLimiter: ${name}`, () => {
    let time: ManualTime
    let limiter: RateLimiter
    let key: string
    let tests = 0
    const bucket = { ratePerSec: 40, burst: 80 }
    const takes = (count: number, of: Bucket = bucket, at = key): number =>
      Array.from({ length: count }, () => limiter.take(at, of)).filter(({ taken }) => taken).length

    beforeEach(() => {
      time = manualTime()
      limiter = open(time.clock)
      key = `key-${tests++}`
    })

    it('[LIM-2] a new bucket is full and gives its burst', () => {
      expect(takes(200)).toBe(80)
    })

    it('[LIM-2] a bucket refills at its rate, up to its burst', async () => {
      takes(80)
      await time.advance(500)
      expect(takes(100)).toBe(20)
      await time.advance(60_000)
      expect(takes(100)).toBe(80)
    })

    it('[LIM-2] over any time a bucket gives no more than burst and rate allow', async () => {
      let given = 0
      for (let i = 0; i < 100; i++) {
        given += takes(7)
        await time.advance(33)
      }
      expect(given).toBeLessThanOrEqual(80 + 3.3 * 40)
      expect(given).toBeGreaterThanOrEqual(80 + 3.2 * 40)
    })

    it('[LIM-2] a refusal says when the next token is available, and takes none', async () => {
      takes(80)
      const refusal = limiter.take(key, bucket)
      expect(refusal).toEqual({ taken: false, retryAfterMs: 25 })
      await time.advance(10)
      expect(limiter.take(key, bucket)).toEqual({ taken: false, retryAfterMs: 15 })
      await time.advance(15)
      expect(takes(5)).toBe(1)
    })

    it('[LIM-2] a call after the named waiting time succeeds, also at odd rates', async () => {
      for (const ratePerSec of [0.1, 3, 7, 333, 5_000]) {
        const odd = { ratePerSec, burst: 1 }
        const at = `${key}-${ratePerSec}`
        for (let i = 0; i < 20; i++) {
          const outcome = limiter.take(at, odd)
          if (outcome.taken) continue
          expect(outcome.retryAfterMs).toBeGreaterThanOrEqual(1)
          await time.advance(outcome.retryAfterMs)
          expect(limiter.take(at, odd).taken).toBe(true)
        }
      }
    })

    it('[MCP-54] several tokens are taken together or not at all, and a call after the named waiting time succeeds', async () => {
      takes(77)
      expect(limiter.take(key, bucket, 5)).toEqual({ taken: false, retryAfterMs: 50 })
      await time.advance(50)
      expect(limiter.take(key, bucket, 5).taken).toBe(true)
      expect(takes(1)).toBe(0)
    })

    it('[LIM-2] buckets of different keys are independent', () => {
      takes(80)
      expect([takes(1), takes(1, bucket, `${key}-other`)]).toEqual([0, 1])
    })

    it('[CFG-8] a bucket with rate null never refuses', () => {
      expect(takes(10_000, { ratePerSec: null, burst: 1 })).toBe(10_000)
      expect(takes(200)).toBe(80)
    })

    it('[LIM-2] a changed rate and burst apply from the next call', async () => {
      takes(80)
      await time.advance(1_000)
      expect(takes(100, { ratePerSec: 10, burst: 5 })).toBe(5)
    })

    it('[LIM-2] a jump of the wall clock adds no tokens', () => {
      takes(80)
      time.jumpWall(3_600_000)
      expect(takes(1)).toBe(0)
    })
  })
}
