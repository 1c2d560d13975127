import { expect, it } from 'vitest'
import { createLogger } from '../kernel/log.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'
import { startMaintenance } from './maintenance.ts'

const DAY_MS = 86_400_000

/** Maintenance of a store that has `old` tombstones to give away; what it was asked is noted. */
function running(tombstoneDays: number, old = 0) {
  const time = manualTime()
  const asked: { beforeMs: number; limit: number }[] = []
  let left = old
  const store = {
    purgeTombstones(beforeMs: number, limit: number): Promise<number> {
      asked.push({ beforeMs, limit })
      const purged = Math.min(left, limit)
      left -= purged
      return Promise.resolve(purged)
    },
  }
  const log = createLogger({ level: 'error', format: 'json', clock: time.clock, write: () => {} })
  const maintenance = startMaintenance({ store, log, tombstoneDays, clock: time.clock, timers: time.timers })
  return { time, asked, maintenance }
}

it('[LIFE-24] tombstones older than tombstone_days go, looked for every minute', async () => {
  const { time, asked } = running(30)
  await time.advance(120_000)
  expect(asked.map(({ beforeMs }) => beforeMs)).toEqual(
    [0, 1, 2].map((minute) => Date.UTC(2026, 0, 1) + minute * 60_000 - 30 * DAY_MS),
  )
})

it('[LIFE-30] many are removed in bounded batches with pauses', async () => {
  const { time, asked } = running(30, 1_200)
  await time.advance(1_000)
  expect(asked).toHaveLength(3)
  expect(new Set(asked.map(({ limit }) => limit))).toEqual(new Set([500]))
})

it('[CFG-8] with 0 days an id is free within a second, and no number of days is too large for a store', async () => {
  const soon = running(0)
  await soon.time.advance(3_000)
  expect(soon.asked).toHaveLength(4)
  expect(soon.asked.at(-1)?.beforeMs).toBe(soon.time.clock.nowMs())
  expect(running(Number.MAX_SAFE_INTEGER).asked).toEqual([{ beforeMs: 0, limit: 500 }])
})

it('[LIFE-30] it ends when it is told to', async () => {
  const { time, asked, maintenance } = running(0)
  await time.advance(1_000)
  await maintenance[Symbol.asyncDispose]()
  await time.advance(10_000)
  expect([asked.length, time.waiting()]).toEqual([2, 0])
})
