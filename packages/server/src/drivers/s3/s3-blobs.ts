import type { BlobStore } from '../../blobs/blob-store.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import { newId, type Random } from '../../kernel/ids.ts'
import type { Timers } from '../../kernel/timers.ts'
import { readS3Address, s3Keys } from './s3-address.ts'
import { openS3Bucket, type S3Bucket } from './s3-bucket.ts'
import { openS3Clients, retrying, type S3Credentials } from './s3-calls.ts'
import { createS3Direct } from './s3-direct.ts'
import { openS3Parts } from './s3-parts.ts'
import { createS3Presigner } from './s3-presign.ts'
import { readPieces } from './s3-reading.ts'
import { receiveIntoS3, type Receiving } from './s3-receive.ts'
import { createUploadMemory } from './s3-upload-memory.ts'

export interface S3BlobsOptions {
  /** `[blobs] url`. */
  readonly url: string
  readonly credentials: S3Credentials
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  /** Age from which an unfinished upload is nobody's; other processes of the same bucket may be uploading. */
  readonly abandonedAfterMs?: number
  /** Of all uploads under way. [X34] */
  readonly maxUploadMemoryBytes?: number
}

const MAX_UPLOAD_MEMORY_BYTES = 256 * 1024 * 1024

const DAY_MS = 86_400_000
const HASH = /^[0-9a-f]{64}$/

/**
 * Blobs in a bucket, as keys `<prefix>blobs/<hash>`. Opening sends nothing.
 * @throws Error with a sentence for the operator when the credentials are missing.
 */
export function openS3Blobs(options: S3BlobsOptions): BlobStore {
  const { clock, timers, random } = options
  if (options.credentials.accessKeyId === '' || options.credentials.secretAccessKey === '')
    throw new Error('[blobs].access_key_id and [blobs].secret_access_key are needed for blobs in an object store (s3:)')
  const address = readS3Address(options.url)
  const clients = openS3Clients(address, options.credentials)
  const attempt = retrying(clock, timers)
  const keys = s3Keys(address.prefix)
  const bucket = openS3Bucket(address, clients, attempt)
  const parts = openS3Parts(address, clients, attempt)
  const presigner = createS3Presigner(address, options.credentials)
  const memory = createUploadMemory(options.maxUploadMemoryBytes ?? MAX_UPLOAD_MEMORY_BYTES)
  const receiving: Receiving = { bucket, parts, keys, memory, newKeyId: () => newId('', 32, random) }
  const check = createCheck(bucket, receiving)

  return {
    receive: (source, onBytes) => receiveIntoS3(receiving, source, onBytes),
    size: async (hash) => (await bucket.head(keys.blob(hash)))?.sizeBytes ?? null,
    async read(hash, range) {
      const found = await bucket.get(keys.blob(hash), range)
      return found && readPieces(found)
    },
    remove: (hash) => bucket.remove(keys.blob(hash)),
    async *list() {
      for await (const { key, sizeBytes } of bucket.list(keys.blobs)) {
        const hash = key.slice(keys.blobs.length)
        if (HASH.test(hash)) yield { hash, sizeBytes }
      }
    },
    async clearAbandoned() {
      const beforeMs = clock.nowMs() - (options.abandonedAfterMs ?? DAY_MS)
      for await (const upload of parts.open(keys.receiving)) if (upload.begunAtMs <= beforeMs) await parts.abort(upload)
      for await (const { key, changedAtMs } of bucket.list(keys.receiving)) if (changedAtMs <= beforeMs) await bucket.remove(key)
    },
    check,
    direct: createS3Direct({ bucket, keys, presigner, attempt }),
  }
}

/** The first check writes; once that worked, only the bucket is asked: readiness is asked every few seconds. [OPS-2] */
function createCheck(bucket: S3Bucket, { keys, newKeyId }: Receiving): () => Promise<void> {
  let written = false
  return async () => {
    await bucket.reach()
    if (written) return
    const key = keys.received(newKeyId())
    await bucket.put(key, new Uint8Array([1]), 'application/octet-stream')
    await bucket.remove(key)
    written = true
  }
}
