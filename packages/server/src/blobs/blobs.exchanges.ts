import type { ExchangeParameter, RouteExchange } from '../kernel/exchange.ts'

const TEXT = { type: 'string' } as const
const HASH = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const
const SIZE = { type: 'integer', minimum: 0 } as const
const EXPIRES_AT = { type: 'integer', description: 'Milliseconds since 1970.' } as const
const MIME_TYPE = { type: ['string', 'null'], description: 'Stored in lower case, without parameters.' } as const
const NO_STORE = { 'Cache-Control': '`no-store`.' } as const

const CACHING = {
  ETag: 'The hash.',
  'Cache-Control': '`private, max-age=31536000, immutable`, or `no-store` for a redirect.',
} as const
const SERVED = {
  ...CACHING,
  'Accept-Ranges': '`bytes`.',
  'Content-Security-Policy': 'Nothing in it may run or load.',
  'Cross-Origin-Resource-Policy': '`cross-origin`.',
  'Content-Disposition': '`attachment` for types that a browser would run.',
  'X-Blob-Created-At': 'When the workspace stored it; for HEAD.',
} as const

const path: Readonly<Record<string, ExchangeParameter>> = {
  hash: { description: 'SHA-256 of the bytes, in lower-case hex.', schema: HASH },
}
const UPLOADER_ERRORS = ['EDIT_FORBIDDEN', 'BLOB_TOO_LARGE', 'STORAGE_QUOTA', 'BLOB_STORE_ERROR', 'NOT_PERSISTED'] as const

/** Schemas of requests and answers of the blob routes. [REST-36] */
export const BLOB_EXCHANGES = {
  get: {
    path,
    requestHeaders: {
      Range: { description: 'One range of bytes.', schema: TEXT },
      'If-Range': { description: 'The ETag that the range is of.', schema: TEXT },
      'If-None-Match': { description: 'ETags the caller holds.', schema: TEXT },
    },
    responses: {
      200: { description: 'The bytes, of the media type they were stored with.', content: { '*/*': {} }, headers: SERVED },
      206: {
        description: 'A range of them.',
        content: { '*/*': {} },
        headers: { ...SERVED, 'Content-Range': 'The range and the size of the blob.' },
      },
      302: {
        description: 'Where the object store serves them for a short time.',
        headers: { ...NO_STORE, Location: 'That URL.' },
      },
      304: { description: 'The caller holds them.', headers: CACHING },
    },
    errors: ['NOT_FOUND', 'RANGE_NOT_SATISFIABLE', 'BLOB_STORE_ERROR'],
  },
  post: {
    path,
    request: { mediaType: '*/*', schema: {} },
    responses: { 204: { description: 'Stored, and durable.' } },
    errors: [...UPLOADER_ERRORS, 'HASH_MISMATCH', 'TOO_MANY_UPLOADS'],
  },
  uploadUrl: {
    path,
    request: {
      mediaType: 'application/json',
      schema: { type: 'object', properties: { size: SIZE, mimeType: MIME_TYPE }, required: ['size'], additionalProperties: true },
    },
    responses: {
      200: {
        description: 'Where to PUT the bytes with exactly these headers, or that the workspace holds them.',
        content: {
          'application/json': {
            anyOf: [
              { type: 'object', properties: { exists: { const: true } }, required: ['exists'] },
              {
                title: 'PresignedUpload',
                type: 'object',
                properties: {
                  url: { type: 'string', format: 'uri' },
                  headers: { type: 'object', additionalProperties: TEXT },
                  expiresAt: EXPIRES_AT,
                  key: TEXT,
                },
                required: ['url', 'headers', 'expiresAt', 'key'],
              },
            ],
          },
        },
        headers: NO_STORE,
      },
    },
    errors: [...UPLOADER_ERRORS, 'PRESIGN_UNSUPPORTED'],
  },
  finalize: {
    path,
    request: {
      mediaType: 'application/json',
      schema: { type: 'object', properties: { mimeType: MIME_TYPE }, additionalProperties: true },
    },
    responses: {
      200: {
        description: 'The blob is there, and durable.',
        content: {
          'application/json': {
            type: 'object',
            properties: { success: { const: true }, hash: HASH, size: SIZE },
            required: ['success', 'hash', 'size'],
          },
        },
        headers: NO_STORE,
      },
    },
    errors: [...UPLOADER_ERRORS, 'PRESIGN_UNSUPPORTED', 'HASH_MISMATCH', 'OBJECT_NOT_UPLOADED', 'TOO_MANY_UPLOADS'],
  },
  downloadUrl: {
    path,
    responses: {
      200: {
        description: 'Where the object store serves the bytes for a short time.',
        content: {
          'application/json': {
            type: 'object',
            properties: { url: { type: 'string', format: 'uri' }, expiresAt: EXPIRES_AT },
            required: ['url', 'expiresAt'],
          },
        },
        headers: NO_STORE,
      },
    },
    errors: ['NOT_FOUND', 'PRESIGN_UNSUPPORTED', 'BLOB_STORE_ERROR'],
  },
} as const satisfies Record<string, RouteExchange>
