import type { ErrorCode } from '../../kernel/errors.ts'
import type { ExchangeParameter, RouteExchange } from '../../kernel/exchange.ts'

const TEXT = { type: 'string' } as const

/** The WebSocket upgrade, which the gateway answers without a route. [WS-1..WS-6] */
export const UPGRADE = {
  operationId: 'connect',
  tags: ['ws'],
  summary: 'Opens a WebSocket for documents. The credential comes with the header or with the first frame.',
  security: [{ bearer: [] }, {}],
  query: {
    protocolVersion: { description: 'Major, or major and minor, of the protocol that the client speaks.', schema: TEXT },
    workspace: { description: 'The workspace of the token to act in; its first usable one when absent.', schema: TEXT },
  } as Readonly<Record<string, ExchangeParameter>>,
  responses: { 101: { description: 'The socket is open.' } } as RouteExchange['responses'],
  errors: [
    'BAD_REQUEST',
    'TOKEN_MALFORMED',
    'UNAUTHENTICATED',
    'TOKEN_INVALID',
    'TOKEN_REVOKED',
    'JWKS_UNAVAILABLE',
    'FORBIDDEN',
    'FORBIDDEN_PLAIN',
    'PROTOCOL_VERSION_MISMATCH',
    'UNAVAILABLE',
  ] as readonly ErrorCode[],
}
