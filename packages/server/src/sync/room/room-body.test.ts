import { describe, expect, it } from 'vitest'
import { saveLatestMs } from './room-body.ts'

describe('saveLatestMs', () => {
  it('[LIFE-10] is never later than configured, and spreads rooms that were opened one after the other', () => {
    const latest = Array.from({ length: 100 }, (_, room) => saveLatestMs({ saveLatestMs: 10_000 }, room))
    expect(Math.max(...latest)).toBeLessThanOrEqual(10_000)
    expect(Math.min(...latest)).toBeGreaterThanOrEqual(8_000)
    for (let from = 8_000; from < 10_000; from += 200)
      expect(latest.filter((ms) => ms > from && ms <= from + 200).length).toBeLessThanOrEqual(12)
  })
})
