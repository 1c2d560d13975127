import { Readable } from 'node:stream'
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import type { ByteRange } from '../../blobs/blob-store.port.ts'
import { encodedKey, type S3Address } from './s3-address.ts'
import { answered, type Attempt, headNamed, type S3Attempts, type S3Clients, storeError } from './s3-calls.ts'

/** Identifies the bytes that a key had when it was read. A key that is written again has another edition. */
export interface S3Edition {
  readonly key: string
  readonly etag: string | undefined
  readonly versionId: string | undefined
}

export interface S3Object {
  readonly edition: S3Edition
  /** Size of the bytes in `body`. */
  readonly sizeBytes: number
  /** The caller destroys the stream when it does not read to its end. */
  readonly body: Readable
}

export interface ListedObject {
  readonly key: string
  readonly sizeBytes: number
  readonly changedAtMs: number
}

export interface S3Head {
  readonly sizeBytes: number
  readonly edition: S3Edition
  /** SHA-256 of the whole object in lower-case hex, as the store computed it at the upload; `null` when the store keeps no checksum. */
  readonly sha256: string | null
}

/**
 * The objects of one bucket. Every method retries as `attempt` does and rejects with BLOB_STORE_ERROR. A missing object is a returned value.
 * [BLOB-19]
 */
export interface S3Bucket {
  /**
   * Writes an object and replaces an existing one. Durable when it resolves. A store that keeps checksums compares the bytes with `sha256`
   * (lower-case hex).
   */
  put(key: string, bytes: Uint8Array, mimeType: string, sha256: string): Promise<void>
  head(key: string): Promise<S3Head | null>
  /** Reads an object or a range of it. `tries` replaces the retries, for callers that retry themselves. */
  get(key: string, range: ByteRange | null, tries?: Attempt): Promise<S3Object | null>
  /** Copies an object. Returns `changed` when the source has been written again or removed. */
  copy(from: S3Edition, key: string, mimeType: string): Promise<'copied' | 'changed'>
  remove(key: string): Promise<void>
  list(prefix: string): AsyncIterable<ListedObject>
  /** Asks the store once whether the bucket answers. */
  reach(): Promise<void>
}

export function openS3Bucket(address: S3Address, { patient }: Pick<S3Clients, 'patient'>, attempts: S3Attempts): S3Bucket {
  const Bucket = address.bucket
  const attempt = attempts.retried
  const reach = async (tries: Attempt): Promise<void> => {
    try {
      await tries((quick) =>
        headNamed(
          () => quick.send(new HeadBucketCommand({ Bucket })),
          () => quick.send(new ListObjectsV2Command({ Bucket, MaxKeys: 1 })),
        ),
      )
    } catch (error) {
      throw storeError(error)
    }
  }
  /**
   * Returns `null` for a missing object. A 404 without a body may also mean that the bucket is missing, so the object counts as absent only when the
   * bucket answers.
   */
  const absent = async (error: unknown): Promise<null> => {
    if (answered(error, 'NotFound')) await reach(attempt)
    else if (!answered(error, 'NoSuchKey')) throw storeError(error)
    return null
  }

  return {
    async put(Key, bytes, ContentType, sha256) {
      const ChecksumSHA256 = Buffer.from(sha256, 'hex').toString('base64')
      const input = { Bucket, Key, Body: bytes, ContentLength: bytes.byteLength, ContentType, ChecksumSHA256 }
      await strictly(attempt((quick) => quick.send(new PutObjectCommand(input))))
    },
    async head(Key) {
      try {
        const found = await attempt((quick) =>
          headNamed(
            async () => fromStore(await quick.send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }))),
            () => refused(quick.send(new GetObjectCommand({ Bucket, Key, Range: 'bytes=0-0' }))),
          ),
        )
        const { ETag: etag, VersionId: versionId, ContentLength, ChecksumSHA256: sha256 } = found
        return { sizeBytes: sizeOf(ContentLength), edition: { key: Key, etag, versionId }, sha256: wholeSha256(sha256) }
      } catch (error) {
        return absent(error)
      }
    },
    async get(Key, range, tries = attempt) {
      const Range = range === null ? undefined : `bytes=${range.start}-${range.end}`
      try {
        const found = await tries(async (quick) => fromStore(await quick.send(new GetObjectCommand({ Bucket, Key, Range }))))
        const { ETag: etag, VersionId: versionId, ContentLength, Body } = found
        if (!(Body instanceof Readable)) throw storeError(new Error('no body'))
        const sizeBytes = sizeOf(ContentLength)
        if (range !== null && sizeBytes !== range.end - range.start + 1) {
          Body.destroy()
          throw storeError(new Error('another range'))
        }
        return { edition: { key: Key, etag, versionId }, sizeBytes, body: Body }
      } catch (error) {
        return absent(error)
      }
    },
    async copy(from, Key, ContentType) {
      const version = from.versionId === undefined ? '' : `?versionId=${encodeURIComponent(from.versionId)}`
      const input = {
        Bucket,
        Key,
        ContentType,
        CopySource: `${Bucket}/${encodedKey(from.key)}${version}`,
        CopySourceIfMatch: from.etag,
        MetadataDirective: 'REPLACE' as const,
      }
      try {
        await attempt(() => patient.send(new CopyObjectCommand(input)))
        return 'copied'
      } catch (error) {
        if (answered(error, 'PreconditionFailed', 'NoSuchKey', 'NotFound')) return 'changed'
        throw storeError(error)
      }
    },
    async remove(Key) {
      try {
        await attempt((quick) => quick.send(new DeleteObjectCommand({ Bucket, Key })))
      } catch (error) {
        await absent(error)
      }
    },
    async *list(Prefix) {
      let ContinuationToken: string | undefined
      do {
        const input = { Bucket, Prefix, ContinuationToken }
        const page = await strictly(attempt((quick) => quick.send(new ListObjectsV2Command(input))))
        for (const { Key, Size, LastModified } of page.Contents ?? []) {
          if (Key !== undefined) yield { key: Key, sizeBytes: Size ?? 0, changedAtMs: LastModified?.getTime() ?? 0 }
        }
        ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined
      } while (ContinuationToken !== undefined)
    },
    reach: () => reach(attempts.single),
  }
}

/** The checksum of an object that was sent in parts is a checksum of checksums, and says nothing about the whole. */
function wholeSha256(base64: string | undefined): string | null {
  return base64 === undefined || base64.includes('-') ? null : Buffer.from(base64, 'base64').toString('hex')
}

/** Every object of a store has an entity tag. An answer without one comes from a proxy and counts as a passing failure. */
function fromStore<T extends { readonly ETag?: string | undefined; readonly Body?: unknown }>(found: T): T {
  if (found.ETag !== undefined) return found
  if (found.Body instanceof Readable) found.Body.destroy()
  throw new Error('no entity tag')
}

/** Discards the bytes of a GET that was sent only to get a refusal of the store. */
async function refused(get: Promise<GetObjectCommandOutput>): Promise<void> {
  const { Body } = await get
  if (Body instanceof Readable) Body.destroy()
}

/** Turns every refusal of the store into BLOB_STORE_ERROR. */
async function strictly<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    throw storeError(error)
  }
}

function sizeOf(contentLength: number | undefined): number {
  if (contentLength === undefined) throw storeError(new Error('no length'))
  return contentLength
}
