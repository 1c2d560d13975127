import type { FeedPlace, FeedRead, FeedRequest, FeedRow, IdRange } from './feed-table.port.ts'

/** The shortest time for which a missing id is looked for. [LIFE-27] */
export const TRAIL_MS = 30_000
/** Most missing ranges that are kept; a rolled-back transaction leaves one. Above it the lowest are given up. */
const MOST_GAPS = 1_000
/** Rows of which it is remembered when they were made. */
const MOST_RECENT = 1_000
/** No row is removed before it is older than this, so a newer one that is not there was lost. */
const KEPT_MS = 10 * 60_000

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
  /** When the rows were made that this node knows of, by id: another row under the same id was made at another time. */
  readonly #recent: Map<number, number>

  /** `nowMs`: monotonic, as in all calls. */
  constructor({ top, gaps, recent }: FeedPlace, nowMs: number) {
    this.#recent = new Map(recent.map(({ id, atMs }) => [id, atMs]))
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
  take<Row extends FeedRow>(read: FeedRead<Row>, startedMs: number, nowMs: number): readonly Row[] {
    const rows = read.rows.filter(({ id }) => !this.has(id)).sort((a, b) => a.id - b.id)
    // After the mark went back, what the database has not lost is read again.
    const fresh = rows.filter(({ id, atMs }) => this.#recent.get(id) !== atMs)
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
   * Whether the database has come back without its last commits: it has given out less than this node was told of, or the newest row that
   * was told is another one now, or gone. Then the mark goes back below all rows that this node remembers, so that nothing new under the ids of
   * lost rows is taken for told, and the next look reads from there. [LIFE-5]
   */
  wentBack({ lastId, aboveAtMs, nowMs }: Omit<FeedRead<unknown>, 'rows'>): boolean {
    const knownAtMs = this.#recent.get(this.#top)
    const isLost = knownAtMs !== undefined && (aboveAtMs === null ? nowMs - knownAtMs < KEPT_MS : aboveAtMs !== knownAtMs)
    if (lastId >= this.#top && !isLost) return false
    this.#top = Math.max(0, Math.min(lastId, ...Array.from(this.#recent.keys(), (id) => id - 1)))
    this.#gaps = this.#gaps.filter(({ to }) => to <= this.#top)
    return true
  }

  #remember(rows: readonly FeedRow[]): void {
    for (const { id, atMs } of rows) {
      this.#recent.delete(id)
      this.#recent.set(id, atMs)
    }
    for (const oldest of this.#recent.keys()) {
      if (this.#recent.size <= MOST_RECENT) break
      this.#recent.delete(oldest)
    }
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
