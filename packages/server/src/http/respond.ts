import { wwwAuthenticate } from '../auth/refusals.ts'
import { errorDetails, retryAfterHeader } from '../kernel/error-details.ts'
import { ERRORS, RelayError } from '../kernel/errors.ts'
import { lengthOf } from './answer-slices.ts'
import type { RouteReply } from './route.ts'
import type { Answer } from './write-answer.ts'

/** Headers of every response of one request, made before anything can fail. */
export type CommonHeaders = Readonly<Record<string, string>>

/** Facts about the request that an error body needs. */
export interface ErrorContext {
  readonly requestId: string
  readonly common: CommonHeaders
}

const OK = 200
const PARTIAL = 206
const NO_CONTENT = 204
const FOUND = 302
const NOT_MODIFIED = 304
/** How caches must treat content that depends on the caller, and the request headers that identify the caller. [REST-10] */
const BY_CALLER = { caching: 'private, no-cache', headers: 'Authorization, X-Workspace-Id' }

/** A reply whose whole body is in memory. */
export type WholeReply = Exclude<RouteReply, StreamReply>
export type StreamReply = Extract<RouteReply, { readonly kind: 'stream' }>

/**
 * Makes the answer of a success: 200 with content, 204 without; never 201 or an empty 200. `bodyOf` makes the body from the parts of an answer
 * that may be long; by default all parts are sent at once. [REST-1]
 */
export function replyAnswer(
  reply: WholeReply,
  common: CommonHeaders,
  bodyOf: (parts: readonly Uint8Array[]) => Answer['body'] = (parts) => parts,
): Answer {
  const headers = repliedHeaders(common, reply.headers)
  switch (reply.kind) {
    case 'json':
      return { status: OK, headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(reply.value) }
    case 'json-bytes':
      return {
        status: OK,
        headers: { ...headers, 'Content-Type': 'application/json', 'Content-Length': String(lengthOf(reply.parts)) },
        body: bodyOf(reply.parts),
      }
    case 'bytes':
      return {
        status: OK,
        headers: { ...headers, 'Content-Length': String(reply.bytes.byteLength) },
        body: bodyOf([reply.bytes]),
      }
    case 'text':
      return { status: reply.status ?? OK, headers: { 'Content-Type': 'text/plain', ...headers }, body: reply.text }
    case 'status-json':
      return {
        status: ERRORS[reply.like].status,
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: JSON.stringify(reply.value),
      }
    case 'empty':
      return { status: NO_CONTENT, headers, body: null }
    case 'not-modified':
      return { status: NOT_MODIFIED, headers, body: null }
    case 'redirect':
      return { status: FOUND, headers: { ...headers, Location: reply.location }, body: null }
  }
}

/** Returns the headers of a reply. For a reply that depends on the caller they tell caches so. [REST-10] */
function repliedHeaders(common: CommonHeaders, own: WholeReply['headers']): CommonHeaders {
  const headers: CommonHeaders = { ...common, ...own }
  if (headers['Cache-Control'] !== BY_CALLER.caching) return headers
  return { ...headers, Vary: headers.Vary === undefined ? BY_CALLER.headers : `${headers.Vary}, ${BY_CALLER.headers}` }
}

/**
 * Makes an answer whose body arrives in parts, or is left out for HEAD. `body` gives exactly `reply.length` bytes.
 * [REST-1]
 */
export function streamAnswer(reply: StreamReply, common: CommonHeaders, body: ReadableStream<Uint8Array> | null): Answer {
  const headers = { ...common, ...reply.headers, 'Content-Length': String(reply.length) }
  return { status: reply.partial ? PARTIAL : OK, headers, body }
}

/** Makes a 204 with the methods of a route. [REST-11] */
export function preflightAnswer(common: CommonHeaders, headers: Readonly<Record<string, string>>): Answer {
  return { status: NO_CONTENT, headers: { ...common, ...headers }, body: null }
}

/**
 * Turns a thrown value into the error that the client sees: a RelayError unchanged, anything else as INTERNAL without its text. [REST-2, OPS-8]
 */
export function asRelayError(thrown: unknown): RelayError {
  return thrown instanceof RelayError ? thrown : new RelayError('INTERNAL', 'The relay failed unexpectedly.')
}

/** Makes an error answer as the text to send, for a connection whose request could not be parsed. */
export function rawErrorAnswer(error: RelayError, context: ErrorContext): string {
  const { status, headers, body } = errorAnswer(error, context)
  const all = { ...headers, 'Content-Length': String(Buffer.byteLength(body)) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${error.code}`, ...lines, '', body].join('\r\n')
}

/** Turns an error into a REST answer. Nothing else does so. [REST-2] */
export function errorAnswer(error: RelayError, context: ErrorContext): Answer & { readonly body: string } {
  const row = ERRORS[error.code]
  if (error.code === 'FORBIDDEN_PLAIN') {
    return { status: row.status, headers: { ...context.common, 'Content-Type': 'text/plain' }, body: 'forbidden' }
  }
  const details = errorDetails(error, context.requestId)
  return {
    status: row.status,
    headers: { ...context.common, ...errorHeaders(error, details), 'Content-Type': 'application/json' },
    body: JSON.stringify({ error: error.message, errorCode: error.code, ...details }),
  }
}

function errorHeaders(error: RelayError, details: Readonly<Record<string, unknown>>): Record<string, string> {
  const { code } = error
  const headers: Record<string, string> = { ...retryAfterHeader(details) }
  if (ERRORS[code].status === ERRORS.UNAUTHENTICATED.status)
    headers['WWW-Authenticate'] = wwwAuthenticate(code !== 'UNAUTHENTICATED' || error.details.tokenGiven === true)
  if (code === 'METHOD_NOT_ALLOWED') headers.Allow = String(details.allow)
  if (code === 'RANGE_NOT_SATISFIABLE') headers['Content-Range'] = `bytes */${details.sizeBytes}`
  return headers
}
