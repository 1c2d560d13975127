import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import type { InternalBearer } from '../auth/internal-bearer.ts'
import { wrongSecret } from '../auth/refusals.ts'
import type { Clock } from '../kernel/clock.ts'
import { type ErrorCode, RelayError } from '../kernel/errors.ts'
import { newId, type Random } from '../kernel/ids.ts'
import type { Logger } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { type BodyBudget, createBodyBudget } from './body-budget.ts'
import { type Caller, type CallerDeps, readCaller } from './caller.ts'
import { corsHeaders, preflightHeaders } from './cors.ts'
import { forwardedScheme, isEchoableHost } from './host-header.ts'
import { replyStream } from './reply-stream.ts'
import {
  type BodyLimit,
  checkDeclaredLength,
  checkJsonType,
  documentBodyLimit,
  leavesBody,
  readBody,
  requestChunks,
} from './request-body.ts'
import {
  asRelayError,
  type CommonHeaders,
  errorResponse,
  preflightResponse,
  replyResponse,
  type StreamReply,
  streamResponse,
} from './respond.ts'
import type { Route, RouteRequest } from './route.ts'
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
  /** Strict JSON as BODY-8; throws BAD_JSON, BODY_TOO_LARGE or UNAVAILABLE. */
  readonly parseJson: (bytes: Uint8Array) => Promise<unknown>
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: Pick<Metrics, 'add' | 'observe'>
}

/** What one request carries from its first line to its last. */
interface Frame {
  readonly requestId: string
  common: CommonHeaders
  route: string
  /** The body of the answer goes on after its headers. */
  streams: boolean
  caller: Caller | null
  docId: string | null
  /** Of the error that was answered. */
  code: ErrorCode | null
}

type AppEnv = { Bindings: HttpBindings; Variables: { frame: Frame } }
type AppContext = Context<AppEnv>
export type App = Hono<AppEnv>

interface Shell {
  readonly deps: AppDeps
  readonly budget: BodyBudget
  readonly sources: SourceLimit
  readonly documentBodyBytes: number
}

/**
 * The REST surface: one table of routes, one order of checks, one place for errors. [architecture §8, H2]
 * Throws when a route lacks a policy or two routes are the same one, so that a forgotten check stops the start. [X15]
 */
export function createApp(deps: AppDeps): App {
  const groups = groupRoutes(deps.routes)
  const documentBodyBytes = documentBodyLimit(deps.maxDocBytes)
  const shell: Shell = { deps, budget: createBodyBudget(documentBodyBytes), sources: createSourceLimit(), documentBodyBytes }
  // The path stays as it was sent: dot segments name no route, and parameters are decoded once, strictly, by `rawParams`. [X16]
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
    const unknown = new RelayError('NOT_FOUND', 'There is no such route.', { resource: 'route' })
    return fail(c, deps.isDraining() ? drainingError() : unknown, deps)
  })
  app.onError((thrown, c) => fail(c, thrown, deps))
  return app
}

/** Answers a request that ended in an exception, expected or not; nothing else stops because of it. [OPS-8] */
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

/** Runs one request against its route, in the order policy, auth, declared length, content type, body, handler. [H2] */
async function serve(c: AppContext, group: RouteGroup, shell: Shell): Promise<Response> {
  const { deps } = shell
  const frame = c.get('frame')
  frame.route = group.pattern
  const { method } = c.req
  const route = group.routes.get(method === 'HEAD' ? 'GET' : method)
  frame.common = { ...frame.common, ...declaredHeaders(c, group, route) }
  checkHost(c)
  if (method === 'OPTIONS' && c.req.header('access-control-request-method') !== undefined) {
    return preflightResponse(frame.common, preflightHeaders(group.methods, c.req.header('access-control-request-headers')))
  }
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
  if (route.documentParam !== undefined) frame.docId = params[route.documentParam] ?? null
  const account = shell.budget.open(frame.caller?.access.workspaceId ?? '')
  try {
    const body = await receive(c, route, shell, account)
    const request = routeRequest(c, frame, params, body)
    const reply = await route.handle(request)
    return reply.kind === 'stream' ? await streamed(c, reply, deps) : replyResponse(reply, frame.common)
  } finally {
    account.release()
  }
}

/** What the route itself, or any of the path when the method names none, declares for every response. [REST-37] */
function declaredHeaders(c: AppContext, group: RouteGroup, route: Route | undefined): CommonHeaders {
  const context = { params: lenientParams(group.pattern, c.req.path), origin: originOf(c) }
  const routes = route === undefined ? [...group.routes.values()] : [route]
  return Object.assign({}, ...routes.map((each) => each.headers?.(context)))
}

/** A source that cannot be opened is still an error response; one that fails later can only cut the connection. */
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
      if (outcome === 'not-configured') throw new RelayError('UNAVAILABLE', 'The internal routes are not configured.')
      return null
    }
  }
}

async function receive(
  c: AppContext,
  route: Route,
  shell: Shell,
  account: ReturnType<BodyBudget['open']>,
): Promise<{ readonly bytes: Uint8Array; readonly json: unknown }> {
  const { deps } = shell
  const policy = route.body
  if (policy.kind === 'none' || policy.kind === 'stream') return { bytes: new Uint8Array(0), json: undefined }
  const limit =
    policy.kind === 'json' ? jsonLimit(policy.maxBytes) : documentLimit(shell.documentBodyBytes, c.get('frame').caller, deps)
  const declared = c.req.header('content-length')
  checkDeclaredLength(declared, limit)
  checkJsonType(c.req.header('content-type'))
  const chunks = requestChunks(c.env.incoming, c.env.outgoing)
  const bytes = await readBody({ chunks, declared }, limit, account)
  return policy.kind === 'json' ? { bytes, json: await deps.parseJson(bytes) } : { bytes, json: undefined }
}

function jsonLimit(maxBytes: number): BodyLimit {
  return {
    maxBytes,
    tooLarge: () => new RelayError('BODY_TOO_LARGE', `The request body exceeds ${maxBytes} bytes.`, { maxBytes }),
  }
}

/** While the caller has a document ceiling, a body that the request limit cuts is told of that ceiling. [REST-14 DOC_TOO_LARGE] */
function documentLimit(maxBytes: number, caller: Caller | null, deps: Pick<AppDeps, 'metrics'>): BodyLimit {
  const ceiling = caller?.access.limits.maxDocBytes ?? null
  if (caller === null || ceiling === null) return jsonLimit(maxBytes)
  return {
    maxBytes,
    tooLarge(sizeBytes) {
      deps.metrics.add('relay_quota_rejections_total', 1, { kind: 'doc_size' })
      return new RelayError('DOC_TOO_LARGE', `The document of at least ${sizeBytes} bytes exceeds ${ceiling} bytes.`, {
        sizeBytes,
        maxBytes: ceiling,
        source: caller.access.limits.maxDocBytesSource,
      })
    },
  }
}

function routeRequest(
  c: AppContext,
  frame: Frame,
  params: Readonly<Record<string, string>>,
  body: { readonly bytes: Uint8Array; readonly json: unknown },
): RouteRequest {
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
    stream: requestChunks(c.env.incoming, c.env.outgoing),
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

/** The caller's own id when it is fit for a header and a log line. [REST-9] */
export function requestIdOf(given: string | undefined, random: Random): string {
  return given !== undefined && REQUEST_ID.test(given) ? given : newId('req-', 16, random)
}

/** Headers of every response. [REST-9, REST-10, REST-11] */
export function commonHeaders(requestId: string, corsOrigins: readonly string[], origin: string | undefined): CommonHeaders {
  return { 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff', ...corsHeaders(corsOrigins, origin) }
}

/** A host that could not stand in a URL of ours is refused before anything echoes it, as are two and, from HTTP/1.1 on, none. [X25, X40] */
function checkHost(c: AppContext): void {
  const { incoming } = c.env
  const hosts = incoming.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length
  const host = c.req.header('host')
  if (hosts > 1 || (host === undefined ? incoming.httpVersion !== '1.0' : !isEchoableHost(host))) {
    throw new RelayError('BAD_REQUEST', 'The request needs one Host header with a host name.', { field: 'Host' })
  }
}

function originOf(c: AppContext): string {
  const scheme = forwardedScheme(c.req.header('x-forwarded-proto')) ?? 'http'
  const host = c.req.header('host') ?? ''
  return `${scheme}://${isEchoableHost(host) ? host : 'localhost'}`
}

/** The path of a request target as it was sent. */
export function pathOf(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  const path = start === -1 ? '/' : url.slice(start)
  const end = path.search(/[?#]/)
  return end === -1 ? path : path.slice(0, end)
}

function drainingError(): RelayError {
  return new RelayError('UNAVAILABLE', 'The relay is shutting down.')
}

/** Refused rights are audited: who, where, what came of it. [OPS-7] */
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
  // Also what was refused before the route ran; a preflight is none of the caller's own requests. [REST-37]
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
