import { expect, it } from 'vitest'
import { FeedMark, TRAIL_MS } from './feed-mark.ts'
import type { FeedRead } from './feed-table.port.ts'

type Row = { readonly id: number }

/** The answer of a database that has given `lastId` and whose clock is a second ahead of the node's. */
const read = (ids: readonly number[], nowMs: number, more: Partial<FeedRead<Row>> = {}): FeedRead<Row> => ({
  rows: ids.map((id) => ({ id })),
  lastId: Math.max(1_000, ...ids),
  nowMs: nowMs + 1_000,
  openSinceMs: null,
  ...more,
})
const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id)

it('[WS-51] rows are given once, in the order of their ids, and what was missing below them when it comes', () => {
  const mark = new FeedMark({ top: 10, gaps: [] }, 0)
  expect(idsOf(mark.take(read([11, 14, 13], 0), 0, 1))).toEqual([11, 13, 14])
  expect(mark.request(5, 1)).toEqual({ above: 14, gaps: [{ from: 12, to: 12 }], limit: 5, asksOpen: false })
  expect(idsOf(mark.take(read([11, 12, 13, 14, 20], 2_000), 2_000, 2_001))).toEqual([12, 20])
  expect(mark.request(5, 2_001).gaps).toEqual([{ from: 15, to: 19 }])
  expect(idsOf(mark.take(read([12, 17, 16, 20], 4_000), 4_000, 4_001))).toEqual([16, 17])
  expect(mark.request(5, 4_001).gaps).toEqual([
    { from: 15, to: 15 },
    { from: 18, to: 19 },
  ])
  expect([14, 15, 16, 18, 20, 21].map((id) => mark.has(id))).toEqual([true, false, true, false, true, false])
})

it('[LIFE-27] a missing id is looked for for 30 s after a higher one was seen, and then given up', () => {
  const mark = new FeedMark({ top: 0, gaps: [] }, 0)
  mark.take(read([2], 0), 0, 10)
  mark.take(read([], 2_000), 2_000, 2_010)
  mark.take(read([], TRAIL_MS), TRAIL_MS, TRAIL_MS + 5)
  expect(mark.missing).toBe(1)
  expect(mark.request(1, 10 + TRAIL_MS).asksOpen).toBe(true)
  mark.take(read([], 10 + TRAIL_MS), 10 + TRAIL_MS, 20 + TRAIL_MS)
  expect(mark.missing).toBe(0)
  expect(idsOf(mark.take(read([1], 60_000), 60_000, 60_001))).toEqual([])
})

it('[LIFE-27] a missing id is looked for as long as a transaction is open that was open when it was found missing', () => {
  const mark = new FeedMark({ top: 0, gaps: [] }, 0)
  mark.take(read([2], 0), 0, 10)
  mark.take(read([], 2_000), 2_000, 2_010)
  // The second look was at 3,000 by the clock of the database; this transaction began before it.
  const open = { openSinceMs: 2_900 }
  for (const atMs of [40_000, 400_000]) mark.take(read([], atMs, open), atMs, atMs + 5)
  expect(mark.missing).toBe(1)
  expect(idsOf(mark.take(read([1], 500_000, open), 500_000, 500_001))).toEqual([1])
})

it('[LIFE-27] transactions that began after an id was found missing do not keep it', () => {
  const mark = new FeedMark({ top: 0, gaps: [] }, 0)
  mark.take(read([2], 0), 0, 10)
  mark.take(read([], 2_000), 2_000, 2_010)
  mark.take(read([], 40_000, { openSinceMs: 3_001 }), 40_000, 40_005)
  expect(mark.missing).toBe(0)
})

it('[LIFE-27] while the database cannot be read no id is given up: only a look that came late enough says that it will not come', () => {
  const mark = new FeedMark({ top: 0, gaps: [] }, 0)
  mark.take(read([2], 0), 0, 10)
  // The next look succeeds two minutes later and is the first that asks for the clock of the database after the id was missed.
  expect(mark.request(1, 120_000).asksOpen).toBe(false)
  mark.take(read([], 120_000), 120_000, 120_010)
  expect(mark.missing).toBe(1)
  expect(idsOf(mark.take(read([1], 122_000), 122_000, 122_010))).toEqual([1])
})

it('[WS-51] who begins in the middle looks for the ids that were open then', () => {
  const mark = new FeedMark({ top: 9, gaps: [{ from: 3, to: 5 }] }, 0)
  expect(idsOf(mark.take(read([1, 4, 9, 10], 0), 0, 1))).toEqual([4, 10])
})

it('[LIFE-5] when the database has lost the last commits, ids that it gives again are not taken for told', () => {
  const mark = new FeedMark({ top: 0, gaps: [] }, 0)
  const before = read([1, 2, 5], 0, { lastId: 5 })
  expect(mark.wentBack(before)).toBe(false)
  mark.take(before, 0, 1)
  const after = read([], 2_000, { lastId: 3 })
  expect(mark.wentBack(after)).toBe(true)
  expect(idsOf(mark.take(after, 2_000, 2_001))).toEqual([])
  expect(idsOf(mark.take(read([4, 5], 4_000), 4_000, 4_001))).toEqual([4, 5])
})

it('[LIFE-27] of many missing ranges the newest thousand are looked for', () => {
  const mark = new FeedMark({ top: 0, gaps: [] }, 0)
  mark.take(
    read(
      Array.from({ length: 3_000 }, (_, n) => 2 * n + 2),
      0,
    ),
    0,
    1,
  )
  const { gaps } = mark.request(1, 1)
  expect(gaps).toHaveLength(1_000)
  expect(gaps.at(-1)).toEqual({ from: 5_999, to: 5_999 })
})
