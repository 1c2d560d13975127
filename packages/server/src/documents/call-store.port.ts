/** A write of a tool, as it is stored with what it changed. Plain data. [AG-66] */
export interface CallWrite {
  readonly callId: string
  readonly tool: string
  /** The principal. */
  readonly sub: string
  /** The name of its client; `null` without one. */
  readonly client: string | null
  /**
   * A digest that tells the callers of one principal apart; `null` for a person, and in records of older releases. It is told to nobody.
   * [AG-68]
   */
  readonly caller: string | null
  readonly changed: number
  readonly removed: number
  /** What it changed and what that was before, as JSON; `null` when it cannot be undone. */
  readonly record: Uint8Array | null
  /** SHA-256 of every blob that the record references, sorted, each once. [BLOB-16] */
  readonly blobReferences: readonly string[]
  /** The calls that it undoes. When one of them was undone before, the write is `not-undoable`. [AG-72] */
  readonly undoes: readonly string[]
  /**
   * All calls that an undo was to take back, also those of which nothing was left. When one of them was undone before, the write is
   * `not-undoable` too: its caller meant other calls. Absent: those of `undoes`. [AG-68]
   */
  readonly targets?: readonly string[]
  /** What is told to a caller that repeats an undo, as JSON; `null` for other tools. [AG-73] */
  readonly answer: string | null
}

export interface CallHead extends Omit<CallWrite, 'record' | 'blobReferences' | 'undoes' | 'targets' | 'answer'> {
  readonly atMs: number
  /** The version that it made. */
  readonly version: number
  readonly hasRecord: boolean
  /** The call that undid it. */
  readonly undoneBy: string | null
}

export interface StoredCall extends CallHead, Pick<CallWrite, 'record' | 'answer'> {}

/** The calls that wrote a document. They are written with the document, by `DocumentWrite.call`, and end with it. */
export interface CallStore {
  /** The newest calls of a document with a version below `beforeVersion`; `null`: from the newest. */
  list(key: number, page: { readonly beforeVersion: number | null; readonly limit: number }): Promise<readonly CallHead[]>
  /** Those of these calls that the document has, newest first. A damaged record is read as one that cannot be undone. */
  read(key: number, callIds: readonly string[]): Promise<readonly StoredCall[]>
  /**
   * Removes at most `limit` records: those older than `beforeMs`, then the oldest while all take more than `mostBytes`.
   * Returns how many. [AG-67, LIFE-30]
   */
  purge(bounds: {
    readonly beforeMs: number
    readonly mostBytes: number
    readonly limit: number
    readonly nowMs: number
  }): Promise<number>
  /** What all records take. */
  totalBytes(): Promise<number>
}
