import { callerOf } from '../http/caller.ts'
import { namesEtag } from '../http/etag.ts'
import { JSON_BODY, NO_BODY, type Route, type RouteDeclaration, type RouteReply, type RouteRequest } from '../http/route.ts'
import { RelayError } from '../kernel/errors.ts'
import { checkBlobHash } from './blob-hash.ts'
import type { BlobGrant } from './blob-ledger.port.ts'
import { readDeclaredLength, readFinalizeRequest, readUploadRequest } from './blob-requests.ts'
import type { ByteRange } from './blob-store.port.ts'
import type { Blobs } from './blobs.ts'
import { readRange } from './byte-range.ts'
import { isAttachment } from './mime.ts'
import { BLOB_EXCHANGES } from './blobs.exchanges.ts'

/** The bytes of a hash never change, so clients may keep them. */
const CACHED = 'private, max-age=31536000, immutable'
const NO_STORE = { 'Cache-Control': 'no-store' }
const checkParams = (params: Readonly<Record<string, string>>): void => checkBlobHash(params.hash ?? '')

/** Declarations of the blob routes, without handlers. [interface, Endpoints] */
export const BLOB_ROUTES = {
  get: {
    method: 'GET',
    path: '/api/blobs/:hash',
    credential: 'bearer',
    body: NO_BODY,
    needs: 'any role; with enforce_private_blobs uploader, workspace owner, or view of a document that references it',
    summary: 'The bytes of a blob, or a redirect to the object store.',
    exchange: BLOB_EXCHANGES.get,
    checkParams,
  },
  post: {
    method: 'POST',
    path: '/api/blobs/:hash',
    credential: 'bearer',
    body: { kind: 'stream' },
    needs: 'role owner or member',
    summary: 'Stores bytes under their SHA-256.',
    exchange: BLOB_EXCHANGES.post,
    checkParams,
  },
  uploadUrl: {
    method: 'POST',
    path: '/api/v1/blobs/:hash/upload-url',
    credential: 'bearer',
    body: JSON_BODY,
    writersOnly: true,
    needs: 'role owner or member',
    summary: 'A URL to put the bytes of a blob into the object store.',
    exchange: BLOB_EXCHANGES.uploadUrl,
    checkParams,
  },
  finalize: {
    method: 'POST',
    path: '/api/v1/blobs/:hash/finalize',
    credential: 'bearer',
    body: JSON_BODY,
    writersOnly: true,
    needs: 'role owner or member',
    summary: 'Verifies an uploaded object and makes it a blob.',
    exchange: BLOB_EXCHANGES.finalize,
    checkParams,
  },
  downloadUrl: {
    method: 'POST',
    path: '/api/v1/blobs/:hash/download-url',
    credential: 'bearer',
    body: NO_BODY,
    needs: 'any role; uploader, workspace owner, or view of a document that references it',
    summary: 'A URL to get the bytes of a blob from the object store.',
    exchange: BLOB_EXCHANGES.downloadUrl,
    checkParams,
  },
} as const satisfies Record<string, RouteDeclaration>

/** Returns the blob routes with handlers that call the service. */
export function blobRoutes(blobs: Blobs): readonly Route[] {
  return [
    { ...BLOB_ROUTES.get, handle: (request) => getBlob(request, blobs) },
    {
      ...BLOB_ROUTES.post,
      async handle(request) {
        await blobs.upload(callerOf(request).access, {
          expectedHash: hashOf(request),
          bytes: request.stream,
          declaredBytes: readDeclaredLength(request.header('content-length')),
          mimeType: request.header('content-type') ?? null,
          provenance: null,
        })
        return { kind: 'empty' }
      },
    },
    {
      ...BLOB_ROUTES.uploadUrl,
      async handle(request) {
        const upload = { hash: hashOf(request), ...readUploadRequest(request.json) }
        const ticket = await blobs.presigned.uploadUrl(callerOf(request).access, upload)
        if (ticket === 'exists') return { kind: 'json', value: { exists: true }, headers: NO_STORE }
        const { url, headers, expiresAtMs: expiresAt, key } = ticket
        return { kind: 'json', value: { url, headers, expiresAt, key }, headers: NO_STORE }
      },
    },
    {
      ...BLOB_ROUTES.finalize,
      async handle(request) {
        const upload = { hash: hashOf(request), ...readFinalizeRequest(request.json) }
        const { hash, sizeBytes: size } = await blobs.presigned.finalize(callerOf(request).access, upload)
        return { kind: 'json', value: { success: true, hash, size }, headers: NO_STORE }
      },
    },
    {
      ...BLOB_ROUTES.downloadUrl,
      async handle(request) {
        const { url, expiresAtMs: expiresAt } = await blobs.downloadUrl(callerOf(request).access, hashOf(request))
        return { kind: 'json', value: { url, expiresAt }, headers: NO_STORE }
      },
    },
  ]
}

async function getBlob(request: RouteRequest, blobs: Blobs): Promise<RouteReply> {
  const grant = await blobs.find(callerOf(request).access, hashOf(request))
  const { hash, sizeBytes } = grant
  const etag = `"${hash}"`
  const known = request.header('if-none-match')
  if (known !== undefined && namesEtag(known, etag)) {
    return { kind: 'not-modified', headers: { ETag: etag, 'Cache-Control': CACHED } }
  }
  if (request.isHead) {
    await blobs.confirm(grant)
    const headers = { ...servedHeaders(grant, etag), 'X-Blob-Created-At': new Date(grant.createdAtMs).toISOString() }
    return { kind: 'stream', partial: false, length: sizeBytes, open: neverOpened, headers }
  }
  const delivery = await blobs.deliver(grant)
  if (delivery.kind === 'redirect') return { kind: 'redirect', location: delivery.url, headers: NO_STORE }
  const range = rangeOf(request, sizeBytes, etag)
  const headers = servedHeaders(grant, etag)
  if (range === null) return { kind: 'stream', partial: false, length: sizeBytes, open: () => delivery.open(null), headers }
  const { start, end } = range
  return {
    kind: 'stream',
    partial: true,
    length: end - start + 1,
    open: () => delivery.open(range),
    headers: { ...headers, 'Content-Range': `bytes ${start}-${end}/${sizeBytes}` },
  }
}

/** Headers of every response with bytes, whole or in part. [BLOB-7] */
function servedHeaders(
  { mimeType }: BlobGrant,
  etag: string,
): Readonly<Record<string, string>> & { readonly 'Content-Type': string } {
  return {
    'Content-Type': mimeType,
    ETag: etag,
    'Cache-Control': CACHED,
    'Accept-Ranges': 'bytes',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    // The token decides who may read the bytes. This header lets a cross-origin isolated page show them. [H7]
    'Cross-Origin-Resource-Policy': 'cross-origin',
    ...(isAttachment(mimeType) && { 'Content-Disposition': 'attachment' }),
  }
}

/** Returns `null` for the whole blob. A range with If-Range counts only if it names exactly these bytes. */
function rangeOf(request: RouteRequest, sizeBytes: number, etag: string): ByteRange | null {
  const condition = request.header('if-range')
  if (condition !== undefined && condition.trim() !== etag) return null
  const range = readRange(request.header('range'), sizeBytes)
  if (range === 'whole') return null
  if (range !== 'unsatisfiable') return range
  throw new RelayError('RANGE_NOT_SATISFIABLE', `The range lies outside the ${sizeBytes} bytes of the blob.`, { sizeBytes })
}

function neverOpened(): never {
  throw new RelayError('INTERNAL', 'HEAD has no body to open.')
}

function hashOf(request: RouteRequest): string {
  return request.params.hash ?? ''
}
