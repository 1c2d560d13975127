/** One Yjs update to be made durable. */
export interface AppendRecord {
  /** `DocumentHead.key`. */
  readonly key: number
  /**
   * The sequence that this record follows. The appending statement compares it with the end of the stored log, so when
   * a record is lost, no later one is stored. [LIFE-5, LIFE-26]
   */
  readonly afterSeq: number
  /** The acting `sub`, or `system`. */
  readonly actor: string
  readonly atMs: number
  /** The Yjs v1 update that the live document itself emitted. */
  readonly update: Uint8Array
  /**
   * Given when a room takes in a cold write. The record is appended only while the stored version is still `version`,
   * and bodyAhead is cleared in the same transaction. coveredSeq stays, since only the room knows whether the body says
   * all that was seeded.
   */
  readonly catchUp?: { readonly version: number }
  /** What the room remembers of removed blocks since its last record, for `LoadedLog.removals`. [AG-110] */
  readonly removals?: string
  /**
   * The epoch of this node's tenure. The appending statement compares it and the owner. Absent in a relay that is alone: then
   * neither is compared. [LIFE-26]
   */
  readonly epoch?: number
}

/** The member `removals` of a record; none when there is nothing to remember. */
export function removalsMember(removals: string | null | undefined): Pick<AppendRecord, 'removals'> {
  return removals === null || removals === undefined ? {} : { removals }
}

/** A record's `removals` are loaded when the newest of the document is at most this much younger. */
export const REMOVALS_LOADED_MS = 60_000

export type AppendOutcome =
  | { readonly kind: 'appended'; readonly seq: number }
  /** The document was deleted; nothing was written. */
  | { readonly kind: 'gone' }
  /** The log does not end at `afterSeq`, or a catch-up met another version: nothing was written. */
  | { readonly kind: 'conflict' }
  /** The tenure with this `epoch` is over: nothing was written, and nothing that names it ever will be. */
  | { readonly kind: 'fenced' }

export interface LogRecord {
  readonly seq: number
  readonly actor: string
  readonly atMs: number
  readonly update: Uint8Array
}

export interface Snapshot {
  /** One Yjs v1 update that holds the state through `throughSeq`. */
  readonly update: Uint8Array
  readonly stateVector: Uint8Array
  readonly throughSeq: number
}

export type LoadedLog =
  | {
      readonly kind: 'loaded'
      readonly snapshot: Snapshot | null
      readonly records: readonly LogRecord[]
      /** The `removals` of the last minute of the log, in order, also of records that the snapshot holds. */
      readonly removals: readonly string[]
    }
  | { readonly kind: 'gone' }
  /**
   * A checksum or a sequence is wrong. `load` neither skips nor repairs it. `safeThroughSeq` is the last sequence that
   * could be read in order. [LIFE-5]
   */
  | { readonly kind: 'damaged'; readonly detail: string; readonly safeThroughSeq: number }

export interface RebuiltLog {
  /** The last sequence of the log that was read. */
  readonly lastSeq: number
  /** One Yjs v1 update of the whole state. */
  readonly update: Uint8Array
  readonly stateVector: Uint8Array
  /** The reason, for the person who looks at the log that was kept aside. */
  readonly detail: string
  readonly nowMs: number
}

/**
 * The durable sequence of Yjs updates of each document, without gaps. [LIFE-4, LIFE-5, LIFE-7]
 *
 * When `append` resolves, all its records are durable. Records of many documents share one commit, which starts at most
 * commit_delay_ms after its first record, and at once when no commit is running. Records of one document are stored in
 * the order in which one thread called.
 *
 * `append` rejects with RelayError NOT_PERSISTED when the commit failed or its outcome is not known: none of its
 * records may then be acknowledged. A later record of the same document is answered `conflict`, since the sequence that
 * it follows is not stored.
 */
export interface UpdateLog {
  append(records: readonly AppendRecord[]): Promise<readonly AppendOutcome[]>
  /** Returns the newest good snapshot (the previous one when the newest is bad) and every record after it. */
  load(key: number): Promise<LoadedLog>
  /**
   * Returns the records with a sequence above `seq`. When the first one is above `seq + 1`, the records between were
   * compacted or rebuilt, and the caller must load again.
   */
  after(key: number, seq: number): Promise<readonly LogRecord[]>
  /**
   * Stores a snapshot that the caller has decoded once, and removes records up to the previous snapshot, which stays.
   * Answers `stale` when a newer snapshot is stored, and `fenced` as `append` does.
   */
  compact(key: number, snapshot: Snapshot, epoch?: number): Promise<'stored' | 'stale' | 'gone' | 'fenced'>
  /**
   * Keeps all bytes of a log that ends at `lastSeq` aside and starts the log again with a snapshot through the next
   * sequence; the stored body must hold all of that snapshot. The document gets a new lineage, because a copy of the
   * old state would not merge with the new state but stand beside it, and the Y clients of the old log are kept as
   * former clients. Answers `conflict`, and changes nothing, when the log ends elsewhere by now, and `fenced` as `append`
   * does. [YDOC-11, WS-62]
   */
  rebuild(key: number, rebuilt: RebuiltLog, epoch?: number): Promise<'rebuilt' | 'conflict' | 'gone' | 'fenced'>
  /** Removes at most `limit` `removals` of records from before `beforeMs`, and answers how many. [AG-110] */
  purgeRemovals(beforeMs: number, limit: number): Promise<number>
}
