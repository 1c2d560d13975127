import type { DocumentRef } from '../../documents/document-store.port.ts'
import type { ColumnTypes } from './migrations/0001-initial.ts'
import type { Connection, Writer } from './tables.ts'

/**
 * What an error of the engine means for the transaction it ended.
 * `operation`: the statement's own fault. `lost-race`: worth another try. `storage`: disk full, server gone: may pass. `write-error`: the disk
 * refused bytes; a second one soon after ends all writing. `broken`: what was flushed is no longer known; the handle must not confirm
 * anything again. [D10]
 */
export type Fault = 'operation' | 'lost-race' | 'storage' | 'write-error' | 'broken'

/** Records in columns: one array entry per record. */
export interface UpdateColumns {
  readonly keys: readonly number[]
  readonly seqs: readonly number[]
  readonly actors: readonly string[]
  readonly timesMs: readonly number[]
  readonly checksums: readonly number[]
  readonly updates: readonly Uint8Array[]
}

/** Where SQLite and PostgreSQL differ; everything else is written once. */
export interface Engine {
  readonly columnTypes: ColumnTypes
  /** The store belongs to the process that opened it, so that what an earlier one had under way is over. */
  readonly soleProcess: boolean
  /** Keeps other processes from preparing the store until the transaction ends. */
  lockStore(writer: Writer): Promise<void>
  /** Keeps writers of other processes off this document and its log until the transaction ends. */
  lockDocument(writer: Writer, by: DocumentRef | { readonly key: number }): Promise<void>
  /** The same for what is summed over a workspace. [BLOB-14] */
  lockWorkspace(writer: Writer, workspaceId: string): Promise<void>
  /** The same for who holds these blobs, over all workspaces; taken after the lock of a workspace. [BLOB-15, Q6] */
  lockBlobs(writer: Writer, hashes: readonly string[]): Promise<void>
  /** Adds `counts[i]` to the log of `keys[i]` (each key once) and answers its new last sequence; a key without log is missing. */
  advanceLogs(writer: Writer, keys: readonly number[], counts: readonly number[]): Promise<ReadonlyMap<number, number>>
  insertUpdates(writer: Writer, rows: UpdateColumns): Promise<void>
  /** The identity value that the next row of the table is to be given, for the caller alone. */
  nextIdentity(writer: Writer, table: string, column: string): Promise<number>
  /** Identity values given from now on are above `last` and above every stored one. [YDOC-8] */
  continueAbove(writer: Writer, table: string, column: string, last: number): Promise<void>
  faultOf(error: unknown): Fault
}

/** An open transaction. A failed `commit` may have committed. */
export interface OpenTransaction {
  readonly writer: Writer
  commit(): Promise<void>
  rollback(): Promise<void>
}

export interface Database {
  readonly engine: Engine
  readonly writer: Connection
  /** One transaction at a time, that of the group commit. */
  begin(): Promise<OpenTransaction>
  readonly reader: Connection
  /** After the last use: flushes what the engine keeps in side files and releases the lock. */
  close(): Promise<void>
}
