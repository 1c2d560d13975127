import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { acceptsProtocolVersion, PROTOCOL_MINOR, PROTOCOL_VERSION } from '@docrelay/protocol/version'
import { authorizationValues, readBearer } from '../../auth/bearer.ts'
import { wwwAuthenticate } from '../../auth/refusals.ts'
import { errorDetails, retryAfterHeader } from '../../kernel/error-details.ts'
import { ERRORS, type ErrorCode, RelayError } from '../../kernel/errors.ts'

/** An HTTP answer to an upgrade instead of 101. */
export interface UpgradeRefusal {
  readonly code: ErrorCode
  readonly message: string
  /** Additional members of the JSON body. The error table lists them for each code. */
  readonly details?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

/** The parts of an upgrade request that decide its answer. */
export interface UpgradeRequest {
  readonly path: string
  readonly protocolVersion: string | null
  readonly namedWorkspace: string | undefined
  readonly origin: string | undefined
  /** `undefined`: no Authorization header. `null`: a header that contains no bearer. */
  readonly bearer: string | null | undefined
}

/** Reads query and headers, and logs neither. [WS-1, WS-3, OPS-6] */
export function readUpgrade(request: IncomingMessage): UpgradeRequest {
  const target = request.url ?? '/'
  const at = target.indexOf('?')
  const query = new URLSearchParams(at < 0 ? '' : target.slice(at + 1))
  const authorization = authorizationValues(request.rawHeaders)
  return {
    path: at < 0 ? target : target.slice(0, at),
    protocolVersion: query.get('protocolVersion'),
    namedWorkspace: query.get('workspace') ?? undefined,
    origin: request.headers.origin,
    bearer: authorization.length === 0 ? undefined : readBearer(authorization),
  }
}

export interface UpgradeRules {
  readonly corsOrigins: readonly string[]
  readonly draining: boolean
}

/** Decides an upgrade before its token is checked; `null` lets it pass. [WS-2, WS-4] */
export function refuseUpgrade(request: UpgradeRequest, rules: UpgradeRules): UpgradeRefusal | null {
  if (request.path !== '/ws') return { code: 'NOT_FOUND', message: 'There is no WebSocket here.' }
  if (rules.draining) return busy('The relay is stopping.')
  if (!acceptsProtocolVersion(request.protocolVersion)) {
    const ours = `${PROTOCOL_VERSION}.${PROTOCOL_MINOR}`
    const theirs = (request.protocolVersion ?? '').replace(/[^\x20-\x7e]/g, '?').slice(0, 32)
    return {
      code: 'PROTOCOL_VERSION_MISMATCH',
      message: `ERR_PROTOCOL_VERSION_MISMATCH: the client speaks ${theirs}, this relay speaks ${ours}`,
      headers: { Connection: 'upgrade, close', Upgrade: 'websocket' },
    }
  }
  const { origin } = request
  const originRefused = origin !== undefined && !rules.corsOrigins.includes('*') && !rules.corsOrigins.includes(origin)
  if (originRefused) return { code: 'FORBIDDEN', message: 'The origin of this page is not allowed.' }
  if (request.bearer === null) return { code: 'UNAUTHENTICATED', message: 'The Authorization header holds no bearer credential.' }
  return null
}

/** The answer to an upgrade without a bearer when no place is free. [WS-6] */
export const NO_PLACE = busy('Too many sockets wait for AUTH, of all addresses together or of yours.')

/** Headers that every answer to one request has. [REST-9..REST-11] */
export type CommonHeaders = Readonly<Record<string, string>>

/** Writes a whole HTTP answer and ends the socket. The answer has the same body and `Retry-After` as the same error on REST. [REST-14] */
export function answerUpgrade(socket: Duplex, refusal: UpgradeRefusal, common: CommonHeaders): void {
  const row = ERRORS[refusal.code]
  const plain = refusal.code === 'PROTOCOL_VERSION_MISMATCH' || refusal.code === 'FORBIDDEN_PLAIN'
  // No error code that refuses an upgrade has a request id in its body, so the request id is empty.
  const details = errorDetails(new RelayError(refusal.code, refusal.message, refusal.details), '')
  const whole = JSON.stringify({ error: refusal.message, errorCode: refusal.code, ...details })
  const body = refusal.code === 'FORBIDDEN_PLAIN' ? 'forbidden' : plain ? refusal.message : whole
  const challenge: Record<string, string> =
    row.status === ERRORS.UNAUTHENTICATED.status
      ? { 'WWW-Authenticate': wwwAuthenticate(refusal.code !== 'UNAUTHENTICATED') }
      : {}
  const headers: Record<string, string> = {
    ...common,
    Connection: 'close',
    'Content-Type': plain ? 'text/plain' : 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    ...challenge,
    ...retryAfterHeader(details),
    ...refusal.headers,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.once('finish', () => socket.destroy())
  socket.end([`HTTP/1.1 ${row.status} ${refusal.code}`, ...lines, '', body].join('\r\n'))
}

function busy(message: string): UpgradeRefusal {
  return { code: 'UNAVAILABLE', message }
}
