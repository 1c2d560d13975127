/** Ids from `from` to `to`, both included. */
export interface IdRange {
  readonly from: number
  readonly to: number
}

/** The members of every row of a feed. */
export interface FeedRow {
  readonly id: number
  /** When the row was made, by the clock of the database. */
  readonly atMs: number
}

/** The position in a feed at which a starting node begins to read. */
export interface FeedPlace {
  /** The greatest id of a committed row; 0 when there was none yet. */
  readonly top: number
  /** The newest committed rows up to `top`. By these rows a node notices when the database has lost rows. [LIFE-5] */
  readonly recent: readonly FeedRow[]
  /** Ids below `top` whose transactions may still commit. */
  readonly gaps: readonly IdRange[]
}

export interface FeedRequest {
  readonly above: number
  readonly gaps: readonly IdRange[]
  /** At most this many rows with ids above `above` are returned. The rows of all gaps are returned without a limit. */
  readonly limit: number
  /** Whether the answer has to include `openSinceMs`. */
  readonly asksOpen: boolean
}

export interface FeedRead<Row> {
  /** The rows, in the order of their ids. */
  readonly rows: readonly Row[]
  /** `atMs` of the row with the id `above`; `null` when there is no such row. */
  readonly aboveAtMs: number | null
  /** The greatest id that the database has given out before the rows were read. */
  readonly lastId: number
  /** The time of the database before the rows were read. */
  readonly nowMs: number
  /**
   * When the oldest transaction began that was open before the rows were read and could still commit rows, by the clock of
   * the database; `null` when there was none, or when `asksOpen` was false.
   */
  readonly openSinceMs: number | null
}

/**
 * Rows that every node reads. A row gets its id within the transaction that inserts it, so ids become visible out of
 * order: a reader has to request missing ids again. Two changes of one document have ids in the order of their commits,
 * because each change locks the document before it gets its id. [WS-51, LIFE-27]
 *
 * Reads reject with UNAVAILABLE when the database cannot be read.
 */
export interface FeedTable<Row extends FeedRow> {
  /**
   * Returns the position at which a starting node begins to read. From there the node reads rows that commit after this call, and no rows
   * that committed before.
   */
  begin(): Promise<FeedPlace>
  /** Returns the requested rows. When a row is in the answer, earlier changes of its document are in this answer or in an earlier answer. */
  read(request: FeedRequest): Promise<FeedRead<Row>>
  /**
   * Removes at most `limit` rows: those older than `keptMs`, then the oldest while the whole table takes more than
   * `mostBytes`. Returns whether there may be more to remove. [FEED-3, LIFE-30]
   */
  purge(bounds: FeedBounds): Promise<boolean>
}

export interface FeedBounds {
  /** Rows older than this are removed. Their age is measured by the clock of the database, because the clock of a node may be ahead of it. */
  readonly keptMs: number
  /** `null`: no limit. */
  readonly mostBytes: number | null
  readonly limit: number
}
