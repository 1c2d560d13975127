import { DOCUMENT_ID, DOCUMENT_METADATA } from '../documents/documents.exchanges.ts'
import type { JsonSchema, RouteExchange } from '../kernel/exchange.ts'

const TEXT = { type: 'string' } as const
const TIME = { type: 'string', format: 'date-time' } as const
const JSON_TYPE = 'application/json'
const ONE = { path: { id: DOCUMENT_ID } } as const

const SHARE_LINK: JsonSchema = {
  title: 'ShareLink',
  type: 'object',
  properties: {
    token: { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' },
    url: { type: 'string', format: 'uri' },
    expires_at: TIME,
    id: TEXT,
  },
  required: ['token', 'url', 'expires_at', 'id'],
}
const ISSUE: JsonSchema = {
  type: 'object',
  properties: { expires_at: { ...TIME, description: 'Later than now, at most 365 days ahead.' } },
  required: ['expires_at'],
  additionalProperties: true,
}
const OWNER_ERRORS = ['NOT_FOUND', 'VIEW_FORBIDDEN', 'EDIT_FORBIDDEN', 'OWNER_REQUIRED'] as const
const WRITE_ERRORS = [...OWNER_ERRORS, 'NOT_PERSISTED'] as const

/** Requests and answers of the share link routes. [REST-36] */
export const SHARE_LINK_EXCHANGES = {
  list: {
    ...ONE,
    responses: {
      200: {
        description: 'Live links, newest first.',
        content: {
          [JSON_TYPE]: {
            type: 'object',
            properties: {
              shareLinks: {
                type: 'array',
                items: {
                  title: 'ListedShareLink',
                  type: 'object',
                  properties: { id: TEXT, created_at: TIME, created_by: TEXT, expires_at: TIME },
                  required: ['id', 'created_at', 'created_by', 'expires_at'],
                },
              },
            },
            required: ['shareLinks'],
          },
        },
      },
    },
    errors: OWNER_ERRORS,
  },
  issue: {
    ...ONE,
    request: { mediaType: JSON_TYPE, schema: ISSUE },
    responses: { 200: { description: 'The link; its token is shown here only.', content: { [JSON_TYPE]: SHARE_LINK } } },
    errors: WRITE_ERRORS,
  },
  revoke: {
    path: { id: DOCUMENT_ID, linkId: { description: 'The share link.', schema: { type: 'string', minLength: 1 } } },
    responses: { 204: { description: 'Revoked.' } },
    errors: WRITE_ERRORS,
  },
  redeem: {
    request: {
      mediaType: JSON_TYPE,
      schema: { type: 'object', properties: { token: TEXT }, required: ['token'], additionalProperties: true },
    },
    responses: { 200: { description: 'The document, which the caller may read.', content: { [JSON_TYPE]: DOCUMENT_METADATA } } },
    errors: ['NOT_FOUND', 'RATE_LIMITED', 'NOT_PERSISTED'],
  },
  share: {
    ...ONE,
    isDeprecated: true,
    request: {
      mediaType: JSON_TYPE,
      schema: {
        oneOf: [
          ISSUE,
          {
            type: 'object',
            properties: {
              shares: {
                type: 'array',
                maxItems: 1_000,
                items: {
                  type: 'object',
                  properties: {
                    userId: TEXT,
                    userName: { type: ['string', 'null'] },
                    permission: {
                      enum: ['viewer', 'view', 'editor', 'edit', 'owner', 'none'],
                      description: '`owner` only for a user who has an owner share already. The row of the owner is ignored.',
                    },
                  },
                  required: ['userId', 'permission'],
                  additionalProperties: true,
                },
              },
            },
            required: ['shares'],
            additionalProperties: true,
          },
        ],
      },
    },
    responses: {
      200: {
        description: 'The link, or that the share list is replaced.',
        content: {
          [JSON_TYPE]: {
            anyOf: [SHARE_LINK, { type: 'object', properties: { success: { const: true } }, required: ['success'] }],
          },
        },
      },
    },
    errors: [...WRITE_ERRORS, 'DOC_TOO_LARGE', 'STORAGE_QUOTA'],
  },
  page: {
    responses: {
      200: {
        description: 'A page without scripts.',
        content: { 'text/html': TEXT },
        headers: { 'Content-Security-Policy': "`default-src 'none'`.", 'Referrer-Policy': '`no-referrer`.' },
      },
    },
    errors: [],
  },
} as const satisfies Record<string, RouteExchange>
