import type { RouteExchange } from '../kernel/exchange.ts'

/** Requests and answers of the internal token routes. [REST-36, REST-29] */
export const AUTH_EXCHANGES = {
  revoke: {
    request: {
      mediaType: 'application/json',
      schema: {
        type: 'object',
        properties: {
          revocations: {
            type: 'array',
            maxItems: 10_000,
            items: {
              title: 'Revocation',
              type: 'object',
              properties: { jti: { type: 'string' }, revoked_at: { type: 'string', format: 'date-time' } },
              required: ['jti', 'revoked_at'],
              additionalProperties: true,
            },
          },
        },
        required: ['revocations'],
        additionalProperties: true,
      },
    },
    responses: { 204: { description: 'Every entry is durable and effective.' } },
    errors: [],
  },
} as const satisfies Record<string, RouteExchange>
