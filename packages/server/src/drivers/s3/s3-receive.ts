import { createHash } from 'node:crypto'
import type { ReceivedBlob } from '../../blobs/blob-store.port.ts'
import type { S3Keys } from './s3-address.ts'
import type { S3Bucket } from './s3-bucket.ts'
import { storeError } from './s3-calls.ts'
import type { PartsUpload, S3Parts } from './s3-parts.ts'
import type { UploadMemory, UploadShare } from './s3-upload-memory.ts'

/** An upload of at most this many bytes stays in memory. A larger upload is sent in parts of this size. */
const PART_BYTES = 8 * 1024 * 1024

export interface Receiving {
  readonly bucket: S3Bucket
  readonly parts: S3Parts
  readonly keys: S3Keys
  readonly memory: UploadMemory
  newKeyId(): string
}

type Source = AsyncIterable<Uint8Array>
type OnBytes = (totalBytes: number) => Promise<void> | void

/**
 * Receives bytes without a disk. A blob of up to 8 MiB stays in memory until it is kept. A larger blob is sent in parts to a key that nobody reads.
 * [BLOB-3]
 */
export async function receiveIntoS3(target: Receiving, source: Source, onBytes: OnBytes): Promise<ReceivedBlob> {
  const key = target.keys.received(target.newKeyId())
  const hash = createHash('sha256')
  let sizeBytes = 0
  let upload: PartsUpload | null = null
  const waiting = partBuffer()
  const memory = target.memory.open()
  try {
    for await (const bytes of source) {
      sizeBytes += bytes.byteLength
      await onBytes(sizeBytes)
      memory.take(bytes.byteLength)
      hash.update(bytes)
      for (const part of waiting.add(bytes)) {
        upload ??= await target.parts.begin(key)
        await upload.add(part)
        memory.give(part.byteLength)
      }
    }
    const rest = waiting.rest()
    if (upload === null) return heldInMemory(target, hash.digest('hex'), rest, memory)
    if (rest.byteLength > 0) await upload.add(rest)
    await upload.complete()
    memory.end()
    return stagedBlob(target, hash.digest('hex'), sizeBytes, key)
  } catch (error) {
    memory.end()
    // Parts that cannot be removed now are removed at a later start. The caller must get the refusal.
    await upload?.abort().catch(() => undefined)
    if (upload !== null) await target.bucket.remove(key).catch(() => undefined)
    throw error
  }
}

function heldInMemory({ bucket, keys }: Receiving, hash: string, bytes: Uint8Array, memory: UploadShare): ReceivedBlob {
  return {
    hash,
    sizeBytes: bytes.byteLength,
    async keep(object, mimeType) {
      await bucket.put(keys.blob(object), bytes, mimeType, hash)
      memory.end()
    },
    discard() {
      memory.end()
      return Promise.resolve()
    },
  }
}

function stagedBlob({ bucket, keys }: Receiving, hash: string, sizeBytes: number, key: string): ReceivedBlob {
  return {
    hash,
    sizeBytes,
    async keep(object, mimeType) {
      // Only this upload knows the key, so the copy need not check the edition of the object.
      const outcome = await bucket.copy({ key, etag: undefined, versionId: undefined }, keys.blob(object), mimeType)
      if (outcome === 'changed') throw storeError(new Error('the received object is gone'))
      await bucket.remove(key).catch(() => undefined)
    },
    discard: () => bucket.remove(key),
  }
}

/** Gathers bytes into parts of one size. */
function partBuffer() {
  let pieces: Uint8Array[] = []
  let held = 0
  const take = (): Uint8Array => {
    const part = Buffer.concat(pieces, held)
    pieces = []
    held = 0
    return part
  }
  return {
    /** Yields the parts that `bytes` complete. The caller may reuse the memory of `bytes` afterwards. */
    *add(bytes: Uint8Array): Generator<Uint8Array> {
      for (let at = 0; at < bytes.byteLength; ) {
        // A part is sent only when more bytes follow: a blob of exactly one part still counts as small.
        if (held === PART_BYTES) yield take()
        const piece = Buffer.from(bytes.subarray(at, at + PART_BYTES - held))
        pieces.push(piece)
        held += piece.byteLength
        at += piece.byteLength
      }
    },
    rest: take,
  }
}
