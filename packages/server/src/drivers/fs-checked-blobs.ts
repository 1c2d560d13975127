import { createHash } from 'node:crypto'
import { type BlobStore, type ByteRange, hashOfObject } from '../blobs/blob-store.port.ts'
import { RelayError } from '../kernel/errors.ts'
import type { FsBlobs } from './fs-blobs.ts'

export interface CheckedBlobsOptions {
  /** Called with the name of each damaged object after its bytes were moved aside. */
  readonly onDamaged: (object: string) => void
}

/** Maximum number of files remembered as intact. Above it all are forgotten and checked again. */
const MOST_REMEMBERED = 100_000

/**
 * Checks the bytes of blobs on disk against their hash before they are returned. [D5, BLOB-7]
 *
 * A file is read and hashed as a whole at its first use after the start, and again after it changed (another inode,
 * size or time). A whole download is hashed again while it is sent, and its last piece is sent only when the hash is
 * right, so no download completes with wrong bytes. Damaged bytes are moved away; reads then reject with
 * BLOB_STORE_ERROR until a new upload brings the blob back.
 */
export function checkedBlobs(files: FsBlobs, { onDamaged }: CheckedBlobsOptions): FsBlobs {
  const whole = new Map<string, string>()
  const checks = new Map<string, Promise<boolean>>()

  async function putAside(object: string, identity: string): Promise<RelayError> {
    whole.delete(object)
    // A file that was replaced since the read has another identity and is not moved.
    if (await files.aside.put(object, identity)) onDamaged(object)
    return damaged(object)
  }

  /** Returns whether the bytes of an object have its hash. Callers that ask for the same object at the same time share one check. */
  function isWhole(object: string): Promise<boolean> {
    const running = checks.get(object) ?? hasItsHash(files, object).finally(() => checks.delete(object))
    checks.set(object, running)
    return running
  }

  /**
   * Returns the identity of the file of an intact blob; `null` when the file does not exist.
   *
   * @throws RelayError BLOB_STORE_ERROR when the bytes of the file are damaged
   */
  async function checked(object: string): Promise<string | null> {
    const identity = await files.aside.identity(object)
    if (identity === null) {
      if (await files.aside.has(object)) throw damaged(object)
      return null
    }
    if (whole.get(object) === identity) return identity
    if (!(await isWhole(object))) throw await putAside(object, identity)
    if (whole.size >= MOST_REMEMBERED) whole.clear()
    whole.set(object, identity)
    return identity
  }

  return {
    ...files,
    async size(object) {
      return (await checked(object)) === null ? null : await files.size(object)
    },
    async read(object, range) {
      const identity = await checked(object)
      if (identity === null) return null
      const [sizeBytes, bytes] = await Promise.all([files.size(object), files.read(object, range)])
      if (bytes === null || sizeBytes === null || !isAll(range, sizeBytes)) return bytes
      return hashedWhileRead(bytes, hashOfObject(object), () => putAside(object, identity))
    },
    async remove(object) {
      await files.remove(object)
      await files.aside.remove(object)
    },
  }
}

function isAll(range: ByteRange | null, sizeBytes: number): boolean {
  return range === null || (range.start === 0 && range.end === sizeBytes - 1)
}

async function hasItsHash(files: Pick<BlobStore, 'read'>, object: string): Promise<boolean> {
  const bytes = await files.read(object, null)
  // The file was removed meanwhile. The read of the caller reports that.
  if (bytes === null) return true
  const sha256 = createHash('sha256')
  for await (const piece of bytes) sha256.update(piece)
  return sha256.digest('hex') === hashOfObject(object)
}

/**
 * Yields the pieces of `bytes`. The last piece is yielded only when all pieces together have the hash, so each piece waits until the next one was
 * read.
 */
function hashedWhileRead(
  bytes: AsyncIterable<Uint8Array>,
  hash: string | null,
  onDamage: () => Promise<RelayError>,
): AsyncIterable<Uint8Array> {
  const source = bytes[Symbol.asyncIterator]()
  const sha256 = createHash('sha256')
  let held: Uint8Array | null = null
  let ended = false
  const take = async (): Promise<Uint8Array | null> => {
    const { done, value } = await source.next()
    if (done === true) return null
    sha256.update(value)
    return value
  }
  const iterator: AsyncIterator<Uint8Array, undefined> = {
    async next() {
      if (ended) return { done: true, value: undefined }
      held ??= await take()
      const next = held === null ? null : await take()
      if (next === null) {
        ended = true
        if (sha256.digest('hex') !== hash) throw await onDamage()
        return held === null ? { done: true, value: undefined } : { done: false, value: held }
      }
      const value = held as Uint8Array
      held = next
      return { done: false, value }
    },
    async return() {
      ended = true
      await source.return?.()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

function damaged(object: string): RelayError {
  return new RelayError(
    'BLOB_STORE_ERROR',
    `The stored bytes of blob ${hashOfObject(object) ?? object} do not have that SHA-256 any more and were put aside; upload the blob again.`,
    { reason: 'damaged' },
  )
}
