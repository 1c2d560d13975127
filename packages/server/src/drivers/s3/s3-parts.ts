import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { S3Address } from './s3-address.ts'
import { answered, type Attempt, type S3Clients, storeError } from './s3-calls.ts'

/** An object that is sent in parts. The caller ends it with `complete` or `abort`. */
export interface PartsUpload {
  /** Sends the next part. All parts except the last have 5 MiB or more. */
  add(bytes: Uint8Array): Promise<void>
  /** Joins the parts to one object, which is durable when this resolves. */
  complete(): Promise<void>
  /** Removes the parts and leaves no object; may be called again. */
  abort(): Promise<void>
}

export interface OpenUpload {
  readonly key: string
  readonly uploadId: string
  readonly begunAtMs: number
}

export interface S3Parts {
  begin(key: string): Promise<PartsUpload>
  /** Yields uploads that were begun and not ended. Yields none when the store cannot list them. */
  open(prefix: string): AsyncIterable<OpenUpload>
  abort(upload: Pick<OpenUpload, 'key' | 'uploadId'>): Promise<void>
}

export function openS3Parts(address: S3Address, { patient }: Pick<S3Clients, 'patient'>, attempt: Attempt): S3Parts {
  const Bucket = address.bucket

  const abort = async (Key: string, UploadId: string): Promise<void> => {
    try {
      await attempt((quick) => quick.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })))
    } catch (error) {
      if (!answered(error, 'NoSuchUpload', 'NotImplemented', 'MethodNotAllowed')) throw storeError(error)
    }
  }

  const complete = async (Key: string, UploadId: string, etags: readonly (string | undefined)[]): Promise<void> => {
    const Parts = etags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }))
    const input = { Bucket, Key, UploadId, MultipartUpload: { Parts } }
    let tries = 0
    await attempt(async () => {
      tries++
      try {
        await patient.send(new CompleteMultipartUploadCommand(input))
      } catch (error) {
        // An earlier try whose answer was lost may have ended the upload; no other upload has this key.
        if (tries === 1 || !answered(error, 'NoSuchUpload')) throw error
      }
    })
  }

  return {
    async begin(Key) {
      const { UploadId } = await attempt((quick) => quick.send(new CreateMultipartUploadCommand({ Bucket, Key }))).catch(rethrown)
      if (UploadId === undefined) throw storeError(new Error('no upload id'))
      const etags: (string | undefined)[] = []
      return {
        async add(bytes) {
          const input = { Bucket, Key, UploadId, PartNumber: etags.length + 1, Body: bytes, ContentLength: bytes.byteLength }
          const { ETag } = await attempt((quick) => quick.send(new UploadPartCommand(input))).catch(rethrown)
          etags.push(ETag)
        },
        complete: () => complete(Key, UploadId, etags).catch(rethrown),
        abort: () => abort(Key, UploadId),
      }
    },
    async *open(Prefix) {
      let marker: { readonly KeyMarker?: string | undefined; readonly UploadIdMarker?: string | undefined } | null = {}
      while (marker !== null) {
        const page = await listUploads({ Bucket, Prefix, ...marker })
        for (const { Key, UploadId, Initiated } of page?.Uploads ?? []) {
          if (Key !== undefined && UploadId !== undefined)
            yield { key: Key, uploadId: UploadId, begunAtMs: Initiated?.getTime() ?? 0 }
        }
        marker = page?.IsTruncated ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker } : null
      }
    },
    abort: ({ key, uploadId }) => abort(key, uploadId),
  }

  async function listUploads(input: ConstructorParameters<typeof ListMultipartUploadsCommand>[0]) {
    try {
      return await attempt((quick) => quick.send(new ListMultipartUploadsCommand(input)))
    } catch (error) {
      if (answered(error, 'NotImplemented', 'MethodNotAllowed')) return null
      throw storeError(error)
    }
  }
}

function rethrown(error: unknown): never {
  throw storeError(error)
}
