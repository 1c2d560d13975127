import { describe, expect, it } from 'vitest'
import { saveLatestMs } from './room-body.ts'

describe('saveLatestMs, the latest time of a save', () => {
  it('[LIFE-10] the latest time of a save is at most the configured time and differs between rooms opened in a row', () => {
    const latest = Array.from({ length: 100 }, (_, room) => saveLatestMs({ saveLatestMs: 10_000 }, room))
    expect(Math.max(...latest)).toBeLessThanOrEqual(10_000)
    expect(Math.min(...latest)).toBeGreaterThanOrEqual(8_000)
    for (let from = 8_000; from < 10_000; from += 200)
      expect(latest.filter((ms) => ms > from && ms <= from + 200).length).toBeLessThanOrEqual(12)
  })
})
