/** Bytes that have arrived and were hashed; nobody can read them before `keep`. One of `keep` and `discard` ends it. */
export interface ReceivedBlob {
  readonly hash: string
  readonly sizeBytes: number
  /** Makes the bytes readable under their hash. Durable when it resolves; bytes that are there already stay. [BLOB-3] */
  keep(mimeType: string): Promise<void>
  discard(): Promise<void>
}

export interface ByteRange {
  /** First byte. */
  readonly start: number
  /** Last byte, included. */
  readonly end: number
}

/** Moves bytes without the relay in between. */
export interface DirectTransfer {
  /**
   * A URL for one PUT of exactly `headers`; it binds method, content type, length and key, and the checksum where the store supports it.
   * The staging key is no blob yet. [BLOB-10, BLOB-12]
   */
  uploadUrl(upload: {
    readonly stagingKey: string
    readonly hash: string
    readonly sizeBytes: number
    readonly mimeType: string
    readonly ttlSecs: number
    readonly nowMs: number
  }): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }>
  /** What lies under a staging key, its bytes read and hashed. Objects above `maxBytes` are not read. [BLOB-11] */
  inspect(
    stagingKey: string,
    maxBytes: number | null,
  ): Promise<
    | { readonly kind: 'object'; readonly hash: string; readonly sizeBytes: number }
    | { readonly kind: 'too-large'; readonly sizeBytes: number }
    | { readonly kind: 'missing' }
  >
  /** Makes a staged object that was inspected readable under `hash`, by copying exactly the inspected object; `changed` when it is another one now. */
  promote(stagingKey: string, hash: string, mimeType: string): Promise<'promoted' | 'changed'>
  /** Idempotent. */
  removeStaged(stagingKey: string): Promise<void>
  /** Removes at most `limit` staged objects that were last put before `beforeMs`, whoever knows of them; answers how many. [BLOB-12] */
  removeStagedBefore(beforeMs: number, limit: number): Promise<number>
  /** A GET that answers with this content type and disposition. [BLOB-9] */
  downloadUrl(download: {
    readonly hash: string
    readonly mimeType: string
    readonly attachment: boolean
    readonly ttlSecs: number
    readonly nowMs: number
  }): Promise<string>
}

/**
 * Bytes by SHA-256, on disk or in an object store. Who may read them is the ledger's matter.
 * Rejects with RelayError BLOB_STORE_ERROR (object store, after its retries) or UNAVAILABLE (disk); a failure never looks like absence. [BLOB-19]
 */
export interface BlobStore {
  /**
   * Reads `source` to its end, hashing. `onBytes` is awaited with the count so far before more is taken and may throw to refuse; then, and
   * when the source throws, nothing stays behind.
   */
  receive(source: AsyncIterable<Uint8Array>, onBytes: (totalBytes: number) => Promise<void> | void): Promise<ReceivedBlob>
  /** `null` when there are no such bytes. */
  size(hash: string): Promise<number | null>
  /** The bytes, or a range of them within the size; `null` when there are none. Ending the iteration early frees what it holds. */
  read(hash: string, range: ByteRange | null): Promise<AsyncIterable<Uint8Array> | null>
  /** Idempotent. Durable when it resolves. */
  remove(hash: string): Promise<void>
  /** Every stored hash with its size, for verify and backup. */
  list(): AsyncIterable<{ readonly hash: string; readonly sizeBytes: number }>
  /**
   * Removes what uploads that ended with their process left behind; called at the start, before any upload. With `direct`, where several
   * processes may share the store, it goes by age and may be called at any time.
   */
  clearAbandoned(): Promise<void>
  /** Resolves when blobs can be read and written. [OPS-2] */
  check(): Promise<void>
  /** Present where clients can move bytes themselves. */
  readonly direct: DirectTransfer | null
}
