import { setImmediate } from 'node:timers/promises'
import { RelayError } from '../kernel/errors.ts'
import type { BodyAccount } from './body-budget.ts'

const MIB = 1_048_576
const COPY_STEP_BYTES = 4 * MIB

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
 * Reads a whole body. The bytes are one buffer that nobody else holds, so that it can be moved to another thread.
 * Throws the limit's refusal, UNAVAILABLE from the account, and BAD_REQUEST when the client ends early.
 */
export async function readBody(
  request: { readonly body: ReadableStream<Uint8Array> | null; readonly declared: string | undefined },
  limit: BodyLimit,
  account: BodyAccount,
): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array(0)
  const declared = declaredLength(request.declared)
  if (declared !== null) account.hold(declared)
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = request.body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      length += value.byteLength
      if (length > limit.maxBytes) throw limit.tooLarge(length)
      account.hold(length)
      chunks.push(value)
    }
  } catch (error) {
    if (error instanceof RelayError) throw error
    endedEarly()
  } finally {
    reader.releaseLock()
  }
  return joined(chunks, length)
}

/** A body that is handed on as it arrives. Nothing is read before `chunks` is iterated, and nothing ahead of it, so that a slow taker slows the sender. */
export interface StreamedBody {
  /** Once only. Throws BAD_REQUEST when the client ends early. [REST-7] */
  readonly chunks: AsyncIterable<Uint8Array>
  isEnded(): boolean
}

export function streamedBody(open: () => ReadableStream<Uint8Array> | null): StreamedBody {
  let ended = false
  async function* chunks(): AsyncGenerator<Uint8Array, void> {
    const reader = open()?.getReader()
    try {
      for (;;) {
        const { done, value } = reader ? await reader.read().catch(endedEarly) : NOTHING
        ended = done
        if (done) return
        yield value
      }
    } finally {
      reader?.releaseLock()
    }
  }
  return { chunks: chunks(), isEnded: () => ended }
}

const NOTHING = { done: true, value: undefined } as const

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
