import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { RelayError } from '../kernel/errors.ts'
import type { BodyAccount } from './body-budget.ts'

const MIB = 1_048_576
const COPY_STEP_BYTES = 4 * MIB
const SHORT_REST_BYTES = 65_536
const EXPECTS_CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i

/** The request body at most `maxBytes` long, counted while it arrives, chunked or declared. */
export interface BodyLimit {
  readonly maxBytes: number
  /** The refusal when the body is longer; `sizeBytes` is what was declared, or counted so far. */
  readonly tooLarge: (sizeBytes: number) => RelayError
}

/** What document routes take: 128 MiB, or a quarter more than the configured ceiling (`null`: none) where that is higher. [REST-7, H3] */
export function documentBodyLimit(maxDocBytes: number | null): number {
  return Math.max(128 * MIB, Math.floor((maxDocBytes ?? 0) * 1.25))
}

/** Refuses a declared length above the limit before a byte is read. [H2, H3] */
export function checkDeclaredLength(declared: string | undefined, limit: BodyLimit): void {
  const length = declaredLength(declared)
  if (length !== null && length > limit.maxBytes) throw limit.tooLarge(length)
}

/** JSON routes take `application/json`, any `+json` and no type at all. [REST-7] */
export function checkJsonType(contentType: string | undefined): void {
  if (contentType === undefined || contentType === '') return
  const semicolon = contentType.indexOf(';')
  const type = (semicolon === -1 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase()
  if (type === 'application/json' || (type.includes('/') && type.endsWith('+json'))) return
  throw new RelayError('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json.')
}

/**
 * A body as it arrives, once only. Before the first chunk is asked for nothing is read, nor a client that waits for `100 Continue` told to
 * send; nothing is read far ahead, so that a slow taker slows the sender. Who stops early leaves the rest unread. Throws BAD_REQUEST when
 * the client ends early. [REST-7]
 */
export async function* requestChunks(incoming: IncomingMessage, outgoing: ServerResponse): AsyncGenerator<Uint8Array, void> {
  // An expectation of HTTP/1.0 is none.
  const waits = incoming.httpVersion === '1.1' && EXPECTS_CONTINUE.test(incoming.headers.expect ?? '')
  if (waits && !outgoing.headersSent) outgoing.writeContinue()
  try {
    yield* incoming.iterator({ destroyOnReturn: false })
  } catch {
    endedEarly()
  }
}

/** Whether so much of the body has not arrived that the connection ends with the answer instead of taking it. [H3] */
export function leavesBody(incoming: IncomingMessage): boolean {
  if (incoming.complete) return false
  const { 'content-length': length, 'transfer-encoding': coding } = incoming.headers
  return coding !== undefined || (declaredLength(length) ?? 0) > SHORT_REST_BYTES
}

/**
 * Reads a whole body. The bytes are one buffer that nobody else holds, so that it can be moved to another thread.
 * Throws the limit's refusal, UNAVAILABLE from the account, and what reading throws.
 */
export async function readBody(
  request: { readonly chunks: AsyncIterable<Uint8Array>; readonly declared: string | undefined },
  limit: BodyLimit,
  account: BodyAccount,
): Promise<Uint8Array> {
  const declared = declaredLength(request.declared)
  if (declared !== null) account.hold(declared)
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.chunks) {
    length += chunk.byteLength
    if (length > limit.maxBytes) throw limit.tooLarge(length)
    account.hold(length)
    chunks.push(chunk)
  }
  return joined(chunks, length)
}

function endedEarly(): never {
  throw new RelayError('BAD_REQUEST', 'The request body ended early.', { field: 'body' })
}

/** One buffer; long ones are copied in steps with the loop free in between. */
async function joined(chunks: readonly Uint8Array[], length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer)
  let offset = 0
  let copied = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
    copied += chunk.byteLength
    if (copied < COPY_STEP_BYTES) continue
    copied = 0
    await setImmediate()
  }
  return bytes
}

function declaredLength(header: string | undefined): number | null {
  if (header === undefined || !/^\d{1,15}$/.test(header)) return null
  return Number(header)
}
