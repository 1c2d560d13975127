/** One Yjs update to be made durable. */
export interface AppendRecord {
  /** `DocumentHead.key`. */
  readonly key: number
  /**
   * The sequence of the record before this one. The appending statement compares it with the end of the stored log, so when a record is
   * lost, no later record is stored. [LIFE-5, LIFE-26]
   */
  readonly afterSeq: number
  /** The `sub` of the person who made the change, or `system`. */
  readonly actor: string
  readonly atMs: number
  /** The Yjs v1 update that the live document itself emitted. */
  readonly update: Uint8Array
  /**
   * Set when a room takes a cold write into the live document. The record is appended only while the stored version is still `version`, and
   * `bodyAhead` is cleared in the same transaction. `coveredSeq` does not change, because only the room knows whether the body contains
   * everything that was seeded.
   */
  readonly catchUp?: { readonly version: number }
  /** The data about blocks that were removed since the last record of the room, for `LoadedLog.removals`. [AG-110] */
  readonly removals?: string
  /**
   * The epoch of this node's tenure. The appending statement compares it and the owner. It is absent in a relay of one node, and then
   * neither is compared. [LIFE-26]
   */
  readonly epoch?: number
}

/** Returns the member `removals` of a record, or no member when there are no removals. */
export function removalsMember(removals: string | null | undefined): Pick<AppendRecord, 'removals'> {
  return removals === null || removals === undefined ? {} : { removals }
}

/** `UpdateLog.load` returns only `removals` that are at most this much older than the newest `removals` of the document. */
export const REMOVALS_LOADED_MS = 60_000

export type AppendOutcome =
  | { readonly kind: 'appended'; readonly seq: number }
  /** The document was deleted, and nothing was written. */
  | { readonly kind: 'gone' }
  /** Nothing was written, because the log does not end at `afterSeq`, or because the stored version is not the version of `catchUp`. */
  | { readonly kind: 'conflict' }
  /** The tenure with this `epoch` is over. Nothing was written, and no later write with this epoch will be. */
  | { readonly kind: 'fenced' }

export interface LogRecord {
  readonly seq: number
  readonly actor: string
  readonly atMs: number
  readonly update: Uint8Array
}

export interface Snapshot {
  /** One Yjs v1 update that contains the state through `throughSeq`. */
  readonly update: Uint8Array
  readonly stateVector: Uint8Array
  readonly throughSeq: number
}

export type LoadedLog =
  | {
      readonly kind: 'loaded'
      readonly snapshot: Snapshot | null
      readonly records: readonly LogRecord[]
      /** The `removals` within `REMOVALS_LOADED_MS`, in order, also those of records that the snapshot contains. */
      readonly removals: readonly string[]
    }
  | { readonly kind: 'gone' }
  /**
   * A checksum or a sequence is wrong. `load` neither skips nor repairs the damaged record. `safeThroughSeq` is the last sequence that could
   * be read in order. [LIFE-5]
   */
  | { readonly kind: 'damaged'; readonly detail: string; readonly safeThroughSeq: number }

export interface RebuiltLog {
  /** The last sequence of the log from which the state was read. */
  readonly lastSeq: number
  /** One Yjs v1 update of the whole state. */
  readonly update: Uint8Array
  readonly stateVector: Uint8Array
  /** Why the log was rebuilt, for a person who looks at the bytes that were set aside. */
  readonly detail: string
  readonly nowMs: number
}

/**
 * Stores the sequence of Yjs updates of each document durably and without gaps. [LIFE-4, LIFE-5, LIFE-7]
 *
 * When `append` resolves, all its records are durable. Records of many documents share one commit, which starts at most
 * commit_delay_ms after its first record, and at once when no commit is running. Records of one document are stored in the order of the
 * calls of one thread.
 *
 * `append` rejects with RelayError NOT_PERSISTED when the commit failed or its outcome is unknown. Then none of its records may be
 * acknowledged. A later record of the same document is answered `conflict` if the record before it is not stored.
 */
export interface UpdateLog {
  append(records: readonly AppendRecord[]): Promise<readonly AppendOutcome[]>
  /** Returns the newest good snapshot (the previous one when the newest is bad) and every record after it. */
  load(key: number): Promise<LoadedLog>
  /**
   * Returns the records with a sequence above `seq`. When the first of them is above `seq + 1`, the records before it were compacted or
   * rebuilt, and the caller must load again.
   */
  after(key: number, seq: number): Promise<readonly LogRecord[]>
  /**
   * Stores a snapshot and removes the records up to the previous snapshot, which stays. The caller must have decoded the new snapshot
   * once, as a check. Answers `stale` when the stored snapshot is as new or newer, and `fenced` as `append` does.
   */
  compact(key: number, snapshot: Snapshot, epoch?: number): Promise<'stored' | 'stale' | 'gone' | 'fenced'>
  /**
   * Sets all bytes of a log that ends at `lastSeq` aside, and starts the log again with a snapshot through the next sequence. The stored
   * body must contain all of that snapshot. The document gets a new lineage, because a copy of the old state would not merge with the new
   * state: its content would appear a second time. The Y clients of the old log are kept as former clients. Answers `conflict`, and changes
   * nothing, when the log does not end at `lastSeq` any more, and `fenced` as `append` does. [YDOC-11, WS-62]
   */
  rebuild(key: number, rebuilt: RebuiltLog, epoch?: number): Promise<'rebuilt' | 'conflict' | 'gone' | 'fenced'>
  /** Deletes at most `limit` `removals` of records from before `beforeMs`, and returns how many it has deleted. [AG-110] */
  purgeRemovals(beforeMs: number, limit: number): Promise<number>
}
