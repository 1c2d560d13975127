import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
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
import type { BodyAccount, BodyBudget } from './body-budget.ts'
import { type Caller, type CallerDeps, readCaller } from './caller.ts'
import { ALL_METHODS, corsHeaders, preflightHeaders } from './cors.ts'
import { isEchoableHost, publicOrigin } from './host-header.ts'
import { leftSignal } from './left-signal.ts'
import { replyStream } from './reply-stream.ts'
import { holderOf, NO_BYTES, type ReceivedBody, receiveBody, takesBody } from './receive-body.ts'
import { createPartTurns, documentBodyLimit, leavesBody, requestChunks } from './request-body.ts'
import {
  asRelayError,
  type CommonHeaders,
  errorResponse,
  preflightResponse,
  replyResponse,
  type StreamReply,
  streamResponse,
} from './respond.ts'
import type { Route, RouteReply, RouteRequest } from './route.ts'
import { groupRoutes, lenientParams, type RouteGroup, rawParams } from './routing.ts'
import { createSourceLimit, type SourceLimit } from './source-limit.ts'

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
  readonly parseJson: (bytes: Uint8Array, workspaceId: string) => Promise<unknown>
  /** All listeners of the process share it. [H3] */
  readonly budget: BodyBudget
  /** Limits of answers; the defaults when absent. */
  readonly answers?: AnswerLimits
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly log: Logger
  readonly metrics: Pick<Metrics, 'add' | 'observe'>
}

/** State of one request from its first line to the end of its answer. */
interface Frame {
  readonly requestId: string
  common: CommonHeaders
  route: string
  /** True when the body of the answer is sent after its headers. */
  streams: boolean
  caller: Caller | null
  docId: string | null
  /** Code of the error that was answered. */
  code: ErrorCode | null
}

type AppEnv = { Bindings: HttpBindings; Variables: { frame: Frame } }
type AppContext = Context<AppEnv>
export type App = Hono<AppEnv>

interface Shell {
  readonly deps: AppDeps
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
  const groups = groupRoutes(deps.routes)
  const documentBodyBytes = documentBodyLimit(deps.maxDocBytes)
  const shell: Shell = {
    deps,
    sources: createSourceLimit(),
    answers: createAnswerTurns(deps.timers, deps.answers ?? ANSWER_LIMITS),
    slices: createSliceTurns(),
    parts: createPartTurns(),
    documentBodyBytes,
  }
  // The path stays as it was sent: dot segments name no route, and `rawParams` decodes parameters once and strictly.
  // [X16]
  const app: App = new Hono<AppEnv>({ getPath: (request, context) => pathOf(context?.env?.incoming?.url ?? request.url) })

  app.use('*', async (c, next) => {
    const startedMs = deps.clock.monotonicMs()
    const frame = openFrame(c, deps)
    c.set('frame', frame)
    await next()
    if (leavesBody(c.env.incoming)) c.res.headers.set('Connection', 'close')
    const finished = (): void => finish(c, frame, deps.clock.monotonicMs() - startedMs, deps)
    if (frame.streams && !c.env.outgoing.closed) c.env.outgoing.once('close', finished)
    else finished()
  })
  for (const group of groups) app.all(group.pattern, (c) => serve(c, group, shell))
  app.notFound((c) => {
    // The browser then sends the real request and can show its 404. [REST-11]
    if (isPreflight(c) && deps.corsOrigins.length > 0) {
      checkHost(c)
      return preflight(c, ALL_METHODS)
    }
    const unknown = new RelayError('NOT_FOUND', 'There is no such route.', { resource: 'route' })
    return fail(c, deps.isDraining() ? drainingError() : unknown, deps)
  })
  app.onError((thrown, c) => fail(c, thrown, deps))
  return app
}

/** Answers a request whose handling threw, expected or not; other requests go on. [OPS-8] */
function fail(c: AppContext, thrown: Error, deps: AppDeps): Response {
  const error = asRelayError(thrown)
  const frame = c.get('frame')
  const { requestId, common } = frame
  frame.code = error.code
  if (error.code === 'INTERNAL') {
    deps.metrics.add('relay_handler_panics_total', 1)
    deps.log.error('http.unexpected', 'a request failed unexpectedly', { requestId, code: error.code, stack: thrown.stack })
  }
  noteRefusal(c, error, deps)
  return errorResponse(error, { requestId, common })
}

/**
 * Runs one request against its route, in this order: policy, auth, declared length, content type, body, handler. [H2]
 */
async function serve(c: AppContext, group: RouteGroup, shell: Shell): Promise<Response> {
  const { deps } = shell
  const frame = c.get('frame')
  frame.route = group.pattern
  const { method } = c.req
  const route = group.routes.get(method === 'HEAD' ? 'GET' : method)
  frame.common = { ...frame.common, ...declaredHeaders(c, group, route) }
  checkHost(c)
  if (isPreflight(c)) return preflight(c, group.methods)
  if (route === undefined) {
    throw new RelayError('METHOD_NOT_ALLOWED', `The method ${method} is not allowed here.`, { allow: group.methods.join(', ') })
  }
  if (deps.isDraining() && route.whileDraining !== true) throw drainingError()
  const leaveSource = shell.sources.enter(c.env.incoming.socket.remoteAddress)
  try {
    frame.caller = await authenticate(c, route, deps)
  } finally {
    leaveSource()
  }
  const params = rawParams(group.pattern, c.req.path)
  route.checkParams?.(params)
  if (route.writersOnly === true && frame.caller !== null) requireWriter(frame.caller.access)
  if (route.documentParam !== undefined) frame.docId = params[route.documentParam] ?? null
  const account = takesBody(route) ? deps.budget.open(holderOf(route, frame.caller)) : null
  try {
    const body = account === null ? NO_BYTES : await received(c, route, shell, account)
    const request = routeRequest(c, params, body, shell)
    const reply = await answered(c, route, request, shell)
    if (reply.kind === 'stream') return await streamed(c, reply, deps)
    const holder = frame.caller?.access.workspaceId ?? ''
    const sliced = (parts: readonly Uint8Array[]) => slicedAnswer(parts, holder, shell.slices)
    return replyResponse(reply, frame.common, method === 'HEAD' ? undefined : sliced)
  } finally {
    account?.release()
  }
}

function answered(c: AppContext, route: Route, request: RouteRequest, { answers }: Shell): Promise<RouteReply> {
  const make = () => route.handle(request)
  if (route.largeAnswer !== true || request.caller === null) return make()
  return answers.run(request.caller.access.workspaceId, c.env.outgoing, request.left, make)
}

function isPreflight(c: AppContext): boolean {
  return c.req.method === 'OPTIONS' && c.req.header('access-control-request-method') !== undefined
}

function preflight(c: AppContext, methods: readonly string[]): Response {
  return preflightResponse(c.get('frame').common, preflightHeaders(methods, c.req.header('access-control-request-headers')))
}

/**
 * Returns the headers that the route declares for every response; when the method names no route, those of the routes
 * of the path. [REST-37]
 */
function declaredHeaders(c: AppContext, group: RouteGroup, route: Route | undefined): CommonHeaders {
  const context = { params: lenientParams(group.pattern, c.req.path), origin: originOf(c) }
  const routes = route === undefined ? [...group.routes.values()] : [route]
  return Object.assign({}, ...routes.map((each) => each.headers?.(context)))
}

/**
 * When a source cannot be opened, the answer is still an error response. When it fails later, the relay can only cut
 * the connection.
 */
async function streamed(c: AppContext, reply: StreamReply, deps: AppDeps): Promise<Response> {
  const frame = c.get('frame')
  const { requestId, common, route } = frame
  if (c.req.method === 'HEAD') return streamResponse(reply, common, null)
  const failed = (error: Error): void => {
    if (c.env.outgoing.destroyed) return
    deps.log.error('http.stream', 'a response body failed under way', { requestId, route, stack: error.stack })
    c.env.outgoing.destroy()
  }
  const source = await reply.open()
  frame.streams = true
  return streamResponse(reply, common, replyStream(source, reply.length, { failed }))
}

async function authenticate(c: AppContext, route: Route, deps: AppDeps): Promise<Caller | null> {
  switch (route.credential) {
    case 'none':
      return null
    case 'bearer':
      return readCaller(c.req.header('authorization'), c.req.header('x-workspace-id'), {
        ...deps,
        refused: (reason) => deps.metrics.add('relay_auth_failures_total', 1, { reason }),
      })
    case 'revocation-bearer': {
      const outcome = deps.internalBearer(c.req.header('authorization'))
      if (outcome === 'refused') throw wrongSecret(c.req.header('authorization'))
      if (outcome === 'not-configured') throw bearerNotConfigured(route)
      return null
    }
  }
}

/** [REST-29, REST-33] */
function bearerNotConfigured({ absentWithoutBearer }: Route): RelayError {
  const message = 'This relay has no [auth] revocation_push_bearer, which this route needs.'
  if (absentWithoutBearer) return new RelayError('NOT_FOUND', message, { resource: 'route' })
  return new RelayError('UNAVAILABLE', message, { retryAfterMs: 60_000 })
}

function received(
  c: AppContext,
  { body }: Route,
  { deps, documentBodyBytes, parts }: Shell,
  account: BodyAccount,
): Promise<ReceivedBody> {
  const { incoming, outgoing } = c.env
  const { caller } = c.get('frame')
  return receiveBody({ incoming, outgoing, caller, policy: body, documentBodyBytes, account }, { ...deps, parts })
}

function routeRequest(
  c: AppContext,
  params: Readonly<Record<string, string>>,
  body: ReceivedBody,
  { deps, parts }: Shell,
): RouteRequest {
  const frame = c.get('frame')
  const workspaceId = frame.caller?.access.workspaceId ?? ''
  return {
    requestId: frame.requestId,
    params,
    get query() {
      return new URL(c.req.url).searchParams
    },
    header: (name) => c.req.header(name),
    isHead: c.req.method === 'HEAD',
    caller: frame.caller,
    json: body.json,
    bytes: body.bytes,
    stream: requestChunks(c.env.incoming, c.env.outgoing, { ...deps, parts, workspaceId }),
    get left() {
      return leftSignal(c.env.outgoing)
    },
    get origin() {
      return originOf(c)
    },
  }
}

function openFrame(c: AppContext, deps: AppDeps): Frame {
  const requestId = requestIdOf(c.req.header('x-request-id'), deps.random)
  const common = commonHeaders(requestId, deps.corsOrigins, c.req.header('origin'))
  return { requestId, common, route: 'other', streams: false, caller: null, docId: null, code: null }
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
 * Refuses a host that could not stand in a URL of the relay before anything echoes it. Refuses two hosts too, and, from
 * HTTP/1.1 on, no host. [X25, X40]
 */
function checkHost(c: AppContext): void {
  const { incoming } = c.env
  const hosts = incoming.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length
  const host = c.req.header('host')
  if (hosts > 1 || (host === undefined ? incoming.httpVersion !== '1.0' : !isEchoableHost(host))) {
    throw new RelayError('BAD_REQUEST', 'The request needs one Host header with a host name.', { field: 'Host' })
  }
}

function originOf(c: AppContext): string {
  return publicOrigin(c.req.header('host'), c.req.header('x-forwarded-proto'))
}

/** Returns the path of a request target as it was sent. */
export function pathOf(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  const path = start === -1 ? '/' : url.slice(start)
  const end = path.search(/[?#]/)
  return end === -1 ? path : path.slice(0, end)
}

function drainingError(): RelayError {
  return new RelayError('UNAVAILABLE', 'The relay is shutting down.')
}

/** Writes an audit line for a refusal of rights: who, where, and the code. [OPS-7] */
function noteRefusal(c: AppContext, error: RelayError, deps: AppDeps): void {
  if (error.code !== 'VIEW_FORBIDDEN' && error.code !== 'EDIT_FORBIDDEN' && error.code !== 'OWNER_REQUIRED') return
  const { requestId, caller, route } = c.get('frame')
  deps.log.warn('access.refused', 'a caller lacks the right to do this', {
    audit: true,
    requestId,
    code: error.code,
    action: `${c.req.method} ${route}`,
    ...(caller && { workspace: caller.access.workspaceId, sub: caller.access.sub }),
    ...(typeof error.details.docId === 'string' && { docId: error.details.docId }),
  })
}

function finish(c: AppContext, frame: Frame, durationMs: number, deps: AppDeps): void {
  const { method } = c.req
  const { status } = c.res
  deps.metrics.observe('http_server_request_duration_seconds', durationMs / 1000, {
    route: frame.route,
    method,
    code: String(status),
  })
  // Also counts what was refused before the route ran. A preflight is not a request of the caller. [REST-37]
  if (method !== 'OPTIONS' && c.res.headers.has('Deprecation')) {
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
