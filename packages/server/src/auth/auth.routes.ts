import { RelayError } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import { JSON_BODY, type Route, type RouteDeclaration } from '../http/route.ts'
import { AUTH_EXCHANGES } from './auth.exchanges.ts'
import { readRevocation } from './revocation-entry.ts'
import type { Revocation } from './revocations.port.ts'
import type { Revocations } from './revocations.ts'

const MAX_ENTRIES = 10_000

/** The internal token routes without their handlers. [REST-29] */
export const AUTH_ROUTES = {
  revoke: {
    method: 'POST',
    path: '/api/v1/internal/revoke',
    credential: 'revocation-bearer',
    body: JSON_BODY,
    needs: 'the revocation push bearer',
    summary: 'Revokes tokens by their jti. 204 means every entry is durable and effective.',
    exchange: AUTH_EXCHANGES.revoke,
  },
} as const satisfies Record<string, RouteDeclaration>

export interface AuthRoutesOptions {
  readonly revocations: Pick<Revocations, 'add'>
  readonly log: Logger
}

export function authRoutes({ revocations, log }: AuthRoutesOptions): readonly Route[] {
  return [
    {
      ...AUTH_ROUTES.revoke,
      async handle(request) {
        const entries = readRevocations(request.json)
        await revocations.add(entries)
        log.info('auth.revocations.pushed', 'Revocations were received.', {
          audit: true,
          requestId: request.requestId,
          count: entries.length,
        })
        return { kind: 'empty' }
      },
    },
  ]
}

/** Returns all entries, or throws an error that names the first bad one. [REST-29] */
function readRevocations(body: unknown): Revocation[] {
  const list: unknown = typeof body === 'object' && body !== null ? (body as { revocations?: unknown }).revocations : undefined
  if (!Array.isArray(list)) throw new RelayError('BAD_REQUEST', '`revocations` must be a list.', { field: 'revocations' })
  if (list.length > MAX_ENTRIES) {
    const message = `\`revocations\` has ${list.length} entries; at most ${MAX_ENTRIES} are taken in one call.`
    throw new RelayError('BAD_REQUEST', message, { field: 'revocations', limit: MAX_ENTRIES, value: list.length })
  }
  return list.map((entry, at) => {
    const revocation = readRevocation(entry)
    if (revocation) return revocation
    const field = `revocations[${at}]`
    throw new RelayError('BAD_REQUEST', `\`${field}\` must have a jti of 1 to 256 bytes and an ISO 8601 \`revoked_at\`.`, {
      field,
    })
  })
}
