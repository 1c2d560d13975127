import type { FeedPlace, FeedRead, FeedRequest, FeedRow, IdRange } from './feed-table.port.ts'

/** A missing id is requested for at least this long. [LIFE-27] */
export const TRAIL_MS = 30_000
/**
 * At most this many missing ranges are requested. Each rolled-back transaction leaves one. Above this number the ranges with the lowest
 * ids are given up.
 */
const MOST_GAPS = 1_000
/** Number of rows with the highest ids whose time of creation is remembered. */
const MOST_RECENT = 1_000
/** Rows younger than this are never removed, so a younger row that is missing was lost. */
const KEPT_MS = 10 * 60_000

interface Gap extends IdRange {
  /** The monotonic time of this node at which a row with a higher id was read for the first time. */
  readonly sinceMs: number
  /** A time after `sinceMs` by the clock of the database; `null` until the next read. */
  readonly beforeMs: number | null
}

/**
 * How far a node has read a feed. Ids are assigned within transactions and become visible when these commit, so a higher
 * id may appear before a lower one. Each id that is missing below the highest one read is requested again, for at least
 * 30 s and until every transaction has ended that was open when the id was found missing. An id that is still missing
 * then belongs to a rolled-back transaction. No row is returned twice. [WS-51, LIFE-27]
 */
export class FeedMark {
  #top: number
  #gaps: readonly Gap[]
  /** Creation times of the newest rows, by id. A different row under the same id has a different time. */
  readonly #recent: Map<number, number>
  /** The id of the newest row that was read, once an answer has shown that this row no longer exists. */
  #removed: number | null = null

  /** `nowMs`, here and in all methods: this node's monotonic clock. */
  constructor({ top, gaps, recent }: FeedPlace, nowMs: number) {
    this.#recent = new Map(recent.map(({ id, atMs }) => [id, atMs]))
    this.#top = top
    this.#gaps = gaps.map((range) => ({ ...range, sinceMs: nowMs, beforeMs: null }))
  }

  /** Returns the request for a read that begins now. */
  request(limit: number, nowMs: number): FeedRequest {
    return {
      above: this.#top,
      gaps: this.#gaps.map(({ from, to }) => ({ from, to })),
      limit,
      asksOpen: this.#gaps.some((gap) => isOld(gap, nowMs)),
    }
  }

  /** Whether the row with this id was returned already or given up. */
  has(id: number): boolean {
    return id <= this.#top && !this.#gaps.some(({ from, to }) => from <= id && id <= to)
  }

  /**
   * Takes the answer of a read and returns the rows that were not returned before, in the order of their ids.
   *
   * @param startedMs - when the read began.
   * @param nowMs - when its answer arrived.
   */
  take<Row extends FeedRow>(read: FeedRead<Row>, startedMs: number, nowMs: number): readonly Row[] {
    const rows = read.rows.filter(({ id }) => !this.has(id)).sort((a, b) => a.id - b.id)
    // After the mark went back, rows that the database has kept are read a second time. They were returned before, so they are left out.
    const fresh = rows.filter(({ id, atMs }) => this.#recent.get(id) !== atMs)
    if (read.aboveAtMs === null) this.#removed = this.#top
    const left = this.#gaps
      .filter((gap) => !isOver(gap, read, startedMs))
      .map((gap) => (gap.beforeMs === null ? { ...gap, beforeMs: read.nowMs } : gap))
    const found = rows.filter(({ id }) => id <= this.#top).map(({ id }) => id)
    const gaps = found.length === 0 ? left : left.flatMap((gap) => without(gap, found))
    let top = this.#top
    for (const { id } of rows) {
      if (id <= top) continue
      if (id > top + 1) gaps.push({ from: top + 1, to: id - 1, sinceMs: nowMs, beforeMs: null })
      top = id
    }
    this.#top = top
    this.#gaps = gaps.slice(-MOST_GAPS)
    this.#remember(rows)
    return fresh
  }

  /**
   * Returns whether the database has lost its last commits: its highest id is lower than an id that this node has read, or the newest row
   * that this node has read was replaced or is missing. If so, moves the mark below all remembered rows, so that the next read begins
   * there and new rows under the ids of lost rows count as new. [LIFE-5]
   */
  wentBack({ lastId, aboveAtMs, nowMs }: Omit<FeedRead<unknown>, 'rows'>): boolean {
    const knownAtMs = this.#recent.get(this.#top)
    const isLost = knownAtMs !== undefined && (aboveAtMs === null ? nowMs - knownAtMs < KEPT_MS : aboveAtMs !== knownAtMs)
    if (lastId >= this.#top && !isLost) return false
    this.#top = Math.max(0, Math.min(lastId, ...Array.from(this.#recent.keys(), (id) => id - 1)))
    // Forgets the ids above `lastId`. `#remember` keeps the highest ids, so these lost ids would displace the lower ids that new rows
    // get.
    for (const id of [...this.#recent.keys()]) if (id > lastId) this.#recent.delete(id)
    this.#gaps = this.#gaps.filter(({ to }) => to <= this.#top)
    return true
  }

  /**
   * Returns whether the newest row that this node has read was removed since the last read, so that later rows may be gone too. This
   * happens to a node that was away, and once after a long time without writes. The result is true until `take` gets the answer.
   */
  lostPlace({ aboveAtMs }: Omit<FeedRead<unknown>, 'rows'>): boolean {
    return aboveAtMs === null && this.#recent.has(this.#top) && this.#removed !== this.#top
  }

  /**
   * Remembers the rows with the highest ids, not the rows that were read last. `wentBack` moves the mark below all remembered rows, and
   * every row above the mark that was returned before must be remembered then.
   */
  #remember(rows: readonly FeedRow[]): void {
    for (const { id, atMs } of rows) this.#recent.set(id, atMs)
    const tooMany = this.#recent.size - MOST_RECENT
    if (tooMany <= 0) return
    for (const id of [...this.#recent.keys()].sort((a, b) => a - b).slice(0, tooMany)) this.#recent.delete(id)
  }

  /** The number of missing ids that are still requested. */
  get missing(): number {
    return this.#gaps.reduce((sum, { from, to }) => sum + to - from + 1, 0)
  }
}

function isOld({ sinceMs, beforeMs }: Gap, startedMs: number): boolean {
  return beforeMs !== null && startedMs - sinceMs >= TRAIL_MS
}

/** Whether the ids of a gap belong to rolled-back transactions: a committed row would have been in this answer. */
function isOver(gap: Gap, { openSinceMs }: FeedRead<unknown>, startedMs: number): boolean {
  if (!isOld(gap, startedMs)) return false
  return openSinceMs === null || (gap.beforeMs !== null && openSinceMs > gap.beforeMs)
}

/** Returns the parts of a gap that remain without the ids in `found`. `found` is in ascending order. */
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
