import { Readable } from 'node:stream'
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import type { ByteRange } from '../../blobs/blob-store.port.ts'
import { encodedKey, type S3Address } from './s3-address.ts'
import { answered, type Attempt, once, type S3Clients, storeError } from './s3-calls.ts'

/** Which bytes of a key were seen; a key that was written again has others. */
export interface S3Edition {
  readonly key: string
  readonly etag: string | undefined
  readonly versionId: string | undefined
}

export interface S3Object {
  readonly edition: S3Edition
  /** Of the bytes in `body`. */
  readonly sizeBytes: number
  /** Destroy it when it is not read to its end. */
  readonly body: Readable
}

export interface ListedObject {
  readonly key: string
  readonly sizeBytes: number
  readonly changedAtMs: number
}

/** Objects of one bucket. Every verb retries as `attempt` does and rejects with BLOB_STORE_ERROR; absence is a value. [BLOB-19] */
export interface S3Bucket {
  /** Durable when it resolves; the bytes are verified by their signed hash. */
  put(key: string, bytes: Uint8Array, mimeType: string): Promise<void>
  head(key: string): Promise<{ readonly sizeBytes: number; readonly edition: S3Edition } | null>
  /** `tries` replaces the retries, for callers that try again themselves. */
  get(key: string, range: ByteRange | null, tries?: Attempt): Promise<S3Object | null>
  /** `changed` when the key has other bytes by now, or none. */
  copy(from: S3Edition, key: string, mimeType: string): Promise<'copied' | 'changed'>
  remove(key: string): Promise<void>
  list(prefix: string): AsyncIterable<ListedObject>
  /** One try. */
  reach(): Promise<void>
}

export function openS3Bucket(address: S3Address, { quick, patient }: S3Clients, attempt: Attempt): S3Bucket {
  const Bucket = address.bucket
  const reach = async (tries: Attempt): Promise<void> => {
    try {
      await tries(() => quick.send(new HeadBucketCommand({ Bucket })))
    } catch (error) {
      throw storeError(error)
    }
  }
  /** A 404 without a body may mean the bucket: only a bucket that answers makes it absence. */
  const absent = async (error: unknown): Promise<null> => {
    if (answered(error, 'NotFound')) await reach(attempt)
    else if (!answered(error, 'NoSuchKey')) throw storeError(error)
    return null
  }

  return {
    async put(Key, bytes, ContentType) {
      const input = { Bucket, Key, Body: bytes, ContentLength: bytes.byteLength, ContentType }
      await strictly(attempt(() => quick.send(new PutObjectCommand(input))))
    },
    async head(Key) {
      try {
        const found = await attempt(() => quick.send(new HeadObjectCommand({ Bucket, Key })))
        const { ETag: etag, VersionId: versionId, ContentLength } = found
        return { sizeBytes: sizeOf(ContentLength), edition: { key: Key, etag, versionId } }
      } catch (error) {
        return absent(error)
      }
    },
    async get(Key, range, tries = attempt) {
      const Range = range === null ? undefined : `bytes=${range.start}-${range.end}`
      try {
        const found = await tries(() => quick.send(new GetObjectCommand({ Bucket, Key, Range })))
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
        await attempt(() => quick.send(new DeleteObjectCommand({ Bucket, Key })))
      } catch (error) {
        await absent(error)
      }
    },
    async *list(Prefix) {
      let ContinuationToken: string | undefined
      do {
        const input = { Bucket, Prefix, ContinuationToken }
        const page = await strictly(attempt(() => quick.send(new ListObjectsV2Command(input))))
        for (const { Key, Size, LastModified } of page.Contents ?? []) {
          if (Key !== undefined) yield { key: Key, sizeBytes: Size ?? 0, changedAtMs: LastModified?.getTime() ?? 0 }
        }
        ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined
      } while (ContinuationToken !== undefined)
    },
    reach: () => reach(once),
  }
}

/** For calls to which no answer is a good one. */
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
