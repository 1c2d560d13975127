import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RevocationOrder } from './revocation-order.ts'
import { threadTime } from '@docrelay/model/testing/thread-time'

describe('revoked tokens in memory', () => {
  it('[AUTH-16] the revocation memory equals a sorted list: each jti once at its earliest time, the oldest removed first', () => {
    const entry = fc.tuple(
      fc.integer({ min: 0, max: 30 }).map((n) => `j${n}`),
      fc.integer({ min: 0, max: 10 }),
    )
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 80 }), fc.integer({ min: 1, max: 12 }), (entries, keep) => {
        const order = new RevocationOrder(keep)
        let model: [string, number][] = []
        for (const [jti, atMs] of entries) {
          const known = model.find(([other]) => other === jti)
          if (known) known[1] = Math.min(known[1], atMs)
          else model.push([jti, atMs])
          model = model.sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1)).slice(-keep)
          order.add(jti, atMs)
          expect(order.size).toBe(model.length)
        }
        for (let n = 0; n <= 30; n++) expect(order.has(`j${n}`)).toBe(model.some(([jti]) => jti === `j${n}`))
      }),
      { numRuns: 500 },
    )
  })

  it('[A-11] [LIM-11] of 1,000,001 entries exactly the oldest is removed; an insert takes at most 1 ms at p99, and all at most 300 MB', () => {
    const total = 1_000_001
    // A fixed shuffle: multiplying by a number without common factors visits every place once.
    const timeOf = (i: number): number => (i * 514_229) % total
    const heapBefore = process.memoryUsage().heapUsed
    const order = new RevocationOrder(1_000_000)
    const slowest = new Float64Array(1_000)
    for (let i = 0; i < total; i++) {
      const sampled = i % 1_000 === 999
      const took = sampled ? threadTime() : null
      order.add(`token-${i}-0123456789abcdef`, timeOf(i))
      if (took !== null) slowest[(i + 1) / 1_000 - 1] = took()
    }
    expect(order.size).toBe(1_000_000)
    const missing = []
    for (let i = 0; i < total; i++) if (!order.has(`token-${i}-0123456789abcdef`)) missing.push(timeOf(i))
    expect(missing).toEqual([0])
    expect(slowest.toSorted()[989]).toBeLessThan(1)
    expect((process.memoryUsage().heapUsed - heapBefore) / 1e6).toBeLessThan(300)
  })
})
