import { createHash } from 'node:crypto'
import type { DirectTransfer } from '../../blobs/blob-store.port.ts'
import type { S3Keys } from './s3-address.ts'
import type { S3Bucket, S3Edition } from './s3-bucket.ts'
import { type Attempt, once } from './s3-calls.ts'
import type { S3Presigner } from './s3-presign.ts'
import { readPieces } from './s3-reading.ts'

/** Finalizing follows its inspection at once; more than these wait only where something is wrong. */
const MAX_INSPECTED = 1_000

interface Inspected {
  readonly hash: string
  readonly sizeBytes: number
  readonly edition: S3Edition
}

export interface DirectParts {
  readonly bucket: S3Bucket
  readonly keys: S3Keys
  readonly presigner: S3Presigner
  readonly attempt: Attempt
}

/** Transfers between clients and the store. What an inspection saw is remembered, so that a promotion copies nothing else. [BLOB-11, BLOB-12] */
export function createS3Direct({ bucket, keys, presigner, attempt }: DirectParts): DirectTransfer {
  const inspected = new Map<string, Inspected>()
  const remember = (stagingKey: string, seen: Inspected): void => {
    inspected.delete(stagingKey)
    inspected.set(stagingKey, seen)
    const [oldest] = inspected.keys()
    if (inspected.size > MAX_INSPECTED && oldest !== undefined) inspected.delete(oldest)
  }

  return {
    uploadUrl: ({ stagingKey, ...upload }) => presigner.put({ ...upload, key: keys.staged(stagingKey) }),
    async inspect(stagingKey, maxBytes) {
      inspected.delete(stagingKey)
      const seen = await attempt(() => inspectOnce(bucket, keys.staged(stagingKey), maxBytes))
      if (seen.kind !== 'object') return seen
      const { hash, sizeBytes, edition } = seen
      remember(stagingKey, { hash, sizeBytes, edition })
      return { kind: 'object', hash, sizeBytes }
    },
    async promote(stagingKey, hash, mimeType) {
      const seen = inspected.get(stagingKey)
      // Another inspection may have seen other bytes meanwhile.
      if (seen?.hash !== hash) return 'changed'
      if ((await bucket.head(keys.blob(hash)))?.sizeBytes === seen.sizeBytes) return 'promoted'
      // Asked first as well, for stores that copy without looking at the condition.
      const now = await bucket.head(seen.edition.key)
      if (now === null || now.edition.etag !== seen.edition.etag) return 'changed'
      return (await bucket.copy(seen.edition, keys.blob(hash), mimeType)) === 'copied' ? 'promoted' : 'changed'
    },
    async removeStaged(stagingKey) {
      inspected.delete(stagingKey)
      await bucket.remove(keys.staged(stagingKey))
    },
    async removeStagedBefore(beforeMs, limit) {
      let removed = 0
      for await (const { key, changedAtMs } of bucket.list(keys.staging)) {
        if (removed === limit) break
        if (changedAtMs >= beforeMs) continue
        await bucket.remove(key)
        removed += 1
      }
      return removed
    },
    downloadUrl: ({ hash, mimeType, attachment, ttlSecs, nowMs }) =>
      presigner.get({
        key: keys.blob(hash),
        query: {
          'response-content-type': mimeType,
          'response-content-disposition': attachment ? 'attachment' : 'inline',
        },
        ttlSecs,
        nowMs,
      }),
  }
}

async function inspectOnce(bucket: S3Bucket, key: string, maxBytes: number | null) {
  const found = await bucket.get(key, null, once)
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
