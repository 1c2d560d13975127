import { newId } from '../kernel/ids.ts'
import type { EndpointCaller } from './credentials.ts'
import type { EndpointDeps } from './endpoint-deps.ts'
import { answerEmpty, createResponder, type Exchange, type RpcResponder } from './exchange.ts'
import { type Era, errorMessage, own, resultMessage, RPC_ERRORS, RpcError, type RpcMessage, type RpcRequest } from './json-rpc.ts'
import { checkLegacyVersion, initialize, LEGACY_METHODS, ownerOf } from './legacy.ts'
import { cacheHints, checkModern, clientOf, honour, isModern, MODERN_METHODS, MODERN_VERSION, modernResult } from './modern.ts'
import { openCall } from './open-call.ts'
import { quoted, readsExtra } from './methods.ts'
import type { Price, Taken } from './rate.ts'
import { type Session, SessionClosed, type Sessions } from './sessions.ts'
import { wantsEvents } from './sse.ts'
import { MAX_STREAMS, type Streams } from './streams.ts'
import type { JsonObject } from './tool.ts'

export interface MessageDeps extends EndpointDeps {
  readonly sessions: Sessions
  readonly streams: Streams
}

/** Handles one POSTed message: checks the message, then runs its method. [MCP-3] */
export type HandleMessage = (message: RpcMessage, exchange: Exchange, caller: EndpointCaller) => Promise<void>

/** Methods that take no token of the rate limit. [MCP-54] */
const FREE: ReadonlySet<string> = new Set(['initialize', 'ping', 'server/discover', 'subscriptions/listen', 'logging/setLevel'])

interface Arrived {
  readonly request: RpcRequest
  readonly exchange: Exchange
  readonly caller: EndpointCaller
  readonly era: Era
  readonly session: Session | null
}

/** The answer to a request; `null` when a stream is open instead, or when the caller cancelled and waits for no answer. */
type Outcome = { readonly result: JsonObject; readonly headers?: Readonly<Record<string, string>> } | null

export function createMessages(deps: MessageDeps): HandleMessage {
  return async (message, exchange, caller) => {
    const { header } = exchange
    if (message.kind === 'request') return answerRequest(message, exchange, caller, deps)
    const era = isModern(message.kind === 'notification' ? message : { method: '', params: {} }, header) ? 'modern' : 'legacy'
    const session = await sessionOf(era, exchange, caller, deps.sessions)
    if (message.kind === 'answer') session?.asked.get(message.id)?.(message)
    else if (message.method === 'notifications/cancelled') cancel(session, own(message.params, 'requestId'))
    return answerEmpty(exchange, 202)
  }
}

/** Aborts a running request of the session. Does nothing for an unknown id. [MCP-15] */
function cancel(session: Session | null, requestId: unknown): void {
  if (typeof requestId !== 'string' && typeof requestId !== 'number') return
  const running = session?.running.get(requestId)
  if (running !== undefined) running.abort()
  else session?.shared?.cancelElsewhere(requestId)
}

/**
 * Returns the live session that a legacy request names, else `null`; throws SessionClosed when that session was closed. On the modern leg
 * ignores the header and returns `null`. [MCP-32, MCP-34, MCP-48]
 */
async function sessionOf(era: Era, exchange: Exchange, caller: EndpointCaller, sessions: Sessions): Promise<Session | null> {
  if (era === 'modern') return null
  const found = await sessions.find(exchange.header('mcp-session-id'), ownerOf(caller))
  if (found.kind === 'closed') throw new SessionClosed()
  return found.kind === 'live' ? found.session : null
}

async function answerRequest(request: RpcRequest, exchange: Exchange, caller: EndpointCaller, deps: MessageDeps): Promise<void> {
  const era = isModern(request, exchange.header) ? 'modern' : 'legacy'
  const responder = createResponder(exchange, wantsEvents(exchange.header('accept')), deps.timers)
  try {
    if (era === 'modern') checkModern(request, exchange.header)
    else if (request.method !== 'initialize') checkLegacyVersion(exchange.header('mcp-protocol-version'))
    const session = await sessionOf(era, exchange, caller, deps.sessions)
    const arrived = { request, exchange, caller, era, session } as const
    const taken = await takeToken(arrived, deps)
    const outcome = await run(arrived, taken, responder, deps)
    if (outcome === null) return
    responder.answer(200, resultMessage(request.id, outcome.result), outcome.headers)
  } catch (thrown) {
    if (thrown instanceof SessionClosed) throw thrown
    const error = asRpcError(thrown, exchange, deps)
    responder.answer(RPC_ERRORS[error.kind][era], errorMessage(request.id, error), error.headers)
  }
}

/** Takes the rate tokens of a request. [MCP-54, MCP-55] */
async function takeToken({ request, exchange, caller, era, session }: Arrived, deps: MessageDeps): Promise<Taken> {
  const { method, params } = request
  const name = own(params, 'name')
  const tool =
    method === 'tools/call' ? deps.parts.tools.find(typeof name === 'string' ? name : '', own(params, 'arguments')) : null
  // Names of tools and methods that do not exist are caller-made text, which must not reach the log or a metric.
  exchange.note.method = LEGACY_METHODS.has(method) || MODERN_METHODS.has(method) || FREE.has(method) ? method : 'unknown'
  if (tool !== null) exchange.note.tool = tool.kind === 'known' ? String(name) : 'unknown'
  if (FREE.has(method)) return { kind: 'taken' }
  const price: Price = tool?.kind === 'known' ? tool : { bucket: 'read', tokens: 1 }
  const mayWait = tool?.kind === 'known' && (session !== null || (era === 'modern' && clientOf(params) !== null))
  const countLimited = (): void => {
    if (tool !== null) deps.metrics.add('relay_mcp_calls_total', 1, { tool: exchange.note.tool ?? 'unknown', outcome: 'limited' })
  }
  try {
    const taken = await deps.takeRate(caller.access.workspaceId, price, mayWait)
    // The tool server counts calls of known tools itself.
    if (tool?.kind === 'unknown') deps.metrics.add('relay_mcp_calls_total', 1, { tool: 'unknown', outcome: 'error' })
    if (taken.kind === 'taken') return taken
    const wait = (signal: AbortSignal): Promise<void> =>
      taken.wait(signal).catch((error: unknown) => {
        if (error instanceof RpcError) countLimited()
        throw error
      })
    return { kind: 'wait', wait }
  } catch (error) {
    countLimited()
    throw error
  }
}

async function run(arrived: Arrived, taken: Taken, responder: RpcResponder, deps: MessageDeps): Promise<Outcome> {
  const { request, exchange, caller, era, session } = arrived
  const { method, params } = request
  if (method === 'initialize' && era === 'legacy') {
    const { result, session: opened } = initialize(
      params,
      caller,
      { extra: readsExtra(exchange.query) },
      deps.sessions,
      deps.parts,
    )
    return { result, headers: { 'Mcp-Session-Id': opened.id } }
  }
  if (method === 'subscriptions/listen' && era === 'modern') return listen(arrived, responder, deps)
  const run = (era === 'legacy' ? LEGACY_METHODS : MODERN_METHODS).get(method)
  if (run === undefined)
    throw new RpcError(
      'unknown-method',
      `There is no method ${quoted(method)} in ${era === 'legacy' ? 'revisions before' : 'revision'} ${MODERN_VERSION}.`,
    )
  using call = openCall({
    request,
    exchange,
    caller,
    era,
    session,
    responder,
    random: deps.random,
    toolsets: deps.parts.tools.toolsets,
    streams: deps.streams,
  })
  try {
    if (taken.kind === 'wait') await taken.wait(call.context.signal)
    const result = await run(params, call.context, deps.parts)
    return { result: era === 'legacy' ? result : modernResult(result, cacheHints(request, deps.parts.content), deps.parts) }
  } catch (error) {
    if (!call.context.signal.aborted) throw error
    // The caller has cancelled the request and expects no answer.
    responder.leave()
    return null
  }
}

async function listen({ request, exchange, caller }: Arrived, responder: RpcResponder, deps: MessageDeps): Promise<null> {
  responder.cede()
  const target = { outgoing: exchange.outgoing, headers: exchange.common }
  if (await deps.streams.listen(caller, () => honour(request, caller, deps.parts), target)) return null
  throw new RpcError('limit', `A principal may have at most ${MAX_STREAMS} listening streams.`, { limit: MAX_STREAMS })
}

/**
 * Turns any thrown value into an RpcError. Details of an unexpected error go to the log; the caller gets an incident id
 * to ask for. [MCP-61, OPS-8]
 */
function asRpcError(thrown: unknown, exchange: Exchange, { metrics, log, random }: MessageDeps): RpcError {
  if (thrown instanceof RpcError) return thrown
  const incident = newId('inc-', 12, random)
  metrics.add('relay_handler_panics_total', 1)
  log.error('mcp.unexpected', 'a request failed unexpectedly', {
    requestId: exchange.requestId,
    incident,
    stack: thrown instanceof Error ? thrown.stack : String(thrown),
  })
  return new RpcError('unexpected', 'The relay failed unexpectedly.', { incident })
}
