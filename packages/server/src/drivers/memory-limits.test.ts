import { describe, expect, it } from 'vitest'
import { describeRateLimiterContract } from '../access/rate-limiter.contract.ts'
import { describeSeatsContract } from '../access/seats.contract.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'
import { memoryRateLimiter, memorySeats } from './memory-limits.ts'

describeRateLimiterContract('memory', ({ clock }) => memoryRateLimiter(clock))
describeSeatsContract('memory', async () => memorySeats())

describe('rate limit buckets in memory', () => {
  it('[LIM-2] full buckets are forgotten, and buckets that are not full are kept', async () => {
    const time = manualTime()
    const limiter = memoryRateLimiter(time.clock)
    const bucket = { ratePerSec: 1, burst: 1 }
    for (let round = 0; round < 50; round++) {
      for (let i = 0; i < 2_000; i++) limiter.take(`key-${round}-${i}`, bucket)
      expect(limiter.take(`key-${round}-1999`, bucket).taken).toBe(false)
      await time.advance(1_000)
    }
    expect(limiter.remembered()).toBeLessThan(10_000)
  })
})
