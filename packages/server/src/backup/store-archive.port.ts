/** What a column holds: integers, texts as they are stored, bytes. */
export type Cell = string | number | null | Uint8Array

export interface ArchivedTable {
  readonly name: string
  readonly columns: readonly string[]
  /** Columns that hold bytes. */
  readonly binary: readonly string[]
  /** The column whose values the engine assigns, and the highest one it has ever given; a restored store goes on above it. [YDOC-8] */
  readonly identity: { readonly column: string; readonly last: number } | null
}

/** How a store is laid out; equal for every engine. [LIFE-29] */
export interface StoreLayout {
  readonly format: number
  /** Names of the migrations that made it, in order. */
  readonly steps: readonly string[]
  /** In the order in which rows can be written without one naming another that is not there yet. */
  readonly tables: readonly ArchivedTable[]
}

/** The store as it was at one moment. */
export interface StoreMoment {
  readonly layout: StoreLayout
  /** Every row of a table, one after the other; what is in memory at a time is a few MiB at most. */
  rows(table: ArchivedTable): AsyncIterable<readonly Cell[]>
}

/**
 * A store to copy, beside whoever works on it: nothing is locked, changed or held up. Errors carry a sentence for the operator.
 */
export interface StoreSource extends AsyncDisposable {
  /** Everything that was committed before the call, and nothing of a commit in part. [OPS-9] */
  atOneMoment<T>(work: (moment: StoreMoment) => Promise<T>): Promise<T>
}

/** `unfinished`: a restore into it began and did not end; it holds nothing yet. */
export type FillState = 'empty' | 'unfinished' | 'in use'

/** An empty store to restore into, kept from every other process until it is disposed. */
export interface StoreTarget extends AsyncDisposable {
  readonly state: FillState
  /** Marks the store as unfinished; a relay does not start on it. Durable when it resolves. */
  begin(): Promise<void>
  /**
   * Writes all rows, brings the layout to this program's and takes the mark away, in one transaction: durable as a whole or not there at all.
   * Answers how many rows of each table were written.
   */
  fill(layout: StoreLayout, rows: (table: ArchivedTable) => AsyncIterable<readonly Cell[]>): Promise<ReadonlyMap<string, number>>
}
