import { DOCUMENT_METADATA, PRIVATE_CONTENT } from '../documents/documents.exchanges.ts'
import type { JsonSchema, RouteExchange } from '../kernel/exchange.ts'

const TEXT = { type: 'string' } as const
const VERSION = { type: 'integer', minimum: 0 } as const

const COLLECTION: JsonSchema = {
  title: 'CollectionDefinition',
  type: 'object',
  properties: { id: TEXT, name: TEXT, color: TEXT, order: { type: 'integer' } },
  required: ['id', 'name', 'color', 'order'],
  additionalProperties: true,
}

const COLLECTION_INPUT: JsonSchema = {
  title: 'CollectionInput',
  type: 'object',
  properties: {
    id: { type: 'string', minLength: 1, description: 'At most 64 bytes.' },
    name: { type: 'string', minLength: 1, description: 'At most 120 characters after trimming.' },
    color: { type: 'string', minLength: 1, default: '#808080', description: 'At most 32 bytes.' },
    order: { type: 'integer', description: 'The place in this list when absent.' },
  },
  required: ['id', 'name'],
  additionalProperties: true,
}

/**
 * Requests and answers of the routes of one registry: a list under its member name, and its version. [REST-25, REST-32]
 */
export function registryExchanges(
  member: string,
  entry: JsonSchema,
  input: JsonSchema,
  maxEntries: number,
): { readonly get: RouteExchange; readonly put: RouteExchange } {
  return {
    get: {
      responses: {
        200: {
          description: 'The list and its version.',
          content: {
            'application/json': {
              type: 'object',
              properties: { [member]: { type: 'array', items: entry }, version: VERSION },
              required: [member, 'version'],
            },
          },
          headers: PRIVATE_CONTENT,
        },
      },
      errors: [],
    },
    put: {
      request: {
        mediaType: 'application/json',
        schema: {
          type: 'object',
          properties: {
            [member]: { type: 'array', items: input, maxItems: maxEntries },
            expectedVersion: { ...VERSION, description: 'The version the change was made on; absent: whatever is stored.' },
          },
          required: [member],
          additionalProperties: true,
        },
      },
      responses: {
        200: {
          description: 'Replaced, and durable.',
          content: {
            'application/json': {
              type: 'object',
              properties: { success: { const: true }, newVersion: { type: 'integer', minimum: 1 } },
              required: ['success', 'newVersion'],
            },
          },
          headers: PRIVATE_CONTENT,
        },
      },
      errors: ['BAD_COLLECTIONS', 'EDIT_FORBIDDEN', 'VERSION_CONFLICT', 'CONFIG_TOO_LARGE', 'NOT_PERSISTED'],
    },
  }
}

/** Requests and answers of the collection routes. [REST-36] */
export const COLLECTION_EXCHANGES = {
  ...registryExchanges('collections', COLLECTION, COLLECTION_INPUT, 200),
  documents: {
    path: { id: { description: 'The collection; an unknown one has no documents.', schema: { type: 'string', minLength: 1 } } },
    responses: {
      200: {
        description: 'Those that the caller may read, newest change first.',
        content: {
          'application/json': {
            type: 'object',
            properties: { documents: { type: 'array', items: DOCUMENT_METADATA } },
            required: ['documents'],
          },
        },
        headers: PRIVATE_CONTENT,
      },
    },
    errors: [],
  },
} as const satisfies Record<string, RouteExchange>
