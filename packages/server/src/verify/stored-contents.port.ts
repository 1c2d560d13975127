import type { DocumentHead } from '../documents/document-store.port.ts'
import type { LogRecord, Snapshot } from '../sync/update-log.port.ts'

/** A blob that a document or point references, and what its workspace holds of it. */
export interface StoredReference {
  readonly hash: string
  readonly granted: 'metered' | 'unmetered' | 'no'
}

export interface StoredPoint {
  /** As REST names it. */
  readonly pointId: string
  /** What the store itself can tell of it, e.g. a checksum that does not hold. */
  readonly problems: readonly string[]
  /** `null` when its bytes are not what was written. */
  readonly body: Uint8Array | null
  readonly references: readonly StoredReference[]
}

/** One document as it lies in the store, read at one moment. */
export interface StoredDocument {
  readonly workspaceId: string
  readonly id: string
  /** `null` when its row cannot be trusted. */
  readonly head: DocumentHead | null
  /** What the store itself can tell: checksums, sequences, rows that are missing. */
  readonly problems: readonly string[]
  /** Those whose bytes are what was written. */
  readonly body: Uint8Array | null
  readonly snapshots: readonly Snapshot[]
  /** The records after the newest of `snapshots` up to the end of the log; `null` when they are not all there. */
  readonly tail: readonly LogRecord[] | null
  readonly references: readonly StoredReference[]
  /** One after the other, so that a ring of large bodies is not in memory at once. */
  points(): AsyncIterable<StoredPoint>
}

export interface StoredGrant {
  readonly hash: string
  /** Of every workspace that holds it. */
  readonly sizes: readonly number[]
}

/** A store that is read from end to end and never written, beside whoever works on it. [OPS-11] */
export interface StoredContents extends AsyncDisposable {
  /** What is wrong with the store as a whole; a sentence each. */
  problems(): AsyncIterable<string>
  /** Calls with one document after the other, never two at a time. */
  eachDocument(work: (document: StoredDocument) => Promise<void>): Promise<void>
  /** Blobs that workspaces hold, each hash once. */
  grants(): AsyncIterable<StoredGrant>
  /** Whether anybody holds it now. */
  isGranted(hash: string): Promise<boolean>
  /** Bytes of damaged logs that were kept for a person to look at. [YDOC-11] */
  setAsideCount(): Promise<number>
}
