/** One CRDT update to be made durable. */
export interface AppendRecord {
  /** `DocumentHead.key`. */
  readonly key: number
  /** Acting `sub`, or `system`. */
  readonly actor: string
  readonly atMs: number
  /** Yjs v1 update that the live document itself emitted. */
  readonly update: Uint8Array
  /**
   * Given by a room that catches up with a cold write: appended only while the log still ends at `lastSeq` and the stored version is `version`;
   * clears bodyAhead in the same transaction and leaves coveredSeq, as only the room knows whether the body says all that was seeded.
   */
  readonly catchUp?: { readonly lastSeq: number; readonly version: number }
}

export type AppendOutcome =
  | { readonly kind: 'appended'; readonly seq: number }
  /** The document was deleted; nothing was written. */
  | { readonly kind: 'gone' }
  /** A catch-up lost the race: someone appended or wrote first. */
  | { readonly kind: 'conflict' }

export interface LogRecord {
  readonly seq: number
  readonly actor: string
  readonly atMs: number
  readonly update: Uint8Array
}

export interface Snapshot {
  /** One Yjs v1 update holding the state through `throughSeq`. */
  readonly update: Uint8Array
  readonly stateVector: Uint8Array
  readonly throughSeq: number
}

export type LoadedLog =
  | { readonly kind: 'loaded'; readonly snapshot: Snapshot | null; readonly records: readonly LogRecord[] }
  | { readonly kind: 'gone' }
  /** A checksum or sequence does not hold; nothing is skipped or repaired here. `safeThroughSeq`: what could still be read in order. [LIFE-5] */
  | { readonly kind: 'damaged'; readonly detail: string; readonly safeThroughSeq: number }

/**
 * The durable, gapless sequence of CRDT updates of each document. [LIFE-4, LIFE-5, LIFE-7]
 * When `append` resolves, all its records are durable; records of many documents share one commit, which starts at most commit_delay_ms
 * after its first record and at once when none is running. Order of records of one document is the order of the calls from one thread.
 * Rejects with RelayError NOT_PERSISTED when the commit failed or its outcome is not known: none may then be acknowledged.
 */
export interface UpdateLog {
  append(records: readonly AppendRecord[]): Promise<readonly AppendOutcome[]>
  /** Newest good snapshot (the previous one when the newest is bad) and every record after it. */
  load(key: number): Promise<LoadedLog>
  /** Records with a sequence above `seq`; a first one above `seq + 1` says that those between are compacted or rebuilt: load anew. */
  after(key: number, seq: number): Promise<readonly LogRecord[]>
  /** Stores a snapshot the caller has decoded once, and trims records up to the previous snapshot, which stays. Older than the stored one: `stale`. */
  compact(key: number, snapshot: Snapshot): Promise<'stored' | 'stale' | 'gone'>
  /** Keeps unreadable bytes of a document aside and starts its log anew with `update`. [YDOC-11] */
  rebuild(key: number, update: Uint8Array, stateVector: Uint8Array, detail: string): Promise<'rebuilt' | 'gone'>
}
