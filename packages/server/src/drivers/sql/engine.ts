import type { CompiledQuery, RawBuilder } from 'kysely'
import type { DocumentRef } from '../../documents/document-store.port.ts'
import type { NodeRegistry } from '../../nodes/registry.port.ts'
import type { Incarnation } from '../../sync/ownership.port.ts'
import type { StepTypes } from './migrations/0013-seats.ts'
import type { StoreLoss } from './store-loss.ts'
import type { Connection, Writer } from './tables.ts'

/**
 * The meaning of an engine's error for its transaction.
 * - `operation`: the statement itself is at fault.
 * - `lost-race`: worth another try.
 * - `busy`: a lock was not free in time. An immediate retry would wait as long again.
 * - `damage`: this call has read damaged rows. Other calls may still work, unless the store is damaged as a whole.
 * - `unsaid`: not known: the connection is lost, or the call itself threw. When the transaction can then be rolled back,
 *   the call itself is at fault.
 * - `storage`: the disk is full or the server is gone; this may pass.
 * - `write-error`: the disk refused bytes; a second one soon after ends all writing.
 * - `broken`: it is no longer known what was flushed, so the handle must not confirm anything again. [D10]
 */
export type Fault = 'operation' | 'lost-race' | 'busy' | 'damage' | 'unsaid' | 'storage' | 'write-error' | 'broken'

/** Records as columns: one array entry per record. */
export interface UpdateColumns {
  readonly keys: readonly number[]
  readonly seqs: readonly number[]
  readonly actors: readonly string[]
  readonly timesMs: readonly number[]
  readonly checksums: readonly number[]
  readonly updates: readonly Uint8Array[]
}

/** Records that will be added to the end of one log. */
export interface LogAdvance {
  readonly key: number
  readonly afterSeq: number
  readonly count: number
  /** When present, the log moves only while this process owns the document under this epoch. */
  readonly epoch?: number
}

/** This process as one of several nodes. */
export interface OwnNode {
  /** Its incarnation; `null` before the node has registered, and in a single relay. [LIFE-26] */
  inc: Incarnation | null
}

export type FeedTableName = 'change_feed' | 'revocation_feed'

/** The greatest identity value of a feed table at one moment. Times are by the clock of the database. */
export interface IdentityMoment {
  readonly lastId: number
  readonly nowMs: number
  readonly openSinceMs: number | null
}

/** The differences between SQLite and PostgreSQL; all other code is shared. */
export interface Engine {
  readonly columnTypes: StepTypes
  /** True when only the process that opened the store can use it, so that uploads of earlier processes have ended. */
  readonly soleProcess: boolean
  /** This process: acquisitions write its incarnation as owner into the rows of documents, and appends compare it. */
  readonly node: OwnNode
  /** The clock of the database, in milliseconds. */
  readonly nowMs: RawBuilder<number>
  /** Locks the store until the transaction ends, so that no other process prepares it. */
  lockStore(writer: Writer): Promise<void>
  /** Locks a document and its log against writers of other processes until the transaction ends. */
  lockDocument(writer: Writer, by: DocumentRef | { readonly key: number }): Promise<void>
  /** Locks the sums of a workspace against writers of other processes until the transaction ends. [BLOB-14] */
  lockWorkspace(writer: Writer, workspaceId: string): Promise<void>
  /** Locks the holders of these blobs, in all workspaces, until the transaction ends. Taken after the lock of a workspace. [BLOB-15, Q6] */
  lockBlobs(writer: Writer, hashes: readonly string[]): Promise<void>
  /**
   * Locks the seats of these workspaces against other processes until the transaction ends. The server ends the transaction when
   * this process sends nothing for a second. [WS-17]
   */
  lockSeats(writer: Writer, workspaceIds: readonly string[]): Promise<void>
  /**
   * Moves the end of the log of each advance (each key once) forward by `count`, from `afterSeq`. Returns the keys whose logs moved. A log that does
   * not exist, ends elsewhere or is not owned under `epoch` does not move: the statement that moves the end also compares these. [LIFE-26]
   */
  advanceLogs(writer: Writer, advances: readonly LogAdvance[]): Promise<ReadonlySet<number>>
  insertUpdates(writer: Writer, rows: UpdateColumns): Promise<void>
  /** Returns the identity value for the next row of the table; no other caller gets it. */
  nextIdentity(writer: Writer, table: string, column: string): Promise<number>
  /** Makes all later identity values greater than `last` and than every stored one. [YDOC-8] */
  continueAbove(writer: Writer, table: string, column: string, last: number): Promise<void>
  /** Takes the lock of a job until the transaction ends. Returns false when another process has the lock. [LIFE-30] */
  tryJob(writer: Writer, job: string): Promise<boolean>
  /**
   * Returns the greatest identity value that the table has given out, 0 before the first, and the time of the database. With `asksOpen`, also returns
   * when the oldest open transaction that has written something began, `null` when there is none.
   */
  identityMoment(db: Connection, table: FeedTableName, asksOpen: boolean): Promise<IdentityMoment>
  faultOf(error: unknown): Fault
}

/** An open transaction. After a failed `commit` it is unknown whether it committed. */
export interface OpenTransaction {
  readonly writer: Writer
  commit(): Promise<void>
  rollback(): Promise<void>
}

export interface OccupyOptions {
  /** Called once when another relay has claimed the store: the process must end. */
  readonly onLost: (error: Error) => void
  /** Called when the database has lost commits that it had confirmed. [LIFE-5] */
  readonly onLoss: (loss: StoreLoss) => void
}

export interface Database {
  readonly engine: Engine
  readonly writer: Connection
  /** Begins the transaction of the group commit; only one at a time. */
  begin(): Promise<OpenTransaction>
  /**
   * Appends records in a transaction of one statement: the server gets one message and sends one answer, instead of one each for BEGIN, the
   * statements and COMMIT. The keys of `advances` are those of `rows`. Returns the keys whose logs moved, as `Engine.advanceLogs` does; records
   * of other logs are not stored. Durable on return. After an error that the server did not send, it is unknown whether the
   * transaction committed. `null` when an append of this process needs several statements. [LIFE-26]
   */
  readonly appendAtOnce: ((advances: readonly LogAdvance[], rows: UpdateColumns) => Promise<ReadonlySet<number>>) | null
  readonly reader: Connection
  /**
   * Reads rows of numbers into one array, row after row, with NaN for null. A list of ten thousand rows takes half as long as with one object for
   * each row.
   */
  readNumbers(query: CompiledQuery): Promise<Float64Array<ArrayBuffer>>
  /** Returns a text that changes when a tool, for example a repair, commits while the relay runs. */
  changedBeside(): Promise<string>
  /** Losses of acknowledged writes that the operator has accepted. [CFG-11] */
  readonly losses: readonly StoreLoss[]
  /** Marks the store from now on, so that a later start notices when the store is missing or older. Durable when it resolves. [LIFE-5] */
  mark(): Promise<void>
  /** Removes the mark of the previous store when a restore replaces that store. */
  unmark(): Promise<void>
  /**
   * Claims the store for one relay until `close`. When another relay has claimed it meanwhile, every transaction of `begin` fails. A SQLite file is
   * locked by one process anyway. [CFG-10]
   *
   * @throws Error with a sentence for the operator when another relay uses the store
   */
  occupy(place: OccupyOptions): Promise<void>
  /**
   * Returns the registry of nodes, through which this process becomes one of several nodes. A process uses either `nodes` or `occupy`, never both.
   * `onLoss` has the meaning that it has for `occupy`. [LIFE-26]
   */
  nodes(told: Pick<OccupyOptions, 'onLoss'>): NodeRegistry
  /** Flushes side files of the engine and releases the lock. Called last. */
  close(): Promise<void>
}
