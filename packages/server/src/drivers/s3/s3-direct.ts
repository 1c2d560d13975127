import { createHash } from 'node:crypto'
import { type DirectTransfer, hashOfObject } from '../../blobs/blob-store.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { S3Keys } from './s3-address.ts'
import type { ListedObject, S3Bucket, S3Edition } from './s3-bucket.ts'
import type { Attempt, S3Attempts } from './s3-calls.ts'
import type { S3Presigner } from './s3-presign.ts'
import { readPieces } from './s3-reading.ts'
import { sweep, throwFailures } from './s3-sweep.ts'

/** Maximum number of remembered inspections. Finalizing follows an inspection at once, so there are more only when something is wrong. */
const MAX_INSPECTED = 1_000
/** Maximum number of blobs remembered as intact, each with its entity tag. */
const MAX_VERIFIED = 20_000
/**
 * For this long a bucket that was reached counts as reachable. A client that is sent to a missing bucket could not learn the reason there. [BLOB-21]
 */
const REACHED_MS = 10_000

interface Inspected {
  readonly hash: string
  readonly sizeBytes: number
  readonly edition: S3Edition
}

export interface DirectParts {
  readonly bucket: S3Bucket
  readonly keys: S3Keys
  readonly presigner: S3Presigner
  readonly attempts: S3Attempts
  readonly clock: Pick<Clock, 'monotonicMs'>
}

/**
 * Transfers between clients and the store. An inspection remembers which bytes it has read, so that a promotion copies exactly these bytes. [BLOB-11,
 * BLOB-12]
 */
export function createS3Direct({ bucket, keys, presigner, attempts, clock }: DirectParts): DirectTransfer {
  const inspected = createRecent<Inspected>(MAX_INSPECTED)
  const verified = createRecent<string>(MAX_VERIFIED)
  /** Reads in progress by object; callers that ask for the same object at the same time share one read. */
  const reading = new Map<string, Promise<boolean>>()
  let reachedUntilMs = Number.NEGATIVE_INFINITY
  const inspectKey = (key: string, maxBytes: number | null) =>
    attempts.retried(() => inspectOnce(bucket, key, maxBytes, attempts.inner))

  /** Reads and hashes an object, and returns whether its bytes are right. */
  const isRight = async (object: string, sizeBytes: number): Promise<boolean> => {
    const seen = await inspectKey(keys.blob(object), sizeBytes)
    if (seen.kind !== 'object' || seen.hash !== hashOfObject(object)) return false
    if (seen.edition.etag !== undefined) verified.set(object, seen.edition.etag)
    return true
  }

  return {
    async uploadUrl({ stagingKey, ...upload }) {
      if (clock.monotonicMs() >= reachedUntilMs) {
        await bucket.reach()
        reachedUntilMs = clock.monotonicMs() + REACHED_MS
      }
      return presigner.put({ ...upload, key: keys.staged(stagingKey) })
    },
    async inspect(stagingKey, maxBytes) {
      inspected.delete(stagingKey)
      const seen = await inspectKey(keys.staged(stagingKey), maxBytes)
      if (seen.kind !== 'object') return seen
      const { hash, sizeBytes, edition } = seen
      inspected.set(stagingKey, { hash, sizeBytes, edition })
      return { kind: 'object', hash, sizeBytes }
    },
    async promote(stagingKey, object, mimeType) {
      const seen = inspected.get(stagingKey)
      // A later inspection of the same key may have read other bytes.
      if (seen === undefined || seen.hash !== hashOfObject(object)) return 'changed'
      // Compares the entity tag also before the copy, for stores that ignore the condition of a copy.
      const now = await bucket.head(seen.edition.key)
      if (now === null || now.edition.etag !== seen.edition.etag) return 'changed'
      return (await bucket.copy(seen.edition, keys.blob(object), mimeType)) === 'copied' ? 'promoted' : 'changed'
    },
    async isIntact(object, sizeBytes) {
      const found = await bucket.head(keys.blob(object))
      if (found?.sizeBytes !== sizeBytes) return false
      if (found.sha256 !== null) return found.sha256 === hashOfObject(object)
      const { etag } = found.edition
      if (etag !== undefined && verified.get(object) === etag) return true
      const read = reading.get(object) ?? isRight(object, sizeBytes).finally(() => reading.delete(object))
      reading.set(object, read)
      return read
    },
    async removeStaged(stagingKey) {
      inspected.delete(stagingKey)
      await bucket.remove(keys.staged(stagingKey))
    },
    async removeStagedBefore(beforeMs, limit) {
      const swept = await sweep(
        {
          items: bucket.list(keys.staging),
          isDue: ({ changedAtMs }: ListedObject) => changedAtMs < beforeMs,
          remove: ({ key }) => bucket.remove(key),
          most: limit,
        },
        bucket.reach,
      )
      if (swept.removed < limit) throwFailures(swept)
      return swept.removed
    },
    downloadUrl: ({ object, mimeType, attachment, ttlSecs, nowMs }) =>
      presigner.get({
        key: keys.blob(object),
        query: {
          'response-content-type': mimeType,
          'response-content-disposition': attachment ? 'attachment' : 'inline',
        },
        ttlSecs,
        nowMs,
      }),
  }
}

/** Makes a map that keeps at most `max` values, those that were set last. */
function createRecent<V>(max: number) {
  const values = new Map<string, V>()
  return {
    get: (key: string) => values.get(key),
    delete: (key: string) => values.delete(key),
    set(key: string, value: V): void {
      values.delete(key)
      values.set(key, value)
      const [oldest] = values.keys()
      if (values.size > max && oldest !== undefined) values.delete(oldest)
    },
  }
}

async function inspectOnce(bucket: S3Bucket, key: string, maxBytes: number | null, tries: Attempt) {
  const found = await bucket.get(key, null, tries)
  if (found === null) return { kind: 'missing' as const }
  const { sizeBytes, edition } = found
  if (maxBytes !== null && sizeBytes > maxBytes) {
    found.body.destroy()
    return { kind: 'too-large' as const, sizeBytes }
  }
  const hash = createHash('sha256')
  for await (const piece of readPieces(found)) hash.update(piece)
  return { kind: 'object' as const, hash: hash.digest('hex'), sizeBytes, edition }
}
