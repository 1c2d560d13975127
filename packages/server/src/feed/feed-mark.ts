import type { FeedPlace, FeedRead, FeedRequest, IdRange } from './feed-table.port.ts'

/** The shortest time for which a missing id is looked for. [LIFE-27] */
export const TRAIL_MS = 30_000
/** Most missing ranges that are kept; a rolled-back transaction leaves one. Above it the lowest are given up. */
const MOST_GAPS = 1_000

interface Gap extends IdRange {
  /** When a higher id was first seen without these. */
  readonly sinceMs: number
  /** A moment by the clock of the database after `sinceMs`; `null` until the next look. */
  readonly beforeMs: number | null
}

/**
 * What a node has been told of a feed. Ids are given within transactions and become visible when these commit, so a
 * higher id may show first. Each id that is missing below the highest one told is looked for again, for at least 30 s
 * and until every transaction has ended that was open when it was found missing; then it belongs to a transaction that
 * was rolled back. So the mark below which everything is told trails behind, and above it no row is told twice.
 * [WS-51, LIFE-27]
 */
export class FeedMark {
  #top: number
  #gaps: readonly Gap[]

  /** `nowMs`: monotonic, as in all calls. */
  constructor({ top, gaps }: FeedPlace, nowMs: number) {
    this.#top = top
    this.#gaps = gaps.map((range) => ({ ...range, sinceMs: nowMs, beforeMs: null }))
  }

  /** What to read in a look that begins now. */
  request(limit: number, nowMs: number): FeedRequest {
    return {
      above: this.#top,
      gaps: this.#gaps.map(({ from, to }) => ({ from, to })),
      limit,
      asksOpen: this.#gaps.some((gap) => isOld(gap, nowMs)),
    }
  }

  /** Whether a row of this id was told or has been given up. */
  has(id: number): boolean {
    return id <= this.#top && !this.#gaps.some(({ from, to }) => from <= id && id <= to)
  }

  /**
   * Takes what a look has read and returns the rows that were not told before, in the order of their ids.
   *
   * @param startedMs - when the look began.
   * @param nowMs - when its answer was there.
   */
  take<Row extends { readonly id: number }>(read: FeedRead<Row>, startedMs: number, nowMs: number): readonly Row[] {
    const fresh = read.rows.filter(({ id }) => !this.has(id)).sort((a, b) => a.id - b.id)
    const left = this.#gaps
      .filter((gap) => !isOver(gap, read, startedMs))
      .map((gap) => (gap.beforeMs === null ? { ...gap, beforeMs: read.nowMs } : gap))
    const found = fresh.filter(({ id }) => id <= this.#top).map(({ id }) => id)
    const gaps = found.length === 0 ? left : left.flatMap((gap) => without(gap, found))
    let top = this.#top
    for (const { id } of fresh) {
      if (id <= top) continue
      if (id > top + 1) gaps.push({ from: top + 1, to: id - 1, sinceMs: nowMs, beforeMs: null })
      top = id
    }
    this.#top = top
    this.#gaps = gaps.slice(-MOST_GAPS)
    return fresh
  }

  /**
   * Whether the database has given out less than this node was told of: it came back without its last commits, and gives
   * the same ids again. Then the mark goes back, so that nothing new is taken for told.
   */
  wentBack({ lastId }: FeedRead<unknown>): boolean {
    if (lastId >= this.#top) return false
    this.#top = lastId
    this.#gaps = this.#gaps.filter(({ to }) => to <= lastId)
    return true
  }

  /** How many ids are looked for again. */
  get missing(): number {
    return this.#gaps.reduce((sum, { from, to }) => sum + to - from + 1, 0)
  }
}

function isOld({ sinceMs, beforeMs }: Gap, startedMs: number): boolean {
  return beforeMs !== null && startedMs - sinceMs >= TRAIL_MS
}

/** Whether the ids of a gap belong to transactions that were rolled back: all others would have been in this answer. */
function isOver(gap: Gap, { openSinceMs }: FeedRead<unknown>, startedMs: number): boolean {
  if (!isOld(gap, startedMs)) return false
  return openSinceMs === null || (gap.beforeMs !== null && openSinceMs > gap.beforeMs)
}

/** Returns what is left of a gap after some ids have come; `found` in order. */
function without(gap: Gap, found: readonly number[]): readonly Gap[] {
  const parts: Gap[] = []
  let from = gap.from
  for (const id of found) {
    if (id < from || id > gap.to) continue
    if (id > from) parts.push({ ...gap, from, to: id - 1 })
    from = id + 1
  }
  if (from <= gap.to) parts.push({ ...gap, from })
  return parts
}
