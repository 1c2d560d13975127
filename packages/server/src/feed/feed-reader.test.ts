import { expect, it } from 'vitest'
import { type Logger, silentLogger } from '../kernel/log.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'
import { startFeedReader } from './feed-reader.ts'
import type { FeedRequest } from './feed-table.port.ts'
import { createLocalHints } from './local-hints.ts'

function bench(more: { readonly log?: Logger; readonly onAway?: () => Promise<void> } = {}) {
  const time = manualTime()
  const rows: { readonly id: number; readonly atMs: number }[] = []
  const told: number[] = []
  const looks: number[] = []
  let failure: Error | null = null
  const reader = startFeedReader({
    name: 'test',
    table: {
      async read({ above, gaps, limit }: FeedRequest) {
        looks.push(time.clock.monotonicMs())
        if (failure !== null) throw failure
        const inGaps = rows.filter(({ id }) => gaps.some(({ from, to }) => from <= id && id <= to))
        const after = rows.filter(({ id }) => id > above).slice(0, limit)
        const aboveAtMs = rows.find(({ id }) => id === above)?.atMs ?? null
        return { rows: [...inGaps, ...after], aboveAtMs, lastId: 1_000_000, nowMs: time.clock.nowMs(), openSinceMs: null }
      },
    },
    place: { top: 0, gaps: [], recent: [] },
    tell: ({ id }) => void told.push(id),
    clock: time.clock,
    timers: time.timers,
    log: silentLogger,
    ...more,
  })
  const commit = (...ids: number[]): void => {
    rows.push(...ids.map((id) => ({ id, atMs: time.clock.nowMs() })))
    rows.sort((a, b) => a.id - b.id)
  }
  /** Removes the rows from this id on, as if the database had lost its last commits. */
  const lose = (from: number): void => void rows.splice(rows.findIndex(({ id }) => id >= from))
  /** Removes the rows up to this id, as the relay removes old rows. */
  const remove = (to: number): void => void rows.splice(0, rows.filter(({ id }) => id <= to).length)
  return { time, told, looks, reader, commit, lose, remove, fail: (error: Error | null) => void (failure = error) }
}

it('[LIFE-27] a row is delivered within 2 s of its commit without any hint', async () => {
  const { time, told, commit, reader } = bench()
  await time.advance(100)
  commit(1, 2)
  await time.advance(1_899)
  expect(told).toEqual([])
  await time.advance(1)
  expect(told).toEqual([1, 2])
  expect(reader.lagSec()).toBe(0)
  await time.advance(1_500)
  expect(reader.lagSec()).toBe(1.5)
})

it('[LIFE-27] after a hint a row is delivered at once, and hints for delivered rows cause no read', async () => {
  const { time, told, looks, commit, reader } = bench()
  await time.advance(500)
  commit(1)
  reader.hint(1)
  await time.advance(0)
  expect(told).toEqual([1])
  const count = looks.length
  for (const id of [1, 1, 1]) reader.hint(id)
  await time.advance(10)
  expect(looks).toHaveLength(count)
})

it('[LIFE-27] a flood of hints, also for rows that do not exist, causes few reads a second', async () => {
  const { time, looks, reader } = bench()
  await time.advance(0)
  const before = looks.length
  for (let ms = 0; ms < 1_000; ms++) {
    for (const id of [ms + 1, Number.MAX_SAFE_INTEGER, -1, Number.NaN]) reader.hint(id)
    await time.advance(1)
  }
  expect(looks.length - before).toBeLessThan(60)
})

it('[LIFE-27] hints within one process reach every listener until it is removed', () => {
  const hints = createLocalHints()
  const heard: string[] = []
  const leave = hints.onHint((workspaceId, id) => void heard.push(`${workspaceId} ${id}`))
  const unfollow = hints.follow('w')
  hints.publish('w', 1)
  leave()
  unfollow()
  hints.publish('w', 2)
  expect(heard).toEqual(['w 1'])
})

it('[LIFE-27] a node that was behind by thousands of rows reads them in one go', async () => {
  const { time, told, commit } = bench()
  commit(...Array.from({ length: 3_500 }, (_, n) => n + 1))
  await time.advance(2_000)
  expect(told).toHaveLength(3_500)
})

it('[LIFE-27] failing reads are logged once, and missed rows are delivered after the first read that succeeds', async () => {
  const logged: string[] = []
  const log = {
    ...silentLogger,
    warn: (event: string) => void logged.push(event),
    info: (event: string) => void logged.push(event),
  }
  const { time, told, commit, fail, reader } = bench({ log })
  await time.advance(100)
  fail(new Error('gone'))
  await time.advance(20_000)
  commit(1, 2)
  expect(reader.lagSec()).toBeGreaterThan(18)
  fail(null)
  await time.advance(2_000)
  expect(told).toEqual([1, 2])
  expect(logged).toEqual(['feed.not_read', 'feed.read_again'])
})

it('[AUTH-14] a node whose reads failed for 10 min loads everything again before it delivers rows', async () => {
  const order: string[] = []
  let refuses = true
  const { time, told, commit, fail } = bench({
    async onAway() {
      order.push(`away, told ${told.length}`)
      if (refuses) throw new Error('not now')
    },
  })
  await time.advance(2_000)
  fail(new Error('gone'))
  await time.advance(11 * 60_000)
  commit(5)
  fail(null)
  await time.advance(2_000)
  refuses = false
  await time.advance(4_000)
  expect(order).toEqual(['away, told 0', 'away, told 0'])
  expect(told).toEqual([5])
})

it('[AUTH-14] a node whose machine was suspended loads everything again, although its own clock stood still meanwhile', async () => {
  const order: string[] = []
  const { time, told, commit } = bench({ onAway: async () => void order.push(`away, told ${told.length}`) })
  commit(1)
  await time.advance(2_000)
  time.jumpWall(9 * 60_000)
  await time.advance(2_000)
  expect(order).toEqual([])
  time.jumpWall(16 * 60_000)
  commit(5)
  await time.advance(2_000)
  await time.advance(60_000)
  expect([order, told]).toEqual([['away, told 1'], [1, 5]])
})

it('[AUTH-14] a node loads everything again once when the newest row that it has read was removed', async () => {
  let times = 0
  const { time, told, commit, remove } = bench({ onAway: async () => void times++ })
  commit(1, 2)
  await time.advance(11 * 60_000)
  expect(times).toBe(0)
  remove(2)
  await time.advance(60_000)
  expect(times).toBe(1)
  commit(6)
  await time.advance(60_000)
  expect([times, told]).toEqual([1, [1, 2, 6]])
})

it('[LIFE-5] lost commits of the database are logged once, and the rows that reuse their ids are delivered within 2 s', async () => {
  const logged: string[] = []
  const log = { ...silentLogger, error: (event: string) => void logged.push(event) }
  const { time, told, commit, lose } = bench({ log })
  commit(1, 2, 3)
  await time.advance(2_000)
  lose(2)
  await time.advance(500)
  commit(2, 3, 4, 5)
  await time.advance(1_500)
  expect(told).toEqual([1, 2, 3, 2, 3, 4, 5])
  await time.advance(10_000)
  expect([told.length, logged]).toEqual([7, ['feed.went_back']])
})

it('[LIFE-28] a disposed reader reads and delivers nothing', async () => {
  const { time, told, looks, commit, reader } = bench()
  await time.advance(100)
  await reader[Symbol.asyncDispose]()
  commit(1)
  reader.hint(1)
  const before = looks.length
  await time.advance(10_000)
  expect(told).toEqual([])
  expect(looks).toHaveLength(before)
})
