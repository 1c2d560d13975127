import { createHash } from 'node:crypto'
import { type BlobStore, hashOfObject } from '../../blobs/blob-store.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import { newId, type Random } from '../../kernel/ids.ts'
import type { Timers } from '../../kernel/timers.ts'
import { readS3Address, s3Keys } from './s3-address.ts'
import { type ListedObject, openS3Bucket, type S3Bucket } from './s3-bucket.ts'
import { type CallOutcome, createAttempts, openS3Clients, type S3Credentials } from './s3-calls.ts'
import { createS3Direct } from './s3-direct.ts'
import { type OpenUpload, openS3Parts } from './s3-parts.ts'
import { createS3Presigner } from './s3-presign.ts'
import { readPieces } from './s3-reading.ts'
import { receiveIntoS3, type Receiving } from './s3-receive.ts'
import { sweep, throwFailures } from './s3-sweep.ts'
import { createUploadMemory } from './s3-upload-memory.ts'

export interface S3BlobsOptions {
  /** `[blobs] url`. */
  readonly url: string
  readonly credentials: S3Credentials
  readonly clock: Clock
  /** Timers that keep the process alive, since callers wait for the pauses between tries. */
  readonly timers: Timers
  readonly random: Random
  /** Called with the outcome of every call, after its retries. */
  readonly observe?: (outcome: CallOutcome) => void
  /** An unfinished upload of this age in ms counts as abandoned. A younger upload may belong to another process on the same bucket. */
  readonly abandonedAfterMs?: number
  /** Memory in bytes of all running uploads. [X34] */
  readonly maxUploadMemoryBytes?: number
}

const MAX_UPLOAD_MEMORY_BYTES = 256 * 1024 * 1024

const DAY_MS = 86_400_000
const CHECK_BYTES = new Uint8Array([1])
const CHECK_SHA256 = createHash('sha256').update(CHECK_BYTES).digest('hex')

/**
 * Keeps blobs in a bucket, under the keys `<prefix>blobs/<object>`. Opening sends nothing.
 *
 * @throws Error with a sentence for the operator when the credentials are missing.
 */
export function openS3Blobs(options: S3BlobsOptions): BlobStore {
  const { clock, timers, random } = options
  if (options.credentials.accessKeyId === '' || options.credentials.secretAccessKey === '')
    throw new Error('[blobs].access_key_id and [blobs].secret_access_key are needed for blobs in an object store (s3:)')
  const address = readS3Address(options.url)
  const clients = openS3Clients(address, options.credentials)
  const attempts = createAttempts({ clients, clock, timers, observe: options.observe ?? (() => undefined) })
  const keys = s3Keys(address.prefix)
  const bucket = openS3Bucket(address, clients, attempts)
  const parts = openS3Parts(address, clients, attempts.retried)
  const presigner = createS3Presigner(address, options.credentials)
  const memory = createUploadMemory(options.maxUploadMemoryBytes ?? MAX_UPLOAD_MEMORY_BYTES)
  const receiving: Receiving = { bucket, parts, keys, memory, newKeyId: () => newId('', 32, random) }
  const check = createCheck(bucket, receiving)

  return {
    receive: (source, onBytes) => receiveIntoS3(receiving, source, onBytes),
    size: async (object) => (await bucket.head(keys.blob(object)))?.sizeBytes ?? null,
    async read(object, range) {
      const found = await bucket.get(keys.blob(object), range)
      return found && readPieces(found)
    },
    remove: (object) => bucket.remove(keys.blob(object)),
    async *list() {
      for await (const { key, sizeBytes } of bucket.list(keys.blobs)) {
        const object = key.slice(keys.blobs.length)
        const hash = hashOfObject(object)
        if (hash !== null) yield { object, hash, sizeBytes }
      }
    },
    async clearAbandoned() {
      const beforeMs = clock.nowMs() - (options.abandonedAfterMs ?? DAY_MS)
      const uploads = {
        items: parts.open(keys.receiving),
        isDue: ({ begunAtMs }: OpenUpload) => begunAtMs <= beforeMs,
        remove: parts.abort,
      }
      const objects = {
        items: bucket.list(keys.receiving),
        isDue: ({ changedAtMs }: ListedObject) => changedAtMs <= beforeMs,
        remove: ({ key }: ListedObject) => bucket.remove(key),
      }
      const aborted = await sweep(uploads, bucket.reach)
      throwFailures(aborted, ...(aborted.isGone ? [] : [await sweep(objects, bucket.reach)]))
    },
    check,
    direct: createS3Direct({ bucket, keys, presigner, attempts, clock }),
  }
}

/**
 * Makes the check of the store. Until one check has succeeded, each check writes an object. Later checks only ask whether the bucket answers, since
 * readiness is checked every few seconds. [OPS-2]
 */
function createCheck(bucket: S3Bucket, { keys, newKeyId }: Receiving): () => Promise<void> {
  let written = false
  return async () => {
    await bucket.reach()
    if (written) return
    const key = keys.received(newKeyId())
    await bucket.put(key, CHECK_BYTES, 'application/octet-stream', CHECK_SHA256)
    await bucket.remove(key)
    written = true
  }
}
