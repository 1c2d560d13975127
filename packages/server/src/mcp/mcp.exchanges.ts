import type { RouteExchange } from '../kernel/exchange.ts'

const TEXTS = { type: 'array', items: { type: 'string' } } as const

/** Answers of the MCP routes other than the endpoint itself. [REST-36] */
export const MCP_EXCHANGES = {
  discovery: {
    responses: {
      200: {
        description: 'The issuer whose tokens the endpoint takes.',
        content: {
          'application/json': {
            title: 'ProtectedResource',
            type: 'object',
            properties: { resource: { type: 'string' }, authorization_servers: TEXTS, bearer_methods_supported: TEXTS },
            required: ['resource', 'authorization_servers', 'bearer_methods_supported'],
          },
        },
      },
    },
    // NOT_FOUND when this listener does not serve the endpoint.
    errors: ['NOT_FOUND'],
  },
} as const satisfies Record<string, RouteExchange>
