/** The call of a tool, as it is stored together with its write. Plain data. [AG-66] */
export interface CallWrite {
  readonly callId: string
  readonly tool: string
  /** The principal. */
  readonly sub: string
  /** The name of the client program; `null` when there is none. */
  readonly client: string | null
  /**
   * A digest that tells the callers of one principal apart; `null` for a person, and in records of older releases. No answer and no log shows
   * it. [AG-68]
   */
  readonly caller: string | null
  readonly changed: number
  readonly removed: number
  /** A `ChangeSet` as JSON: the changes of the call, and the content before them. `null` when the call cannot be undone. */
  readonly record: Uint8Array | null
  /** SHA-256 of every blob that the record references, sorted, each once. [BLOB-16] */
  readonly blobReferences: readonly string[]
  /** The calls that this call undoes. When one of them was undone before, the write is `not-undoable`. [AG-72] */
  readonly undoes: readonly string[]
  /**
   * All calls that the caller of an undo meant, also those of which nothing was left to undo. When one of them was undone before, the write is
   * `not-undoable` too: the caller expected to undo that call as well. Absent: the calls of `undoes`. [AG-68]
   */
  readonly targets?: readonly string[]
  /** The answer for a caller that repeats an undo, as JSON; `null` for other tools. [AG-73] */
  readonly answer: string | null
}

export interface CallHead extends Omit<CallWrite, 'record' | 'blobReferences' | 'undoes' | 'targets' | 'answer'> {
  readonly atMs: number
  /** The version of the document that the call made. */
  readonly version: number
  readonly hasRecord: boolean
  /** Id of the call that undid this one; `null` when none did. */
  readonly undoneBy: string | null
}

export interface StoredCall extends CallHead, Pick<CallWrite, 'record' | 'answer'> {}

/** The calls that wrote a document. `DocumentWrite.call` stores a call with its write, and the calls are removed with the document. */
export interface CallStore {
  /** Returns the calls of a document with a version below `beforeVersion`, newest first; with `null` from the newest call on. */
  list(key: number, page: { readonly beforeVersion: number | null; readonly limit: number }): Promise<readonly CallHead[]>
  /** Returns those of these calls that are stored for the document, newest first. A call with a damaged record is read as not undoable. */
  read(key: number, callIds: readonly string[]): Promise<readonly StoredCall[]>
  /**
   * Removes at most `limit` records: those older than `beforeMs`, then the oldest ones while all records together take more than
   * `mostBytes`. Returns how many it removed. [AG-67, LIFE-30]
   */
  purge(bounds: {
    readonly beforeMs: number
    readonly mostBytes: number
    readonly limit: number
    readonly nowMs: number
  }): Promise<number>
  /** Returns the bytes that all records together take. */
  totalBytes(): Promise<number>
}
