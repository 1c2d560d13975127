import { DOCUMENT_ID, PRIVATE_CONTENT } from '../documents/documents.exchanges.ts'
import type { ExchangeParameter, JsonSchema, RouteExchange } from '../kernel/exchange.ts'

/** The most calls in one answer. [AG-73] */
export const MAX_CALLS = 100

const TEXT = { type: 'string' } as const
const COUNT = { type: 'integer', minimum: 0 } as const
const VERSION = { type: 'integer', minimum: 1 } as const
const CALL_ID: ExchangeParameter = {
  description: 'The call, `callId` of a list of calls or of the answer of a tool.',
  schema: { type: 'string', minLength: 1 },
}

const CALL: JsonSchema = {
  title: 'Call',
  type: 'object',
  properties: {
    callId: TEXT,
    tool: { type: 'string', description: 'The name of the tool without its prefix.' },
    by: { type: 'string', description: 'The user id of the caller.' },
    at: { type: 'integer', description: 'Milliseconds since 1970.' },
    serverVersion: { ...VERSION, description: 'The version that the call made.' },
    changed: { ...COUNT, description: 'Blocks, shapes, pages, references and fields that it changed.' },
    removed: { ...COUNT, description: 'Texts, shapes and pages that it removed.' },
    undoable: { type: 'boolean', description: 'It can be undone now.' },
    undoneBy: { type: 'string', description: 'The call that undid it.' },
  },
  required: ['callId', 'tool', 'by', 'at', 'serverVersion', 'changed', 'removed', 'undoable'],
}

const KEPT: JsonSchema = {
  type: 'object',
  properties: { id: TEXT, text: TEXT },
  required: ['id', 'text'],
  additionalProperties: true,
}

/** Requests and answers of the routes of calls. [REST-36] */
export const CALL_EXCHANGES = {
  list: {
    path: { id: DOCUMENT_ID },
    query: {
      limit: {
        description: 'The most calls in one answer.',
        schema: { type: 'integer', minimum: 1, maximum: MAX_CALLS, default: MAX_CALLS },
      },
      cursor: { description: '`nextCursor` of the answer before.', schema: TEXT },
    },
    responses: {
      200: {
        description: 'Newest first. Calls are kept for some days.',
        content: {
          'application/json': {
            type: 'object',
            properties: {
              calls: { type: 'array', items: CALL },
              nextCursor: { type: 'string', description: 'Absent in the last answer.' },
            },
            required: ['calls'],
          },
        },
        headers: PRIVATE_CONTENT,
      },
    },
    errors: ['NOT_FOUND', 'VIEW_FORBIDDEN'],
  },
  undo: {
    path: { id: DOCUMENT_ID, callId: CALL_ID },
    request: {
      mediaType: 'application/json',
      schema: {
        type: 'object',
        properties: { expectedVersion: { ...VERSION, description: 'The stored version that the caller saw; absent: any.' } },
        additionalProperties: true,
      },
    },
    responses: {
      200: {
        description: 'Taken back, and durable. A repeat by the same caller gets the same answer.',
        content: {
          'application/json': {
            type: 'object',
            properties: {
              changed: { ...COUNT, description: '0: everything was changed since.' },
              kept: { type: 'array', items: KEPT, description: 'What somebody changed since, at most 20.' },
              keptTotal: { ...COUNT, description: 'Present when more was kept than is listed.' },
              serverVersion: VERSION,
              callId: { type: 'string', description: 'Names the undo, which can be undone; absent when nothing was changed.' },
            },
            required: ['changed', 'kept', 'serverVersion'],
          },
        },
        headers: PRIVATE_CONTENT,
      },
    },
    errors: [
      ...(['NOT_FOUND', 'VIEW_FORBIDDEN', 'EDIT_FORBIDDEN', 'VERSION_CONFLICT', 'NOT_UNDOABLE', 'NEEDS_REPAIR'] as const),
      ...(['TOMBSTONED', 'DOC_TOO_LARGE', 'STORAGE_QUOTA', 'NOT_PERSISTED'] as const),
    ],
  },
} as const satisfies Record<string, RouteExchange>
