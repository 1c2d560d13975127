import { DOCUMENT_BODY, DOCUMENT_ID, PRIVATE_CONTENT } from '../documents/documents.exchanges.ts'
import type { ExchangeParameter, JsonSchema, RouteExchange } from '../kernel/exchange.ts'
import { CAPTURE_REASONS } from './recovery-store.port.ts'

const POINT_ID_SCHEMA = { type: 'string', pattern: '^[0-9]+-v[0-9]+$' } as const
const POINT_ID: ExchangeParameter = {
  description: 'The recovery point, `<createdAt>-v<serverVersion>`.',
  schema: POINT_ID_SCHEMA,
}
const ofPoint = { id: DOCUMENT_ID, pointId: POINT_ID }

const RECOVERY_POINT: JsonSchema = {
  title: 'RecoveryPoint',
  type: 'object',
  properties: {
    id: POINT_ID_SCHEMA,
    createdAt: { type: 'integer', description: 'Milliseconds since 1970.' },
    serverVersion: { type: 'integer', minimum: 1 },
    sizeBytes: { type: 'integer', minimum: 0 },
    reason: { type: 'string', enum: CAPTURE_REASONS, description: 'Why the point was taken.' },
  },
  required: ['id', 'createdAt', 'serverVersion', 'sizeBytes', 'reason'],
}

/** Schemas of requests and answers of the recovery routes. [REST-36] */
export const RECOVERY_EXCHANGES = {
  list: {
    path: { id: DOCUMENT_ID },
    responses: {
      200: {
        description: 'Newest first.',
        content: {
          'application/json': {
            type: 'object',
            properties: { recoveryPoints: { type: 'array', items: RECOVERY_POINT } },
            required: ['recoveryPoints'],
          },
        },
        headers: PRIVATE_CONTENT,
      },
    },
    errors: ['NOT_FOUND', 'VIEW_FORBIDDEN'],
  },
  capture: {
    path: { id: DOCUMENT_ID },
    responses: {
      200: {
        description: 'Whether there was something to keep.',
        content: {
          'application/json': { type: 'object', properties: { captured: { type: 'boolean' } }, required: ['captured'] },
        },
      },
    },
    errors: ['NOT_FOUND', 'VIEW_FORBIDDEN', 'EDIT_FORBIDDEN', 'NOT_PERSISTED'],
  },
  read: {
    path: ofPoint,
    responses: {
      200: {
        description: 'The document of that time.',
        content: { 'application/json': DOCUMENT_BODY },
        headers: PRIVATE_CONTENT,
      },
    },
    errors: ['NOT_FOUND', 'VIEW_FORBIDDEN', 'POINT_UNREADABLE'],
  },
  restore: {
    path: ofPoint,
    responses: {
      200: {
        description: 'The new document.',
        content: {
          'application/json': {
            type: 'object',
            properties: { newDocId: { type: 'string' }, serverVersion: { type: 'integer', minimum: 1 } },
            required: ['newDocId', 'serverVersion'],
          },
        },
      },
    },
    errors: [
      ...(['NOT_FOUND', 'VIEW_FORBIDDEN', 'EDIT_FORBIDDEN', 'OWNER_REQUIRED', 'POINT_UNREADABLE', 'NOT_PERSISTED'] as const),
      'STORAGE_QUOTA',
    ],
  },
} as const satisfies Record<string, RouteExchange>
