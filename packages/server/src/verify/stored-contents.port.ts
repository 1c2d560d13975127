import type { DocumentHead } from '../documents/document-store.port.ts'
import type { LogRecord, Snapshot } from '../sync/update-log.port.ts'

/** A blob that a document or a point references, and what its workspace holds of that blob. */
export interface StoredReference {
  readonly hash: string
  readonly granted: 'metered' | 'unmetered' | 'no'
}

export interface StoredPoint {
  /** The id of the point, as in REST. */
  readonly pointId: string
  /** Problems that the store itself finds, e.g. a wrong checksum. */
  readonly problems: readonly string[]
  /** `null` when the bytes fail their checksum. */
  readonly body: Uint8Array | null
  readonly references: readonly StoredReference[]
}

/** The readable part of a log, which may be incomplete. */
export interface ReadableLog {
  /** Problems of the rows of the log; they are also among the problems of the document. */
  readonly problems: readonly string[]
  /** The good records after the newest good snapshot, in order. Records between them may be missing. */
  readonly records: readonly LogRecord[]
  /** Up to this sequence number no record is missing. */
  readonly throughSeq: number
}

/** One stored document, read at one moment. */
export interface StoredDocument {
  readonly workspaceId: string
  readonly id: string
  /** `null` when the row of the document is damaged. */
  readonly head: DocumentHead | null
  /** Problems that the store itself finds: checksums, sequences, missing rows. */
  readonly problems: readonly string[]
  /** The bytes of the body; `null` when they fail their checksum. */
  readonly body: Uint8Array | null
  readonly snapshots: readonly Snapshot[]
  /** The records after the newest of `snapshots` up to the end of the log; `null` when one of them is missing. */
  readonly tail: readonly LogRecord[] | null
  readonly readable: ReadableLog
  readonly references: readonly StoredReference[]
  /** Yields points one at a time, so that not all bodies are in memory at once. */
  points(): AsyncIterable<StoredPoint>
}

export interface StoredGrant {
  readonly hash: string
  /** The name of the blob's bytes in the blob store. [BLOB-24] */
  readonly object: string
  /** The recorded size in bytes, for each workspace that holds the blob. */
  readonly sizes: readonly number[]
}

/** A store that `relay verify` reads completely and never changes. A relay may use it meanwhile. [OPS-11] */
export interface StoredContents extends AsyncDisposable {
  /** Problems of the store as a whole, a sentence each. */
  problems(): AsyncIterable<string>
  /** Calls `work` with each document, one at a time. */
  eachDocument(work: (document: StoredDocument) => Promise<void>): Promise<void>
  /** Yields the blobs that workspaces hold, each hash once. */
  grants(): AsyncIterable<StoredGrant>
  /** Whether a workspace still holds the blob, with its bytes under the same name. */
  isStillGranted(grant: StoredGrant): Promise<boolean>
  /** Whether a row refers to the object: a grant, a running upload, or a struck object that waits for its removal. */
  knowsObject(object: string, hash: string): Promise<boolean>
  /** Number of damaged logs whose bytes were kept for later inspection. [YDOC-11] */
  setAsideCount(): Promise<number>
  /** Whether an error of another method means that the server of the store was lost. Such an error says nothing about the stored data. */
  isServerLost(error: unknown): boolean
}
