import { ERRORS } from '../kernel/errors.ts'
import type { JsonObject } from './tool.ts'

export type RpcId = string | number

export interface RpcRequest {
  readonly kind: 'request'
  readonly id: RpcId
  readonly method: string
  /** Empty when the message has no parameters, or when its parameters are not an object. */
  readonly params: JsonObject
}

export interface RpcNotification {
  readonly kind: 'notification'
  readonly method: string
  readonly params: JsonObject
}

/** The answer of a client to a request of the server. */
export interface RpcAnswer {
  readonly kind: 'answer'
  readonly id: unknown
  readonly result: unknown
  readonly error: unknown
}

export type RpcMessage = RpcRequest | RpcNotification | RpcAnswer

const OK = 200
const BAD = ERRORS.BAD_REQUEST.status

/** THE table of JSON-RPC errors: code, HTTP status on each leg, and the situation. [MCP-61] */
export const RPC_ERRORS = {
  parse: { code: -32700, legacy: BAD, modern: BAD, when: 'the body is not JSON' },
  shape: { code: -32600, legacy: BAD, modern: BAD, when: 'a batch, or not a JSON-RPC request' },
  'unknown-method': {
    code: -32601,
    legacy: OK,
    modern: ERRORS.NOT_FOUND.status,
    when: 'no such method in this revision',
  },
  meta: { code: -32602, legacy: OK, modern: BAD, when: '`_meta` lacks the protocol version or the client capabilities' },
  params: {
    code: -32602,
    legacy: OK,
    modern: OK,
    when: 'unknown tool, prompt, toolset, list cursor or completion reference; a parameter is missing or ill-typed',
  },
  'no-resource': { code: -32002, legacy: OK, modern: OK, when: 'no such resource for this caller, before 2026-07-28' },
  'no-resource-modern': {
    code: -32602,
    legacy: OK,
    modern: OK,
    when: 'no such resource for this caller, since 2026-07-28; `data.uri`',
  },
  unexpected: {
    code: -32603,
    legacy: OK,
    modern: OK,
    when: 'something failed outside a tool; the log has `data.incident`',
  },
  headers: { code: -32020, legacy: BAD, modern: BAD, when: 'a header is missing or differs from the body that it repeats' },
  capability: {
    code: -32021,
    legacy: BAD,
    modern: BAD,
    when: 'the client did not declare `data.requiredCapabilities`; no tool of a release needs any',
  },
  version: { code: -32022, legacy: BAD, modern: BAD, when: 'the protocol version is none of `data.supported`' },
  limit: {
    code: 429,
    legacy: ERRORS.RATE_LIMITED.status,
    modern: ERRORS.RATE_LIMITED.status,
    when: 'a bucket is empty (`data`, `Retry-After`), or the caller has as many streams or subscriptions as it may have',
  },
} as const satisfies Record<
  string,
  { readonly code: number; readonly legacy: number; readonly modern: number; readonly when: string }
>

export type RpcErrorKind = keyof typeof RPC_ERRORS
export type Era = 'legacy' | 'modern'

/** Thrown to answer a request with a JSON-RPC error. `message` is one sentence for the caller. */
export class RpcError extends Error {
  readonly kind: RpcErrorKind
  readonly data: JsonObject | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(kind: RpcErrorKind, message: string, data?: JsonObject, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.name = 'RpcError'
    this.kind = kind
    this.data = data
    this.headers = headers
  }
}

const LARGEST_ID = Number.MAX_SAFE_INTEGER

/**
 * Reads one parsed body as a message. For any other body returns the error to answer, with the id of the message when it is readable.
 * [MCP-9, MCP-10, MCP-11]
 */
export function readMessage(
  value: unknown,
): RpcMessage | { readonly kind: 'refused'; readonly id: RpcId | null; readonly error: RpcError } {
  if (Array.isArray(value)) return refused(null, 'A batch is not accepted: send one message per request.')
  if (!isObject(value)) return refused(null, 'The body is not a JSON-RPC object.')
  const id = own(value, 'id')
  const known = isId(id) ? id : null
  if (own(value, 'jsonrpc') !== '2.0') return refused(known, 'The member jsonrpc must be "2.0".')
  const method = own(value, 'method')
  if (method === undefined && id !== undefined && (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error'))) {
    return { kind: 'answer', id, result: own(value, 'result'), error: own(value, 'error') }
  }
  if (typeof method !== 'string') return refused(known, 'The member method must be a string.')
  const params = own(value, 'params')
  const members = isObject(params) ? params : {}
  if (!Object.hasOwn(value, 'id')) return { kind: 'notification', method, params: members }
  if (known === null) return refused(null, `The member id must be a string, or a number from -${LARGEST_ID} to ${LARGEST_ID}.`)
  return { kind: 'request', id: known, method, params: members }
}

function refused(id: RpcId | null, message: string): { kind: 'refused'; id: RpcId | null; error: RpcError } {
  return { kind: 'refused', id, error: new RpcError('shape', message) }
}

export function resultMessage(id: RpcId, result: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, result }
}

export function errorMessage(id: RpcId | null, error: RpcError): JsonObject {
  const { code } = RPC_ERRORS[error.kind]
  return { jsonrpc: '2.0', id, error: { code, message: error.message, ...(error.data && { data: error.data }) } }
}

export function notificationMessage(method: string, params: JsonObject): JsonObject {
  return { jsonrpc: '2.0', method, params }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Whether a value is a JSON-RPC id. A number beyond the exact integers is none: the answer would carry a rounded number, for which no
 * client waits.
 */
export function isId(value: unknown): value is RpcId {
  return typeof value === 'string' || (typeof value === 'number' && Math.abs(value) <= LARGEST_ID)
}

/** Returns a member of the object itself, never an inherited one. */
export function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** Returns a text parameter that the method requires. */
export function requiredText(params: JsonObject, name: string): string {
  const value = own(params, name)
  if (typeof value !== 'string') throw new RpcError('params', `The parameter ${name} must be a string.`)
  return value
}
