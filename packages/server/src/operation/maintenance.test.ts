import { expect, it } from 'vitest'
import { createLogger } from '../kernel/log.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'
import {
  callRecordsJob,
  changeFeedJob,
  clearTotals,
  lookEveryMs,
  onOneNode,
  rememberedJob,
  removalsJob,
  revocationFeedJob,
  settlingJob,
  shareLinkJob,
  startMaintenance,
  tombstoneJob,
  totalsJob,
} from './maintenance.ts'

const DAY_MS = 86_400_000

/** Runs the maintenance of a store that has `old` tombstones to purge, and records its calls to the store. */
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
  const jobs = [tombstoneJob(store, time.clock, tombstoneDays)]
  const maintenance = startMaintenance({ jobs, log, timers: time.timers })
  return { time, asked, maintenance }
}

it('[LIFE-24] tombstones older than tombstone_days are purged every minute', async () => {
  const { time, asked } = running(30)
  await time.advance(120_000)
  expect(asked.map(({ beforeMs }) => beforeMs)).toEqual(
    [0, 1, 2].map((minute) => Date.UTC(2026, 0, 1) + minute * 60_000 - 30 * DAY_MS),
  )
})

it('[LIFE-30] many tombstones are purged in bounded batches with pauses', async () => {
  const { time, asked } = running(30, 1_200)
  await time.advance(1_000)
  expect(asked).toHaveLength(3)
  expect(new Set(asked.map(({ limit }) => limit))).toEqual(new Set([500]))
})

it('[CFG-8] with tombstone_days 0 a deleted id is free within a second, and a huge number is accepted', async () => {
  const soon = running(0)
  await soon.time.advance(3_000)
  expect(soon.asked).toHaveLength(4)
  expect(soon.asked.at(-1)?.beforeMs).toBe(soon.time.clock.nowMs())
  expect(running(Number.MAX_SAFE_INTEGER).asked).toEqual([{ beforeMs: 0, limit: 500 }])
})

it('[LIFE-30] disposing of the maintenance stops all its jobs', async () => {
  const { time, asked, maintenance } = running(0)
  await time.advance(1_000)
  await maintenance[Symbol.asyncDispose]()
  await time.advance(10_000)
  expect([asked.length, time.waiting()]).toEqual([2, 0])
})

it('[LIFE-30] each maintenance job runs at its own interval, and a failing job does not delay the others', async () => {
  const time = manualTime()
  const log = createLogger({ level: 'error', format: 'json', clock: time.clock, write: () => {} })
  const ran: string[] = []
  const job = (name: string, everyMs: number) => ({
    name,
    everyMs,
    run() {
      ran.push(name)
      return name === 'bad' ? Promise.reject(new Error('no disk')) : Promise.resolve(false)
    },
  })
  const maintenance = startMaintenance({ jobs: [job('bad', 1_000), job('good', 2_000)], log, timers: time.timers })
  await time.advance(4_000)
  expect(ran.filter((name) => name === 'bad')).toHaveLength(5)
  expect(ran.filter((name) => name === 'good')).toHaveLength(3)
  await maintenance[Symbol.asyncDispose]()
})

it('[LIFE-30] documents that are not resident and whose bodies lack edits are settled a few at a time', async () => {
  const keys = [1, 2, 3, 4, 5, 6, 7]
  const document = (key: number) => ({ key, workspaceId: 'ws', id: `doc-${key}` })
  const asked: number[] = []
  const settled: string[] = []
  const job = settlingJob(
    {
      behind(afterKey) {
        asked.push(afterKey)
        const documents = keys.filter((key) => key > afterKey).map(document)
        return Promise.resolve(afterKey < 5 ? { documents, nextKey: 2_000 } : { documents: [], nextKey: null })
      },
    },
    {
      isResident: ({ id }) => id === 'doc-2',
      settle({ id }) {
        settled.push(id)
        return id === 'doc-1' ? Promise.reject(new Error('damaged')) : Promise.resolve()
      },
    },
  )
  expect([await job.run(), await job.run(), await job.run()]).toEqual([true, false, true])
  expect(asked).toEqual([0, 5, 0])
  expect(settled.slice(0, 4)).toEqual(['doc-1', 'doc-3', 'doc-4', 'doc-5'])
})

it('[SHARE-3] [LIFE-30] expired share links are purged in bounded batches', async () => {
  const time = manualTime()
  const asked: [number, number][] = []
  const purgeExpired = (nowMs: number, limit: number) => {
    asked.push([nowMs, limit])
    return Promise.resolve(asked.length === 1 ? limit : 3)
  }
  const job = shareLinkJob({ purgeExpired }, time.clock)
  expect([await job.run(), await job.run()]).toEqual([true, false])
  expect(asked).toEqual([1, 2].map(() => [time.clock.nowMs(), 500]))
})

it('[TOOL-22] [LIFE-30] expired request ids are purged in bounded batches', async () => {
  const time = manualTime()
  const asked: (readonly [number, number])[] = []
  const purgeRemembered = (beforeMs: number, limit: number): Promise<number> => {
    asked.push([beforeMs, limit])
    return Promise.resolve(asked.length === 1 ? limit : 3)
  }
  const job = rememberedJob({ purgeRemembered }, time.clock, 600_000)
  expect([await job.run(), await job.run(), job.everyMs]).toEqual([true, false, 60_000])
  expect(asked).toEqual([1, 2].map(() => [time.clock.nowMs() - 600_000, 500]))
})

it('[AG-110] [LIFE-30] rows about removed blocks are purged after ten minutes in bounded batches', async () => {
  const time = manualTime()
  const asked: (readonly [number, number])[] = []
  const purgeRemovals = (beforeMs: number, limit: number): Promise<number> => {
    asked.push([beforeMs, limit])
    return Promise.resolve(asked.length === 1 ? limit : 3)
  }
  const job = removalsJob({ purgeRemovals }, time.clock)
  expect([await job.run(), await job.run(), job.everyMs]).toEqual([true, false, 60_000])
  expect(asked).toEqual([1, 2].map(() => [time.clock.nowMs() - 600_000, 500]))
})

it('[AG-67] [OPS-4] after each removal of call records a gauge shows the bytes of the remaining records', async () => {
  const time = manualTime()
  const shown: unknown[] = []
  let left = 70
  const job = callRecordsJob({
    store: {
      purge: async ({ beforeMs, mostBytes, limit }) => {
        expect([beforeMs, mostBytes]).toEqual([time.clock.nowMs() - 600_000, 50])
        left -= 30
        return left === 40 ? limit : 1
      },
      totalBytes: async () => left,
    },
    clock: time.clock,
    metrics: { set: (name: string, ...values: readonly unknown[]) => void shown.push([name, ...values]) },
    keptMs: 600_000,
    mostBytes: async () => 50,
  })
  expect([await job.run(), await job.run(), job.everyMs]).toEqual([true, false, 60_000])
  expect(shown).toEqual([
    ['relay_call_records_bytes', 40],
    ['relay_call_records_bytes', 10],
  ])
})

it('[CFG-8] a job looks for expired data after its time of expiry, at least a second and at most a minute', () => {
  expect([0, 500, 5_000, 300_000].map(lookEveryMs)).toEqual([1_000, 1_000, 5_000, 60_000])
})

it('[OPS-3] [OPS-4] totals are counted once a minute, and less often when counting takes long', async () => {
  const time = manualTime()
  const shown = new Map<string, number>()
  let asked = 0
  let tookMs = 0
  const totals = async () => {
    asked++
    await time.advance(tookMs)
    return { documentBytes: 10, blobBytes: 5, unownedDocuments: 2, recoveryPoints: 3 }
  }
  const job = totalsJob(
    { set: (name: string, ...values: readonly unknown[]) => void shown.set(name, Number(values[0])) },
    totals,
    time.clock,
  )
  expect(job.everyMs).toBe(60_000)
  expect(await job.run()).toBe(false)
  expect(Object.fromEntries(shown)).toEqual({
    relay_storage_bytes_total: 15,
    relay_doc_bytes_total: 10,
    relay_unowned_documents: 2,
    relay_version_points_total: 3,
  })
  tookMs = 2_000
  await job.run()
  for (const [waitMs, expected] of [
    [60_000, 2],
    [139_000, 2],
    [1_000, 3],
  ] as const) {
    await time.advance(waitMs)
    await job.run()
    expect(asked).toBe(expected)
  }
})

it('[LIFE-30] a job runs on the node that has its lease, and other nodes skip it until its next run', async () => {
  const done: string[] = []
  let isMine = true
  const job = { name: 'totals', everyMs: 1_000, run: async () => done.push('ran') > 0 }
  const byOne = onOneNode(
    job,
    async () => ({ isMine }),
    () => void done.push('not here'),
  )
  expect(await byOne.run()).toBe(true)
  isMine = false
  expect(await byOne.run()).toBe(false)
  expect(done).toEqual(['ran', 'not here'])
  expect(byOne).toMatchObject({ name: 'totals', everyMs: 1_000 })
})

it('[OPS-3] totals that another node exports are 0 on this node', async () => {
  const shown = new Map<string, number>()
  const metrics = { set: (name: string, ...values: readonly unknown[]) => void shown.set(name, Number(values[0])) }
  const totals = { documentBytes: 10, blobBytes: 5, unownedDocuments: 1, recoveryPoints: 2 }
  await totalsJob(metrics, async () => totals, manualTime().clock).run()
  expect([...shown.values()]).not.toContain(0)
  const names = [...shown.keys()].sort()
  clearTotals(metrics)
  expect([...shown.keys()].sort()).toEqual(names)
  expect(new Set(shown.values())).toEqual(new Set([0]))
})

it('[FEED-3] [AUTH-14] change feed rows are purged after keep_days, revocation feed rows after 15 minutes, in bounded batches', async () => {
  const asked: object[] = []
  const feed = { purge: async (bounds: object) => asked.push(bounds) === 1 }
  const changes = changeFeedJob(feed, 7)
  expect([await changes.run(), await changes.run()]).toEqual([true, false])
  await revocationFeedJob(feed).run()
  expect(asked).toEqual([
    ...[1, 2].map(() => ({ keptMs: 7 * DAY_MS, mostBytes: 1_073_741_824, limit: 500 })),
    { keptMs: 900_000, mostBytes: null, limit: 500 },
  ])
})
