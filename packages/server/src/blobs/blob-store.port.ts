import type { Random } from '../kernel/ids.ts'

/** The form of an object's name: a hash and a suffix. In names from older releases there is no suffix. */
const OBJECT = /^([0-9a-f]{64})(?:\.[0-9a-f]{8})?$/
const RANDOM_BYTES = 4

/**
 * Makes the name under which one upload stores the bytes of a hash. Each upload has its own name, so a late removal of
 * the bytes of one upload cannot remove the bytes of another upload. [BLOB-24]
 */
export function newObject(hash: string, random: Random): string {
  return `${hash}.${Buffer.from(random.bytes(RANDOM_BYTES)).toString('hex')}`
}

/** Returns the hash in the name of an object; `null` for a text that is not the name of an object. */
export function hashOfObject(name: string): string | null {
  return OBJECT.exec(name)?.[1] ?? null
}

/**
 * Bytes that have arrived and were hashed. Nobody can read them before `keep`. The caller ends every received blob with
 * `keep` or `discard`.
 */
export interface ReceivedBlob {
  readonly hash: string
  readonly sizeBytes: number
  /**
   * Makes the bytes readable as `object`, a name with their hash (see `newObject`), and replaces an existing object of
   * that name. Durable when it resolves. [BLOB-3]
   */
  keep(object: string, mimeType: string): Promise<void>
  discard(): Promise<void>
}

export interface ByteRange {
  /** Offset of the first byte. */
  readonly start: number
  /** Offset of the last byte, which belongs to the range. */
  readonly end: number
}

/** Lets clients exchange bytes with the store directly, without the relay in between. */
export interface DirectTransfer {
  /**
   * Returns a URL for one PUT with exactly `headers`. The signature covers method, content type, length and key, and
   * the checksum where the store supports it. Nobody can read the object under the staging key as a blob. Rejects while
   * the store cannot be reached. [BLOB-10, BLOB-12, BLOB-21]
   */
  uploadUrl(upload: {
    readonly stagingKey: string
    readonly hash: string
    readonly sizeBytes: number
    readonly mimeType: string
    readonly ttlSecs: number
    readonly nowMs: number
  }): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }>
  /** Reads and hashes the object under a staging key. An object above `maxBytes` is not read. [BLOB-11] */
  inspect(
    stagingKey: string,
    maxBytes: number | null,
  ): Promise<
    | { readonly kind: 'object'; readonly hash: string; readonly sizeBytes: number }
    | { readonly kind: 'too-large'; readonly sizeBytes: number }
    | { readonly kind: 'missing' }
  >
  /**
   * Copies exactly the staged object that was inspected, so that it is readable as `object`. Returns `changed` when the staged object was replaced
   * meanwhile, or when its hash differs from that in the name.
   */
  promote(stagingKey: string, object: string, mimeType: string): Promise<'promoted' | 'changed'>
  /**
   * Whether the object has exactly the bytes of the hash in its name. Compares the checksum that the object store keeps. On a
   * store without checksums the object is read once, and again when its entity tag changes.
   */
  isIntact(object: string, sizeBytes: number): Promise<boolean>
  /** Removes a staged object; a missing one is no error. */
  removeStaged(stagingKey: string): Promise<void>
  /**
   * Removes at most `limit` staged objects that were written before `beforeMs`, also objects that no reservation names. Returns how many it removed.
   * An object that cannot be removed does not stop the removal of others; when fewer than `limit` were removed because of such an object, the call
   * rejects after the others are gone. [BLOB-12]
   */
  removeStagedBefore(beforeMs: number, limit: number): Promise<number>
  /** Returns a URL for a GET that answers with this content type and disposition. [BLOB-9] */
  downloadUrl(download: {
    readonly object: string
    readonly mimeType: string
    readonly attachment: boolean
    readonly ttlSecs: number
    readonly nowMs: number
  }): Promise<string>
}

/**
 * Stores bytes on disk or in an object store, under names that begin with their SHA-256. The ledger decides which object is
 * valid for a hash, and who may read it. [BLOB-24] Rejects with
 * RelayError BLOB_STORE_ERROR (object store, after its retries) or UNAVAILABLE (disk); a failure is never reported as
 * absence. [BLOB-19]
 */
export interface BlobStore {
  /**
   * Reads `source` to its end and hashes it. Awaits `onBytes` with the count so far before it reads on; `onBytes`
   * throws to refuse the upload. When `onBytes` or the source throws, no bytes stay behind.
   */
  receive(source: AsyncIterable<Uint8Array>, onBytes: (totalBytes: number) => Promise<void> | void): Promise<ReceivedBlob>
  /** Returns the size in bytes; `null` when the object does not exist. */
  size(object: string): Promise<number | null>
  /**
   * Returns the bytes, or a range of them within the size; `null` when the object does not exist. Ending the iteration
   * early frees its resources.
   */
  read(object: string, range: ByteRange | null): Promise<AsyncIterable<Uint8Array> | null>
  /** Removes exactly this object; a missing object is no error. Durable when it resolves. */
  remove(object: string): Promise<void>
  /** Lists every object with its size, for verify and restore. A hash may have several objects. */
  list(): AsyncIterable<{ readonly object: string; readonly hash: string; readonly sizeBytes: number }>
  /**
   * Removes the bytes that uploads of ended processes left behind. Called at the start, before any upload. A store with `direct` may be shared by
   * several processes, so it removes only bytes that are old enough, and may be called at any time. When some bytes cannot be removed, the call
   * removes all others and then rejects.
   */
  clearAbandoned(): Promise<void>
  /** Resolves when blobs can be read and written. [OPS-2] */
  check(): Promise<void>
  /** Present where clients can exchange bytes with the store directly. */
  readonly direct: DirectTransfer | null
}
