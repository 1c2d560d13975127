import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FeedMark, TRAIL_MS } from './feed-mark.ts'
import type { FeedRead } from './feed-table.port.ts'

type Row = { readonly id: number; readonly atMs: number }

/** Returns the answer of a database whose clock is one second ahead of the node's and whose highest id is 1,000 or more. */
const read = (ids: readonly number[], nowMs: number, more: Partial<FeedRead<Row>> = {}): FeedRead<Row> => ({
  rows: ids.map((id) => ({ id, atMs: nowMs })),
  aboveAtMs: null,
  lastId: Math.max(1_000, ...ids),
  nowMs: nowMs + 1_000,
  openSinceMs: null,
  ...more,
})
const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id)

it('[WS-51] rows are returned once, in the order of their ids, and a missing lower id is returned when it appears', () => {
  const mark = new FeedMark({ top: 10, gaps: [], recent: [] }, 0)
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

it('[LIFE-27] a missing id is requested for 30 s after a higher one was seen, and then given up', () => {
  const mark = new FeedMark({ top: 0, gaps: [], recent: [] }, 0)
  mark.take(read([2], 0), 0, 10)
  mark.take(read([], 2_000), 2_000, 2_010)
  mark.take(read([], TRAIL_MS), TRAIL_MS, TRAIL_MS + 5)
  expect(mark.missing).toBe(1)
  expect(mark.request(1, 10 + TRAIL_MS).asksOpen).toBe(true)
  mark.take(read([], 10 + TRAIL_MS), 10 + TRAIL_MS, 20 + TRAIL_MS)
  expect(mark.missing).toBe(0)
  expect(idsOf(mark.take(read([1], 60_000), 60_000, 60_001))).toEqual([])
})

it('[LIFE-27] a missing id is requested as long as a transaction is open that was open when the id was found missing', () => {
  const mark = new FeedMark({ top: 0, gaps: [], recent: [] }, 0)
  mark.take(read([2], 0), 0, 10)
  mark.take(read([], 2_000), 2_000, 2_010)
  // The second read was at 3,000 by the clock of the database; this transaction began before it.
  const open = { openSinceMs: 2_900 }
  for (const atMs of [40_000, 400_000]) mark.take(read([], atMs, open), atMs, atMs + 5)
  expect(mark.missing).toBe(1)
  expect(idsOf(mark.take(read([1], 500_000, open), 500_000, 500_001))).toEqual([1])
})

it('[LIFE-27] a missing id is given up although transactions are open that began after it was found missing', () => {
  const mark = new FeedMark({ top: 0, gaps: [], recent: [] }, 0)
  mark.take(read([2], 0), 0, 10)
  mark.take(read([], 2_000), 2_000, 2_010)
  mark.take(read([], 40_000, { openSinceMs: 3_001 }), 40_000, 40_005)
  expect(mark.missing).toBe(0)
})

it('[LIFE-27] a missing id is not given up while reads fail, nor by the first read that succeeds again', () => {
  const mark = new FeedMark({ top: 0, gaps: [], recent: [] }, 0)
  mark.take(read([2], 0), 0, 10)
  // The next read succeeds two minutes later. It is the first read after id 1 was missed that returns the time of the database.
  expect(mark.request(1, 120_000).asksOpen).toBe(false)
  mark.take(read([], 120_000), 120_000, 120_010)
  expect(mark.missing).toBe(1)
  expect(idsOf(mark.take(read([1], 122_000), 122_000, 122_010))).toEqual([1])
})

it('[WS-51] a node that starts later requests the ids whose transactions were open at its start', () => {
  const mark = new FeedMark({ top: 9, gaps: [{ from: 3, to: 5 }], recent: [] }, 0)
  expect(idsOf(mark.take(read([1, 4, 9, 10], 0), 0, 1))).toEqual([4, 10])
})

it('[LIFE-5] when the database has lost its last commits, rows under the reused ids count as new', () => {
  const mark = new FeedMark({ top: 0, gaps: [], recent: [] }, 0)
  const before = read([1, 2, 5], 0, { lastId: 5 })
  expect(mark.wentBack(before)).toBe(false)
  mark.take(before, 0, 1)
  expect(mark.wentBack(read([], 2_000, { lastId: 3 }))).toBe(true)
  expect(mark.request(9, 2_000)).toMatchObject({ above: 0, gaps: [] })
  const [one, two] = before.rows as [Row, Row]
  const after = { ...read([], 4_000), rows: [one, two, { id: 4, atMs: 4_000 }, { id: 5, atMs: 4_000 }] }
  expect(mark.wentBack(after)).toBe(false)
  expect(idsOf(mark.take(after, 4_000, 4_001))).toEqual([4, 5])
  expect(mark.request(9, 4_001)).toMatchObject({ above: 5, gaps: [{ from: 3, to: 3 }] })
})

it('[LIFE-5] lost commits are noticed when new rows have taken their ids and higher ones, and each new row is returned once', () => {
  const recent = [
    { id: 8, atMs: 80 },
    { id: 9, atMs: 90 },
  ]
  const mark = new FeedMark({ top: 9, gaps: [], recent }, 0)
  mark.take(read([10, 11], 100), 100, 101)
  expect(mark.wentBack(read([], 200, { aboveAtMs: 100 }))).toBe(false)
  // Rows 10 and 11 were lost, and 12 is higher than every id that was returned before.
  const rows = [...recent, ...[10, 11, 12].map((id) => ({ id, atMs: 3_000 }))]
  const after = { ...read([], 3_000, { aboveAtMs: 3_000 }), rows: rows.slice(-1) }
  expect(mark.wentBack(after)).toBe(true)
  expect(mark.request(9, 3_000).above).toBe(7)
  expect(idsOf(mark.take({ ...after, rows }, 3_000, 3_001))).toEqual([10, 11, 12])
  expect(mark.wentBack(read([], 4_000, { aboveAtMs: 3_000 }))).toBe(false)
  expect(idsOf(mark.take(read([13], 5_000), 5_000, 5_001))).toEqual([13])
})

it('[LIFE-27] late rows do not make a mark forget newer rows, so after lost commits no row is returned twice', () => {
  const mark = new FeedMark({ top: 0, gaps: [], recent: [] }, 0)
  const row = (id: number): Row => ({ id, atMs: id })
  const newest = Array.from({ length: 1_000 }, (_, n) => row(1_001 + n))
  mark.take({ ...read([], 1_000), rows: [row(500), ...newest] }, 1_000, 1_001)
  const late = Array.from({ length: 400 }, (_, n) => row(1 + n))
  expect(mark.take({ ...read([], 2_000), rows: late }, 2_000, 2_001)).toHaveLength(400)
  // The database has lost row 2,000, and gives its id to another row.
  const kept = [...late, row(500), ...newest.slice(0, -1)]
  const after = read([], 3_000, { lastId: 2_000, aboveAtMs: 3_000 })
  expect(mark.wentBack(after)).toBe(true)
  const { above } = mark.request(9_000, 3_000)
  const rows = [...kept, { id: 2_000, atMs: 3_000 }].filter(({ id }) => id > above)
  expect(idsOf(mark.take({ ...after, rows }, 3_000, 3_001))).toEqual([2_000])
})

it('[LIFE-27] after lost commits a mark forgets the lost ids, and remembers the lower ids that new rows get', () => {
  const mark = new FeedMark({ top: 0, gaps: [], recent: [] }, 0)
  const rowsOf = (from: number, count: number, atMs: number) => Array.from({ length: count }, (_, n) => ({ id: from + n, atMs }))
  mark.take({ ...read([], 1_000), rows: rowsOf(1, 2_000, 1_000) }, 1_000, 1_001)
  expect(mark.wentBack(read([], 2_000, { lastId: 600 }))).toBe(true)
  const kept = rowsOf(1, 600, 1_000)
  mark.take({ ...read([], 2_000), rows: kept }, 2_000, 2_001)
  const next = rowsOf(601, 100, 3_000)
  expect(mark.take({ ...read([], 3_000), rows: next }, 3_000, 3_001)).toHaveLength(100)
  // Row 700 was replaced. The mark notices this, because it remembers another time for row 700.
  expect(mark.wentBack(read([], 4_000, { lastId: 700, aboveAtMs: 3_500 }))).toBe(true)
  const { above } = mark.request(9_000, 4_000)
  const again = [...kept, ...next.slice(0, -1), { id: 700, atMs: 3_500 }].filter(({ id }) => id > above)
  expect(idsOf(mark.take({ ...read([], 4_000), rows: again }, 4_000, 4_001))).toEqual([700])
})

it('[LIFE-5] a missing newest row counts as lost when it is younger than ten minutes, otherwise as removed', () => {
  const mark = new FeedMark({ top: 9, gaps: [], recent: [{ id: 9, atMs: 1_000 }] }, 0)
  expect(mark.wentBack(read([], 600_000))).toBe(false)
  expect(mark.wentBack(read([], 599_998))).toBe(true)
})

it('[LIFE-5] whichever commits the database loses, each row that is ever written is returned exactly once', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ lost: fc.nat(4), made: fc.nat(6) }), { maxLength: 12 }), (steps) => {
      const mark = new FeedMark({ top: 0, gaps: [], recent: [] }, 0)
      const told: string[] = []
      const made: string[] = []
      let rows: Row[] = []
      let nowMs = 1_000
      const look = (): void => {
        for (let isMore = true; isMore; ) {
          nowMs++
          const { above, gaps } = mark.request(1_000, nowMs)
          const given = rows.filter(({ id }) => id > above || gaps.some(({ from, to }) => from <= id && id <= to))
          const aboveAtMs = rows.find(({ id }) => id === above)?.atMs ?? null
          const answer = { rows: given, aboveAtMs, lastId: rows.at(-1)?.id ?? 0, nowMs, openSinceMs: null }
          isMore = mark.wentBack(answer)
          if (!isMore) told.push(...mark.take(answer, nowMs, nowMs).map(({ id, atMs }) => `${id} at ${atMs}`))
        }
      }
      for (const { lost, made: count } of steps) {
        look()
        rows = rows.slice(0, rows.length - Math.min(lost, rows.length))
        for (let n = 0; n < count; n++) {
          rows.push({ id: (rows.at(-1)?.id ?? 0) + 1, atMs: ++nowMs })
          made.push(`${rows.at(-1)?.id} at ${nowMs}`)
        }
        look()
      }
      expect(told).toEqual(made)
    }),
  )
})

it('[LIFE-27] of many missing ranges only the newest thousand are requested', () => {
  const mark = new FeedMark({ top: 0, gaps: [], recent: [] }, 0)
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
