import type { RouteExchange } from '../kernel/exchange.ts'

const TEXT = { type: ['string', 'null'] } as const

/** Schemas of the request and the answers of ingest. [REST-36] */
export const INGEST_EXCHANGES = {
  ingest: {
    request: {
      mediaType: 'application/json',
      schema: {
        type: 'object',
        properties: {
          url: { type: 'string', format: 'uri', maxLength: 8192 },
          authorization: { ...TEXT, description: 'Sent as it is to the first host; not when blank.' },
          mimeType: { ...TEXT, description: 'Stored in lower case, without parameters.' },
          source: { ...TEXT, description: 'Recorded with the blob; at most 2048 bytes.' },
          tags: {
            type: ['array', 'null'],
            items: { type: 'string' },
            maxItems: 32,
            description: 'Recorded with the blob; at most 256 bytes each.',
          },
        },
        required: ['url'],
        additionalProperties: true,
      },
    },
    responses: {
      200: {
        description: 'The blob is there, and durable.',
        content: {
          'application/json': {
            type: 'object',
            properties: {
              hash: { type: 'string', pattern: '^[0-9a-f]{64}$' },
              size: { type: 'integer', minimum: 0 },
              mimeType: { type: 'string' },
            },
            required: ['hash', 'size', 'mimeType'],
          },
        },
        headers: { 'Cache-Control': '`no-store`.' },
      },
    },
    errors: [
      'EDIT_FORBIDDEN',
      'INGEST_DISABLED',
      'BAD_URL',
      'URL_NOT_ALLOWED',
      'FETCH_FAILED',
      'BLOB_TOO_LARGE',
      'TOO_MANY_UPLOADS',
      'STORAGE_QUOTA',
      'BLOB_STORE_ERROR',
      'NOT_PERSISTED',
    ],
  },
} as const satisfies Record<string, RouteExchange>
