/** Ids from `from` to `to`, both included. */
export interface IdRange {
  readonly from: number
  readonly to: number
}

/** What every row of a feed has. */
export interface FeedRow {
  readonly id: number
  /** When the row was made, by the clock of the database. */
  readonly atMs: number
}

/** Where a node stands in a feed when it starts. */
export interface FeedPlace {
  /** The greatest id of a committed row; 0 when there was none yet. */
  readonly top: number
  /** The newest committed rows up to `top`, as far as a node needs them to notice that the database has lost some. [LIFE-5] */
  readonly recent: readonly FeedRow[]
  /** Ids below `top` whose transactions may still commit. */
  readonly gaps: readonly IdRange[]
}

export interface FeedRequest {
  readonly above: number
  readonly gaps: readonly IdRange[]
  /** The most rows with ids above `above`; those of the gaps come all. */
  readonly limit: number
  /** Whether `openSinceMs` is wanted. */
  readonly asksOpen: boolean
}

export interface FeedRead<Row> {
  /** In the order of their ids. */
  readonly rows: readonly Row[]
  /** `atMs` of the row with the id `above`; `null`: there is none. */
  readonly aboveAtMs: number | null
  /** The greatest id that the database has given out before the rows were read. */
  readonly lastId: number
  /** The clock of the database before the rows were read. */
  readonly nowMs: number
  /**
   * When the oldest transaction began that could still commit rows before the rows were read, by the clock of the
   * database; `null`: there was none, or it was not asked for.
   */
  readonly openSinceMs: number | null
}

/**
 * Rows that every node is told of. A row gets its id within the transaction that makes it, so ids become visible out of
 * order: a reader has to come back for those that were missing. Two changes of one document have ids in the order of
 * their commits, because each change locks the document before it gets its id. [WS-51, LIFE-27]
 *
 * Reads reject with UNAVAILABLE when the database cannot be read.
 */
export interface FeedTable<Row extends FeedRow> {
  /** Where a node begins that starts now: it is told of what commits after this call, and of nothing before. */
  begin(): Promise<FeedPlace>
  /** A row that comes with `above` lacks no earlier change of its document, unless that change is in an earlier answer. */
  read(request: FeedRequest): Promise<FeedRead<Row>>
  /**
   * Removes at most `limit` rows: those that were made before `beforeMs`, then the oldest while all take more than
   * `mostBytes`. Returns whether there may be more to remove. [FEED-3, LIFE-30]
   */
  purge(bounds: FeedBounds): Promise<boolean>
}

export interface FeedBounds {
  readonly beforeMs: number
  /** `null`: any number of bytes. */
  readonly mostBytes: number | null
  readonly limit: number
}
