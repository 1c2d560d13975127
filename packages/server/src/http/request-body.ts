import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../kernel/clock.ts'
import { RelayError } from '../kernel/errors.ts'
import { createRoundTurns, type RoundTurns } from '../kernel/round-turns.ts'
import type { Timers } from '../kernel/timers.ts'
import type { Arrivals } from './arrivals.ts'
import type { BodyAccount } from './body-budget.ts'
import { BodyPace, PACE_LIMITS } from './body-pace.ts'

const MIB = 1_048_576
const COPY_STEP_BYTES = 4 * MIB
/** Parts taken in one round of the event loop; a part has about 64 KiB. */
const PARTS_PER_ROUND = 4
const SHORT_REST_BYTES = 65_536
const EXPECTS_CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i

/** A limit for a request body, counted while it arrives, with or without a declared length. */
export interface BodyLimit {
  readonly maxBytes: number
  /** Makes the refusal of a longer body; `sizeBytes` is the declared size, or the bytes counted so far. */
  readonly tooLarge: (sizeBytes: number) => RelayError
}

/**
 * The limit of document routes: 128 MiB, or 125 % of the configured ceiling (`null`: none) when that is more. [REST-7,
 * H3]
 */
export function documentBodyLimit(maxDocBytes: number | null): number {
  return Math.max(128 * MIB, Math.floor((maxDocBytes ?? 0) * 1.25))
}

/** Refuses a declared length above the limit before a byte is read. [H2, H3] */
export function checkDeclaredLength(declared: string | undefined, limit: BodyLimit): void {
  const length = declaredLength(declared)
  if (length !== null && length > limit.maxBytes) throw limit.tooLarge(length)
}

/** Throws unless a JSON route accepts the content type: `application/json`, any `+json`, or none. [REST-7] */
export function checkJsonType(contentType: string | undefined): void {
  if (contentType === undefined || contentType === '') return
  const semicolon = contentType.indexOf(';')
  const type = (semicolon === -1 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase()
  if (type === 'application/json' || (type.includes('/') && type.endsWith('+json'))) return
  throw new RelayError('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json.')
}

/** Throws when the body is compressed: the relay does not decompress. [REST-7] */
export function checkContentCoding(contentEncoding: string | undefined): void {
  const coding = contentEncoding?.trim().toLowerCase() ?? ''
  if (coding === '' || coding === 'identity') return
  throw new RelayError(
    'UNSUPPORTED_MEDIA_TYPE',
    'The body must be sent without a Content-Encoding; the relay decompresses nothing.',
  )
}

/**
 * Makes the turns of workspaces at taking further parts of bodies. Node accepts one connection in each round of the
 * event loop, so rounds have to be short while hundreds of bodies arrive. [H3]
 */
export const createPartTurns = (): RoundTurns => createRoundTurns({ perRound: PARTS_PER_ROUND })

/** Dependencies for reading a body. */
export interface ArrivalDeps {
  readonly clock: Clock
  readonly timers: Timers
  /** The body waits for a turn before each further chunk, so that many bodies at a time leave the thread to other work. [H3] */
  readonly parts: RoundTurns
  /** The workspace in whose turns the body is read. */
  readonly workspaceId: string
  /** The bodies that the process waits for; this body is added to them. [LIFE-28] */
  readonly arrivals: Arrivals
  /** Ends the reading when aborted; reading then throws the signal's reason. */
  readonly givenUp?: AbortSignal
}

/**
 * Yields a body as it arrives; can be read once.
 *
 * Reads nothing before the first chunk is requested, and only then sends `100 Continue` to a client that waits for it.
 * Reads little ahead, so that a slow reader slows the sender. A reader that stops early leaves the rest unread. Throws
 * BAD_REQUEST when the client ends early or falls behind the pace of a body, the reason of `givenUp`, and UNAVAILABLE
 * when a stop waits for bodies no longer. [REST-7, LIFE-28]
 */
export async function* requestChunks(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  deps: ArrivalDeps,
): AsyncGenerator<Uint8Array, void> {
  if (waitsForContinue(incoming) && !outgoing.headersSent) outgoing.writeContinue()
  const iterator: AsyncIterator<Uint8Array> = incoming.iterator({ destroyOnReturn: false })
  const pace = new BodyPace(PACE_LIMITS)
  for (;;) {
    const askedMs = deps.clock.monotonicMs()
    const next = await inTime(iterator.next(), pace.leftMs, deps)
    if (next.done === true) return
    pace.arrived(next.value.byteLength, deps.clock.monotonicMs() - askedMs)
    let taken = false
    try {
      yield next.value
      taken = true
    } finally {
      if (!taken) await iterator.return?.()
    }
    if (!incoming.complete) await new Promise<void>((resolve) => deps.parts.run(deps.workspaceId, resolve))
  }
}

/** Whether the client waits for `100 Continue`. HTTP/1.0 has no expectations, so one there is ignored. */
function waitsForContinue({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.1' && headers.expect !== undefined && EXPECTS_CONTINUE.test(headers.expect)
}

/** Returns the next chunk. Throws when it takes too long or the body was given up. */
function inTime<T>(next: Promise<T>, leftMs: number, { timers, arrivals, givenUp }: ArrivalDeps): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(givenUp?.reason)
    const cancel = timers.after(leftMs, () => reject(tooSlow()))
    const leave = arrivals.wait(reject)
    givenUp?.addEventListener('abort', giveUp)
    if (givenUp?.aborted) giveUp()
    next
      .then(resolve, () => reject(endedEarly()))
      .finally(() => {
        cancel()
        leave()
        givenUp?.removeEventListener('abort', giveUp)
      })
  })
}

/** Whether so much of the body is missing that the connection is closed after the answer and the rest is not received. [H3] */
export function leavesBody(incoming: IncomingMessage): boolean {
  if (incoming.complete) return false
  const { 'content-length': length, 'transfer-encoding': coding } = incoming.headers
  return coding !== undefined || (declaredLength(length) ?? 0) > SHORT_REST_BYTES
}

/** The body of a request that is to be read whole. */
export interface WholeBody {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly limit: BodyLimit
  readonly account: BodyAccount
}

/**
 * Reads a whole body into one buffer that nothing else uses, so that it can be transferred to another thread. Throws
 * the refusal of the limit, UNAVAILABLE from the account, and the errors of reading.
 */
export async function readBody(
  { incoming, outgoing, limit, account }: WholeBody,
  deps: Omit<ArrivalDeps, 'givenUp'>,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  const take = (chunk: Uint8Array): void => {
    length += chunk.byteLength
    if (length > limit.maxBytes) throw limit.tooLarge(length)
    account.hold(length)
    chunks.push(chunk)
  }
  if (incoming.complete && !incoming.destroyed && !waitsForContinue(incoming)) {
    // A short body usually arrives together with its headers, so it can be read without waiting.
    for (let chunk: unknown = incoming.read(); chunk !== null; chunk = incoming.read()) take(chunk as Uint8Array)
  } else {
    for await (const chunk of requestChunks(incoming, outgoing, { ...deps, givenUp: account.givenUp })) take(chunk)
  }
  account.arrived()
  return joined(chunks, length)
}

function endedEarly(): RelayError {
  return new RelayError('BAD_REQUEST', 'The request body ended early.', { field: 'body' })
}

function tooSlow(): RelayError {
  const { stallMs, minBytesPerSec } = PACE_LIMITS
  const message = `The request body fell ${stallMs / 1000} s behind ${minBytesPerSec} bytes per second.`
  return new RelayError('BAD_REQUEST', message, { field: 'body', limit: minBytesPerSec })
}

/** Joins the chunks; a long body is copied in steps that let the event loop run in between. */
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
