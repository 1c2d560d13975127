/** A value of a column: an integer, a text as it is stored, or bytes. */
export type Cell = string | number | null | Uint8Array

export interface ArchivedTable {
  readonly name: string
  readonly columns: readonly string[]
  /** Names of the columns that hold bytes. */
  readonly binary: readonly string[]
  /**
   * The column whose values the engine assigns, and the highest value that it has assigned. A restored store continues
   * above that value. [YDOC-8]
   */
  readonly identity: { readonly column: string; readonly last: number } | null
}

/** Tables and columns of a store; the same for every engine. [LIFE-29] */
export interface StoreLayout {
  readonly format: number
  /** Names of the migrations that made the store, in order. */
  readonly steps: readonly string[]
  /** The tables, in an order in which no row references a row of a later table. */
  readonly tables: readonly ArchivedTable[]
}

/** The content of the store at one moment. */
export interface StoreMoment {
  readonly layout: StoreLayout
  /** Names of tables in the same database that belong to other programs, not to the store. */
  readonly others: readonly string[]
  /** Losses of acknowledged writes with which the store was opened at some time, a sentence each. [CFG-11] */
  readonly acceptedLosses: readonly string[]
  /** Every row of a table, one after the other. At most a few MiB are in memory at a time. */
  rows(table: ArchivedTable): AsyncIterable<readonly Cell[]>
}

/**
 * A store to copy. Reading locks and changes nothing, so a relay may work on the store meanwhile. Errors carry a
 * sentence for the operator.
 */
export interface StoreSource extends AsyncDisposable {
  /** Calls `work` with everything that was committed before the call, and with no part of a later commit. [OPS-9] */
  atOneMoment<T>(work: (moment: StoreMoment) => Promise<T>): Promise<T>
  /** Returns the current object of a hash in the blob store; an upload may replace it at any time. [BLOB-24] */
  objectOf(hash: string): Promise<string>
}

/** `unfinished`: a restore into the store began and did not end; the store holds no rows. */
export type FillState = 'empty' | 'unfinished' | 'in use'

/** An empty store to restore into. No other process can use it until it is disposed. */
export interface StoreTarget extends AsyncDisposable {
  readonly state: FillState
  /** Marks the store as unfinished, so that no relay starts on it. Durable when it resolves. */
  begin(): Promise<void>
  /**
   * Writes all rows, migrates the layout to that of this program and removes the mark, in one transaction: either all of this is durable or nothing.
   * Returns how many rows of each table were written. Tables that no migration creates belong to other programs and are left out.
   *
   * @param objects - the objects of the blob store that belong to the rows. One object is recorded for each hash that a workspace holds. [BLOB-24]
   */
  fill(
    layout: StoreLayout,
    rows: (table: ArchivedTable) => AsyncIterable<readonly Cell[]>,
    objects: AsyncIterable<{ readonly object: string; readonly hash: string }>,
  ): Promise<ReadonlyMap<string, number>>
}
