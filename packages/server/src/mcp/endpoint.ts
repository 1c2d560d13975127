import type { IncomingMessage, ServerResponse } from 'node:http'
import { mayCreate } from '../access/access.ts'
import { preflightHeaders } from '../http/cors.ts'
import type { BodyAccount } from '../http/body-budget.ts'
import { createPartTurns, leavesBody, readBody } from '../http/request-body.ts'
import { pathOf } from '../http/request-target.ts'
import { asRelayError } from '../http/respond.ts'
import { RelayError } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import type { EndpointCaller, ReadCredential } from './credentials.ts'
import type { EndpointDeps } from './endpoint-deps.ts'
import { answerEmpty, answerJson, answerPlain, type Exchange, openExchange } from './exchange.ts'
import { errorMessage, readMessage, RPC_ERRORS, RpcError, type RpcId } from './json-rpc.ts'
import { ownerOf } from './legacy.ts'
import { createMessages } from './messages.ts'
import { publicOrigin } from '../http/host-header.ts'
import { isAllowedOrigin, isLoopbackRequest, isUsableHost } from './origin.ts'
import { createSessions, SessionClosed } from './sessions.ts'
import { createSharedSessions } from './shared-sessions.ts'
import { createStreams } from './streams.ts'

export const MCP_PATH = '/mcp'
const MAX_BODY_BYTES = 8_388_608
const METHODS = ['GET', 'POST', 'DELETE'] as const
const PUBLIC_METHODS = [...METHODS, 'OPTIONS']

/** Answers a request of a listener when it is for the endpoint. Returns false when it is not. */
export type Mount = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean

export interface McpEndpoint {
  /**
   * For a listener on loopback addresses. On every path it also refuses requests that a page of another site could have sent. [MCP-4]
   */
  readonly loopback: Mount
  /** For the main listener. [MCP-5] */
  readonly folded: Mount
  /** Ends the open streams; calls in progress are still answered. */
  drain(): void
}

/** Makes one handler for both listeners, with the same tools, data and sessions. [MCP-1] */
export function createEndpoint(deps: EndpointDeps): McpEndpoint {
  const { clock, timers, arrivals, random, log } = deps
  const parts = createPartTurns()
  const sessions =
    deps.sharedSessions === null
      ? createSessions(clock, random, deps.sessionLimits)
      : createSharedSessions({ ...deps.sharedSessions, clock, random, ...(deps.sessionLimits && { limits: deps.sessionLimits }) })
  const streams = createStreams(deps.parts.content.resources, timers)
  const handleMessage = createMessages({ ...deps, sessions, streams })

  /** Makes the HTTP checks in order, then hands the message to its own checks. [MCP-3] */
  const serve = async (exchange: Exchange, allowed: readonly string[]): Promise<void> => {
    const { incoming } = exchange
    if (!allowed.includes(incoming.method ?? '')) {
      throw new RelayError('METHOD_NOT_ALLOWED', `The method ${incoming.method} is not allowed here.`, {
        allow: allowed.join(', '),
      })
    }
    if (deps.isDraining()) throw new RelayError('UNAVAILABLE', 'The relay is shutting down.')
    const caller = await authenticate(exchange, deps.readCredential)
    if (incoming.method === 'POST') return post(exchange, caller)
    const id = exchange.header('mcp-session-id')
    const found = await sessions.find(id, ownerOf(caller))
    if (found.kind === 'closed') throw new SessionClosed()
    if (incoming.method === 'DELETE') {
      await sessions.close(id, ownerOf(caller))
      return answerEmpty(exchange, 204)
    }
    const target = { outgoing: exchange.outgoing, headers: exchange.common }
    if (!streams.keepAlive(caller, found.kind === 'live' ? found.session : null, target)) throw tooManyStreams()
  }

  const post = async (exchange: Exchange, caller: EndpointCaller): Promise<void> => {
    const declared = exchange.header('content-length')
    if (Number(declared) > MAX_BODY_BYTES) throw bodyTooLarge()
    const { workspaceId, role } = caller.access
    const account = deps.budget.open({ kind: mayCreate(role) ? 'writers' : 'viewers', workspaceId })
    try {
      await answerBody(exchange, caller, account)
    } finally {
      // The parsed body stays in memory until the call has ended, so its bytes count until then.
      account.release()
    }
  }

  const answerBody = async (exchange: Exchange, caller: EndpointCaller, account: BodyAccount): Promise<void> => {
    const { incoming } = exchange
    const { workspaceId } = caller.access
    let value: unknown
    try {
      const limit = { maxBytes: MAX_BODY_BYTES, tooLarge: bodyTooLarge }
      const bytes = await readBody(
        { incoming, outgoing: exchange.outgoing, limit, account },
        { clock, timers, arrivals, parts, workspaceId },
      )
      checkContentType(exchange.header('content-type'))
      value = await deps.parseJson(bytes, MAX_BODY_BYTES, workspaceId)
    } catch (error) {
      if (!(error instanceof RelayError) || error.code !== 'BAD_JSON') throw error
      return refuseMessage(exchange, null, new RpcError('parse', `Parse error: ${error.message}`))
    }
    // A slow body may take hours to arrive, and the token may expire or be revoked in that time. [AUTH-5, AUTH-16]
    if (!caller.checkAgain()) throw unauthorized()
    const message = readMessage(value)
    if (message.kind === 'refused') return refuseMessage(exchange, message.id, message.error)
    return handleMessage(message, exchange, caller)
  }

  const take = (incoming: IncomingMessage, outgoing: ServerResponse, mount: 'loopback' | 'folded'): boolean => {
    const isEndpoint = pathOf(incoming.url ?? '/') === MCP_PATH
    if (!isEndpoint && mount === 'folded') return false
    const corsOrigins = mount === 'folded' ? deps.corsOrigins : []
    const exchange = openExchange(incoming, outgoing, { corsOrigins, random, startedMs: clock.monotonicMs() })
    const refusal = mount === 'folded' ? foldedRefusal(exchange, deps.allowedOrigins) : loopbackRefusal(exchange)
    if (refusal === null && !isEndpoint) return false
    outgoing.once('close', () => note(exchange, deps))
    const answered =
      refusal !== null
        ? Promise.reject(refusal)
        : mount === 'folded' && incoming.method === 'OPTIONS'
          ? Promise.resolve(preflight(exchange))
          : serve(exchange, mount === 'folded' ? PUBLIC_METHODS : METHODS)
    answered.catch((thrown: unknown) => fail(exchange, thrown, log, deps.metrics))
    return true
  }

  return {
    loopback: (incoming, outgoing) => take(incoming, outgoing, 'loopback'),
    folded: (incoming, outgoing) => take(incoming, outgoing, 'folded'),
    drain: () => streams.drain(),
  }
}

function loopbackRefusal(exchange: Exchange): RelayError | null {
  const facts = { hosts: exchange.headers('host'), origin: exchange.header('origin') }
  return isLoopbackRequest(facts) ? null : forbidden()
}

function foldedRefusal(exchange: Exchange, allowedOrigins: readonly string[]): RelayError | null {
  if (!isAllowedOrigin(exchange.header('origin'), allowedOrigins)) return forbidden()
  if (isUsableHost(exchange.headers('host'))) return null
  return new RelayError('BAD_REQUEST', 'The request needs one Host header with a host name.', { field: 'Host' })
}

/** Answers a CORS preflight request. [REST-11] */
function preflight(exchange: Exchange): void {
  answerEmpty(exchange, 204, preflightHeaders(PUBLIC_METHODS, exchange.header('access-control-request-headers')))
}

async function authenticate(exchange: Exchange, readCredential: ReadCredential): Promise<EndpointCaller> {
  const outcome = await readCredential(exchange.headers('authorization'), exchange.header('x-workspace-id'))
  if (outcome.kind === 'refused') throw unauthorized()
  if (outcome.kind === 'forbidden') throw forbidden()
  const { access } = outcome.caller
  exchange.note.workspace = access.workspaceId
  exchange.note.sub = access.sub
  return outcome.caller
}

/** A missing Content-Type counts as JSON; parameters such as charset are ignored. [MCP-7] */
function checkContentType(contentType: string | undefined): void {
  if (contentType === undefined || contentType.split(';', 1)[0]?.trim().toLowerCase() === 'application/json') return
  throw new RelayError('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json.')
}

function refuseMessage(exchange: Exchange, id: RpcId | null, error: RpcError): void {
  answerJson(exchange, RPC_ERRORS[error.kind].legacy, errorMessage(id, error))
}

/**
 * Turns a thrown error into a response; nothing else in the endpoint does. Details of an unexpected error go to the log only. [OPS-8]
 */
function fail(exchange: Exchange, thrown: unknown, log: Logger, metrics: EndpointDeps['metrics']): void {
  const error = asRelayError(thrown)
  if (error.code === 'INTERNAL') {
    metrics.add('relay_handler_panics_total', 1)
    log.error('mcp.unexpected', 'a request failed unexpectedly', {
      requestId: exchange.requestId,
      stack: thrown instanceof Error ? thrown.stack : String(thrown),
    })
  }
  const headers: Record<string, string> = {}
  if (error.code === 'UNAUTHENTICATED') {
    const origin = publicOrigin(exchange.header('host'), exchange.header('x-forwarded-proto'))
    headers['WWW-Authenticate'] = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource"`
  }
  if (error.code === 'METHOD_NOT_ALLOWED') headers['Allow'] = String(error.details['allow'])
  if (error.code === 'UNAVAILABLE') headers['Retry-After'] = '1'
  // The unread rest of a refused body stays in the connection, so the connection is closed.
  if (leavesBody(exchange.incoming)) headers['Connection'] = 'close'
  answerPlain(exchange, error, error.message, headers)
}

function unauthorized(): RelayError {
  return new RelayError('UNAUTHENTICATED', 'unauthorized')
}

function forbidden(): RelayError {
  return new RelayError('FORBIDDEN_PLAIN', 'forbidden')
}

function bodyTooLarge(): RelayError {
  return new RelayError('BODY_TOO_LARGE', `The request body exceeds ${MAX_BODY_BYTES} bytes.`, { maxBytes: MAX_BODY_BYTES })
}

function tooManyStreams(): RelayError {
  return new RelayError('RATE_LIMITED', 'The caller has reached its limit of open streams; close one first.')
}

function note({ outgoing, incoming, requestId, startedMs, note: noted }: Exchange, deps: EndpointDeps): void {
  const durationMs = deps.clock.monotonicMs() - startedMs
  const { statusCode: status } = outgoing
  // The duration of a stream is not the duration of an answer, so it is not measured.
  const isStream = incoming.method === 'GET' || noted.method === 'subscriptions/listen'
  if (!isStream || status !== 200) {
    deps.metrics.observe('http_server_request_duration_seconds', durationMs / 1000, {
      route: MCP_PATH,
      method: incoming.method ?? '',
      code: String(status),
    })
  }
  deps.log[noted.sub === null ? 'debug' : 'info']('http.request', 'a request was answered', {
    requestId,
    route: MCP_PATH,
    method: incoming.method,
    status,
    durationMs: Math.round(durationMs * 10) / 10,
    ...(noted.workspace !== null && { workspace: noted.workspace }),
    ...(noted.sub !== null && { sub: noted.sub }),
    ...(noted.method !== null && { rpc: noted.method }),
    ...(noted.tool !== null && { tool: noted.tool }),
  })
}
