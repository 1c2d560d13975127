import type { BlobInfo } from '@docrelay/protocol/rest'
import { RelayError } from '../errors.ts'
import { type CallOptions, isRedirect, type Requests } from './request.ts'

export interface DownloadedBlob {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly mimeType: string
}

/** Files of the workspace, by the SHA-256 of their bytes in lower-case hex. */
export class Blobs {
  readonly #requests: Requests
  /** True after the relay has redirected the client to an object store. */
  #areElsewhere = false

  constructor(requests: Requests) {
    this.#requests = requests
  }

  /** Stores bytes and returns their hash. The bytes are durable when the promise resolves. [BLOB-3] */
  async upload(
    bytes: Uint8Array<ArrayBuffer>,
    { mimeType = 'application/octet-stream', signal }: CallOptions & { readonly mimeType?: string } = {},
  ): Promise<string> {
    const hash = await sha256(bytes)
    await this.#requests.send('POST', blobPath(hash), { body: { type: mimeType, content: bytes }, signal }, async () => {})
    return hash
  }

  /**
   * Returns the bytes of a blob, from the relay or from its object store. Rejects with HASH_MISMATCH when the bytes do
   * not have the hash, on platforms that can compute it (browsers only in secure contexts). [BLOB-7, BLOB-13]
   */
  async download(hash: string, options: CallOptions = {}): Promise<DownloadedBlob> {
    const blob = await this.#content(hash, options)
    const actual = globalThis.crypto?.subtle === undefined ? hash : await sha256(blob.bytes)
    if (actual === hash) return blob
    const message = `The bytes that were served for the blob ${hash} do not have its hash.`
    throw new RelayError('HASH_MISMATCH', message, { details: { expected: hash, actual } })
  }

  /** Returns type, size and time of a blob, or `null` when the workspace has no such blob. [BLOB-8] */
  async info(hash: string, options: CallOptions = {}): Promise<BlobInfo | null> {
    try {
      return await this.#requests.send('HEAD', blobPath(hash), options, async ({ headers }) => ({
        size: Number(headers.get('content-length')),
        mimeType: headers.get('content-type') ?? '',
        createdAt: headers.get('x-blob-created-at') ?? '',
      }))
    } catch (error) {
      if (isNotFound(error)) return null
      throw error
    }
  }

  /**
   * Fetches the bytes. The relay answers GET with a redirect to an object store when it keeps blobs there. After a redirect to another origin a
   * browser sends `Origin: null`, which the CORS rules for an editor's origin do not match. So the client does not follow the redirect but asks
   * the relay for a presigned URL. [BLOB-13] A relay that keeps blobs itself is never asked for a URL: it would refuse, and a browser logs every
   * refusal to its console.
   */
  async #content(hash: string, options: CallOptions): Promise<DownloadedBlob> {
    if (!this.#areElsewhere) {
      const blob = await this.#requests.send('GET', blobPath(hash), { ...options, redirect: 'manual' }, async (response) =>
        isRedirect(response) ? null : contentOf(response),
      )
      if (blob !== null) return blob
      this.#areElsewhere = true
    }
    const url = await this.#downloadUrl(hash, options)
    if (url === null) return this.#requests.send('GET', blobPath(hash), options, contentOf)
    return contentOf(await this.#requests.fetchElsewhere(url, options))
  }

  /** Returns a presigned URL of the object store, or `null` when the caller should GET the bytes from the relay. */
  async #downloadUrl(hash: string, options: CallOptions): Promise<string | null> {
    const path = `/api/v1/blobs/${encodeURIComponent(hash)}/download-url`
    try {
      return (await this.#requests.json<{ url: string }>('POST', path, options)).url
    } catch (error) {
      // The relay may have moved its blobs, and the caller may still be allowed to GET this one, which needs fewer rights by default. [BLOB-6]
      const mayGet = error instanceof RelayError && (error.code === 'PRESIGN_UNSUPPORTED' || isNotFound(error))
      if (mayGet) return null
      throw error
    }
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof RelayError && error.status === 404
}

async function contentOf(response: Response): Promise<DownloadedBlob> {
  return { bytes: new Uint8Array(await response.arrayBuffer()), mimeType: response.headers.get('content-type') ?? '' }
}

/** Returns the hash in lower-case hex. */
async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function blobPath(hash: string): string {
  return `/api/blobs/${encodeURIComponent(hash)}`
}
