import type { IncomingMessage, ServerResponse } from 'node:http'
import { requireWriter } from '../access/access.ts'
import type { InternalBearer } from '../auth/internal-bearer.ts'
import { wrongSecret } from '../auth/refusals.ts'
import type { Clock } from '../kernel/clock.ts'
import { type ErrorCode, RelayError } from '../kernel/errors.ts'
import { newId, type Random } from '../kernel/ids.ts'
import type { Logger } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { RoundTurns } from '../kernel/round-turns.ts'
import type { Timers } from '../kernel/timers.ts'
import { createSliceTurns, slicedAnswer } from './answer-slices.ts'
import { ANSWER_LIMITS, type AnswerLimits, type AnswerTurns, createAnswerTurns } from './answer-turns.ts'
import type { Arrivals } from './arrivals.ts'
import type { BodyAccount, BodyBudget } from './body-budget.ts'
import { type Caller, type CallerDeps, checkAgain, readCaller } from './caller.ts'
import { ALL_METHODS, corsHeaders, preflightHeaders } from './cors.ts'
import { isEchoableHost, publicOrigin } from './host-header.ts'
import { leftSignal } from './left-signal.ts'
import { replyStream } from './reply-stream.ts'
import { holderOf, NO_BYTES, type ReceivedBody, receiveBody, takesBody } from './receive-body.ts'
import { createPartTurns, documentBodyLimit, leavesBody, requestChunks } from './request-body.ts'
import { headerOf } from './request-headers.ts'
import { pathOf, queryOf } from './request-target.ts'
import {
  asRelayError,
  type CommonHeaders,
  errorAnswer,
  preflightAnswer,
  replyAnswer,
  type StreamReply,
  streamAnswer,
} from './respond.ts'
import type { Route, RouteReply, RouteRequest } from './route.ts'
import { createFindGroup, type FindGroup, groupRoutes, lenientParams, type RouteGroup, rawParams } from './routing.ts'
import { createSourceLimit, type SourceLimit } from './source-limit.ts'
import { type Answer, writeAnswer } from './write-answer.ts'

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/

export interface AppDeps extends Omit<CallerDeps, 'refused'> {
  readonly routes: readonly Route[]
  readonly internalBearer: InternalBearer
  /** `['*']` or a list of origins. [REST-11] */
  readonly corsOrigins: readonly string[]
  /** The configured max_doc_bytes, `null` when unlimited; sets the body limit of document routes. [REST-7] */
  readonly maxDocBytes: number | null
  /** True from the first SIGTERM on. [REST-13, LIFE-28] */
  readonly isDraining: () => boolean
  /** Parses strict JSON by BODY-8; throws BAD_JSON, BODY_TOO_LARGE or UNAVAILABLE. */
  readonly parseJson: (bytes: Uint8Array, maxBytes: number, workspaceId: string) => Promise<unknown>
  /** The budget for request bodies, shared by all listeners of the process. [H3] */
  readonly budget: BodyBudget
  /** The request bodies that the process waits for, shared by all its listeners. [LIFE-28] */
  readonly arrivals: Arrivals
  /** Limits on answers; the defaults when absent. */
  readonly answers?: AnswerLimits
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly log: Logger
  readonly metrics: Pick<Metrics, 'add' | 'observe'>
}

/** State of one request, from its first line to the end of its answer. */
interface Frame {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly method: string
  /** The path as sent: dot segments name no route, and `rawParams` decodes parameters once, strictly. [X16] */
  readonly path: string
  readonly requestId: string
  common: CommonHeaders
  route: string
  /** True when the body of the answer is sent after its headers. */
  streams: boolean
  caller: Caller | null
  docId: string | null
  /** Error code of the answer; `null` for a success. */
  code: ErrorCode | null
}

/** Answers a request; resolves when its answer was handed over. Never rejects. */
export type App = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>

interface Shell {
  readonly deps: AppDeps
  readonly callers: CallerDeps
  readonly findGroup: FindGroup
  readonly sources: SourceLimit
  readonly answers: AnswerTurns
  /** Turns of workspaces at sending slices of answers. */
  readonly slices: RoundTurns
  /** Turns of workspaces at taking parts of bodies. */
  readonly parts: RoundTurns
  readonly documentBodyBytes: number
}

/**
 * The REST surface: one table of routes, one order of checks, one place for errors. [architecture §8, H2] Throws when a
 * route has no policy or two routes are the same, so that a forgotten check stops the start. [X15]
 */
export function createApp(deps: AppDeps): App {
  const shell: Shell = {
    deps,
    callers: { ...deps, refused: (reason) => deps.metrics.add('relay_auth_failures_total', 1, { reason }) },
    findGroup: createFindGroup(groupRoutes(deps.routes)),
    sources: createSourceLimit(),
    answers: createAnswerTurns(deps.timers, deps.answers ?? ANSWER_LIMITS),
    slices: createSliceTurns(),
    parts: createPartTurns(),
    documentBodyBytes: documentBodyLimit(deps.maxDocBytes),
  }
  return async (incoming, outgoing) => {
    const startedMs = deps.clock.monotonicMs()
    const frame = openFrame(incoming, outgoing, deps)
    const group = shell.findGroup(frame.path)
    let answer: Answer
    try {
      answer = group === undefined ? unknownRoute(frame, deps) : await serve(frame, group, shell)
    } catch (thrown) {
      answer = fail(frame, thrown, deps)
    }
    if (leavesBody(incoming)) answer = { ...answer, headers: { ...answer.headers, Connection: 'close' } }
    const finished = (): void => finish(frame, answer, deps.clock.monotonicMs() - startedMs, deps)
    const endsLater = frame.streams && !outgoing.closed
    if (endsLater) outgoing.once('close', finished)
    try {
      writeAnswer(outgoing, answer)
    } catch (thrown) {
      // A header has a character that headers do not allow, so nothing was sent yet.
      answer = fail(frame, thrown, deps)
      writeAnswer(outgoing, answer)
    }
    if (!endsLater) finished()
  }
}

function unknownRoute(frame: Frame, deps: AppDeps): Answer {
  // After a successful preflight the browser sends the real request and can show its 404. [REST-11]
  if (isPreflight(frame) && deps.corsOrigins.length > 0) {
    checkHost(frame)
    return preflight(frame, ALL_METHODS)
  }
  throw deps.isDraining() ? drainingError() : new RelayError('NOT_FOUND', 'There is no such route.', { resource: 'route' })
}

/** Makes the answer to a request whose handling threw. Other requests continue. [OPS-8] */
function fail(frame: Frame, thrown: unknown, deps: AppDeps): Answer {
  const error = asRelayError(thrown)
  const { requestId, common } = frame
  frame.code = error.code
  if (error.code === 'INTERNAL') {
    deps.metrics.add('relay_handler_panics_total', 1)
    const stack = thrown instanceof Error ? thrown.stack : String(thrown)
    deps.log.error('http.unexpected', 'a request failed unexpectedly', { requestId, code: error.code, stack })
  }
  noteRefusal(frame, error, deps)
  return errorAnswer(error, { requestId, common })
}

/**
 * Runs one request against its route, in this order: policy, auth, declared length, content type, body, auth again,
 * handler. [H2]
 */
async function serve(frame: Frame, group: RouteGroup, shell: Shell): Promise<Answer> {
  const { deps } = shell
  const { method, path } = frame
  frame.route = group.pattern
  const route = group.routes.get(method === 'HEAD' ? 'GET' : method)
  if (group.declaresHeaders) frame.common = { ...frame.common, ...declaredHeaders(frame, group, route) }
  checkHost(frame)
  if (isPreflight(frame)) return preflight(frame, group.methods)
  if (method === 'OPTIONS') return preflightAnswer(frame.common, { Allow: group.methods.join(', ') })
  if (route === undefined) {
    throw new RelayError('METHOD_NOT_ALLOWED', `The method ${method} is not allowed here.`, { allow: group.methods.join(', ') })
  }
  if (deps.isDraining() && route.whileDraining !== true) throw drainingError()
  const leaveSource = shell.sources.enter(frame.incoming.socket.remoteAddress)
  try {
    frame.caller = await authenticate(frame, route, shell)
  } finally {
    leaveSource()
  }
  const params = rawParams(group, path)
  route.checkParams?.(params)
  if (route.writersOnly === true && frame.caller !== null) requireWriter(frame.caller.access)
  if (route.documentParam !== undefined) frame.docId = params[route.documentParam] ?? null
  const account = takesBody(route) ? deps.budget.open(holderOf(route, frame.caller)) : null
  try {
    const body = account === null ? NO_BYTES : await received(frame, route, shell, account)
    if (account !== null) checkAgain(frame.caller, shell.callers)
    const request = routeRequest(frame, params, body, shell)
    const reply = await answered(frame, route, request, shell)
    if (reply.kind === 'stream') return await streamed(frame, reply, deps)
    const holder = frame.caller?.access.workspaceId ?? ''
    const sliced = (parts: readonly Uint8Array[]) => slicedAnswer(parts, holder, shell.slices)
    return replyAnswer(reply, frame.common, method === 'HEAD' ? undefined : sliced)
  } finally {
    account?.release()
  }
}

function answered({ outgoing }: Frame, route: Route, request: RouteRequest, { answers }: Shell): Promise<RouteReply> {
  const make = () => route.handle(request)
  if (route.largeAnswer !== true || request.caller === null) return make()
  return answers.run(request.caller.access.workspaceId, outgoing, make)
}

function isPreflight({ method, incoming }: Frame): boolean {
  return method === 'OPTIONS' && headerOf(incoming, 'access-control-request-method') !== undefined
}

function preflight({ common, incoming }: Frame, methods: readonly string[]): Answer {
  return preflightAnswer(common, preflightHeaders(methods, headerOf(incoming, 'access-control-request-headers')))
}

/**
 * Returns the headers that the route declares for every response. For a method without a route, returns those of all routes of the path. [REST-37]
 */
function declaredHeaders({ path, incoming }: Frame, group: RouteGroup, route: Route | undefined): CommonHeaders {
  const context = { params: lenientParams(group, path), origin: originOf(incoming) }
  const routes = route === undefined ? [...group.routes.values()] : [route]
  return Object.assign({}, ...routes.map((each) => each.headers?.(context)))
}

/**
 * Answers with a stream. If its source cannot be opened, the answer is an error response. If the source fails later, the connection is cut.
 */
async function streamed(frame: Frame, reply: StreamReply, deps: AppDeps): Promise<Answer> {
  const { requestId, common, route, outgoing } = frame
  if (frame.method === 'HEAD') return streamAnswer(reply, common, null)
  const failed = (error: Error): void => {
    if (outgoing.destroyed) return
    deps.log.error('http.stream', 'a response body failed under way', { requestId, route, stack: error.stack })
    outgoing.destroy()
  }
  const source = await reply.open()
  frame.streams = true
  return streamAnswer(reply, common, replyStream(source, reply.length, { failed }))
}

async function authenticate({ incoming }: Frame, route: Route, { deps, callers }: Shell): Promise<Caller | null> {
  switch (route.credential) {
    case 'none':
      return null
    case 'bearer':
      return readCaller(headerOf(incoming, 'authorization'), headerOf(incoming, 'x-workspace-id'), callers)
    case 'revocation-bearer': {
      const outcome = deps.internalBearer(headerOf(incoming, 'authorization'))
      if (outcome === 'refused') throw wrongSecret(headerOf(incoming, 'authorization'))
      if (outcome === 'not-configured') throw bearerNotConfigured()
      return null
    }
  }
}

/** Makes the error for an internal route in a relay without a secret for it. [REST-29, REST-33] */
function bearerNotConfigured(): RelayError {
  const message = 'This relay has no [auth] revocation_push_bearer, which this route needs.'
  return new RelayError('UNAVAILABLE', message, { retryAfterMs: 60_000 })
}

function received(
  { incoming, outgoing, caller }: Frame,
  { body }: Route,
  { deps, documentBodyBytes, parts }: Shell,
  account: BodyAccount,
): Promise<ReceivedBody> {
  return receiveBody({ incoming, outgoing, caller, policy: body, documentBodyBytes, account }, { ...deps, parts })
}

function routeRequest(
  frame: Frame,
  params: Readonly<Record<string, string>>,
  body: ReceivedBody,
  { deps, callers, parts }: Shell,
): RouteRequest {
  const { incoming, outgoing } = frame
  const workspaceId = frame.caller?.access.workspaceId ?? ''
  return {
    requestId: frame.requestId,
    params,
    get query() {
      return queryOf(incoming.url ?? '/')
    },
    header: (name) => headerOf(incoming, name),
    isHead: frame.method === 'HEAD',
    caller: frame.caller,
    json: body.json,
    bytes: body.bytes,
    get stream() {
      const chunks = requestChunks(incoming, outgoing, { ...deps, parts, workspaceId })
      return withEnd(chunks, () => checkAgain(frame.caller, callers))
    },
    get left() {
      return leftSignal(outgoing)
    },
    get origin() {
      return originOf(incoming)
    },
  }
}

/** Yields all chunks, then runs `atEnd`, which may throw. */
async function* withEnd(chunks: AsyncIterable<Uint8Array>, atEnd: () => void): AsyncGenerator<Uint8Array, void> {
  yield* chunks
  atEnd()
}

function openFrame(incoming: IncomingMessage, outgoing: ServerResponse, deps: AppDeps): Frame {
  const requestId = requestIdOf(headerOf(incoming, 'x-request-id'), deps.random)
  const common = commonHeaders(requestId, deps.corsOrigins, headerOf(incoming, 'origin'))
  const asked = { incoming, outgoing, method: incoming.method ?? 'GET', path: pathOf(incoming.url ?? '/') }
  return { ...asked, requestId, common, route: 'other', streams: false, caller: null, docId: null, code: null }
}

/** Returns the caller's own request id when it is fit for a header and a log line. [REST-9] */
export function requestIdOf(given: string | undefined, random: Random): string {
  return given !== undefined && REQUEST_ID.test(given) ? given : newId('req-', 16, random)
}

/** Returns the headers of every response. [REST-9, REST-10, REST-11] */
export function commonHeaders(requestId: string, corsOrigins: readonly string[], origin: string | undefined): CommonHeaders {
  return { 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff', ...corsHeaders(corsOrigins, origin) }
}

/**
 * Throws for a host that cannot stand in a URL of the relay, before any answer echoes it. Also throws for two hosts and, from HTTP/1.1 on,
 * for none. [X25, X40]
 */
function checkHost({ incoming }: Frame): void {
  // `headerOf` joins two Host headers with a comma, which no host contains.
  const host = headerOf(incoming, 'host')
  if (host === undefined ? incoming.httpVersion !== '1.0' : !isEchoableHost(host)) {
    throw new RelayError('BAD_REQUEST', 'The request needs one Host header with a host name.', { field: 'Host' })
  }
}

function originOf(incoming: IncomingMessage): string {
  return publicOrigin(headerOf(incoming, 'host'), headerOf(incoming, 'x-forwarded-proto'))
}

function drainingError(): RelayError {
  return new RelayError('UNAVAILABLE', 'The relay is shutting down.')
}

/** Writes an audit line for a refusal of rights: caller, route and error code. [OPS-7] */
function noteRefusal({ requestId, caller, method, route }: Frame, error: RelayError, deps: AppDeps): void {
  if (error.code !== 'VIEW_FORBIDDEN' && error.code !== 'EDIT_FORBIDDEN' && error.code !== 'OWNER_REQUIRED') return
  deps.log.warn('access.refused', 'a caller lacks the right to do this', {
    audit: true,
    requestId,
    code: error.code,
    action: `${method} ${route}`,
    ...(caller && { workspace: caller.access.workspaceId, sub: caller.access.sub }),
    ...(typeof error.details.docId === 'string' && { docId: error.details.docId }),
  })
}

function finish(frame: Frame, { status, headers }: Answer, durationMs: number, deps: AppDeps): void {
  const { method } = frame
  deps.metrics.observe('http_server_request_duration_seconds', durationMs / 1000, {
    route: frame.route,
    method,
    code: String(status),
  })
  // Requests refused before the route ran count too. A preflight does not count: it is not a request of the caller. [REST-37]
  if (method !== 'OPTIONS' && headers['Deprecation'] !== undefined) {
    deps.metrics.add('relay_deprecated_requests_total', 1, { route: frame.route })
  }
  const level = frame.caller === null ? 'debug' : 'info'
  deps.log[level]('http.request', 'a request was answered', {
    requestId: frame.requestId,
    route: frame.route,
    method,
    status,
    durationMs: Math.round(durationMs * 10) / 10,
    ...(frame.caller && { workspace: frame.caller.access.workspaceId, sub: frame.caller.access.sub }),
    ...(frame.docId !== null && { docId: frame.docId }),
    ...(frame.code !== null && { code: frame.code }),
  })
}
