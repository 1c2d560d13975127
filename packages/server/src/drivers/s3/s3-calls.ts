import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { S3Client, S3ServiceException } from '@aws-sdk/client-s3'
import type { Clock } from '../../kernel/clock.ts'
import { RelayError } from '../../kernel/errors.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { S3Address } from './s3-address.ts'

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** Number of tries of a call. [BLOB-19] */
const MAX_TRIES = 3
const TRIES_WITHIN_MS = 10_000
const FIRST_PAUSE_MS = 150
const PAUSE_FACTOR = 4
const CONNECT_MS = 1_500
/**
 * For this long a store may be silent in the first try of a call. Slow stores answer a PUT after seconds, so the first try gets most of the 10 s, and
 * later tries the rest.
 */
export const SILENCE_MS = 5_500
const LATER_SILENCE_MS = 3_000
/** The same limit for copying and for joining parts, during which a store works long without sending a byte. */
const WORKING_SILENCE_MS = 30_000

const UNBOUNDED = { maxSockets: Number.POSITIVE_INFINITY, keepAlive: true }

export interface S3Clients {
  readonly first: S3Client
  /** The client for the tries after the first. */
  readonly later: S3Client
  /** The client for copying and for joining parts. */
  readonly patient: S3Client
}

/**
 * Opens the clients of a store. The relay retries by itself, so that every call has the same rule. Bodies are signed with their own hash. The library
 * adds checksums only where the store requires them, since stores differ in what they accept.
 */
export function openS3Clients(address: S3Address, credentials: S3Credentials): S3Clients {
  // The number of sockets is not limited: waiting for a free socket would count as silence of the store.
  const agents = { httpAgent: new HttpAgent(UNBOUNDED), httpsAgent: new HttpsAgent(UNBOUNDED) }
  const open = (socketTimeout: number) =>
    new S3Client({
      endpoint: address.inner.url,
      region: address.region,
      forcePathStyle: address.inner.pathStyle,
      credentials,
      maxAttempts: 1,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout, ...agents },
    })
  return { first: open(SILENCE_MS), later: open(LATER_SILENCE_MS), patient: open(WORKING_SILENCE_MS) }
}

/**
 * Runs one call of the store with the given client, and rejects with BLOB_STORE_ERROR when the call fails. Errors with which the store answered about
 * an object (see `answered`) pass unchanged.
 */
export type Attempt = <T>(call: (quick: S3Client) => Promise<T>) => Promise<T>

/** The outcome of a call after all its tries. */
export type CallOutcome = { readonly kind: 'ok' } | { readonly kind: 'failed'; readonly error: RelayError }

export interface CallPolicy {
  readonly clients: S3Clients
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Timers that keep the process alive, since callers wait for the pauses between tries. */
  readonly timers: Timers
  readonly observe: (outcome: CallOutcome) => void
}

export interface S3Attempts {
  /** Up to three tries with growing pauses; all end within 10 s of silence. [BLOB-19] */
  readonly retried: Attempt
  /** One try. */
  readonly single: Attempt
  /** One try as a part of another call; it is not counted as a call. */
  readonly inner: Attempt
}

/** Makes the ways to call a store. */
export function createAttempts({ clients, clock, timers, observe }: CallPolicy): S3Attempts {
  const observed =
    (attempt: Attempt): Attempt =>
    async (call) => {
      try {
        const value = await attempt(call)
        observe({ kind: 'ok' })
        return value
      } catch (error) {
        observe(error instanceof RelayError ? { kind: 'failed', error } : { kind: 'ok' })
        throw error
      }
    }
  const inner: Attempt = async (call) => {
    try {
      return await call(clients.first)
    } catch (error) {
      throw isAnswer(error) ? error : storeError(error)
    }
  }
  const retried: Attempt = async (call) => {
    const startedMs = clock.monotonicMs()
    for (let tries = 1; ; tries++) {
      try {
        return await call(tries === 1 ? clients.first : clients.later)
      } catch (error) {
        if (isAnswer(error)) throw error
        const pauseMs = FIRST_PAUSE_MS * PAUSE_FACTOR ** (tries - 1)
        const endsMs = clock.monotonicMs() - startedMs + pauseMs + LATER_SILENCE_MS
        if (tries === MAX_TRIES || endsMs > TRIES_WITHIN_MS || !mayPass(error)) throw storeError(error)
        await new Promise<void>((resolve) => timers.after(pauseMs, resolve))
      }
    }
  }
  return { retried: observed(retried), single: observed(inner), inner }
}

const ANSWERS = ['NoSuchKey', 'NotFound', 'NoSuchUpload', 'PreconditionFailed', 'NotImplemented', 'MethodNotAllowed']

/** Whether the error is the store's answer about the object, and not a failure of the store. */
function isAnswer(error: unknown): error is S3ServiceException {
  return error instanceof S3ServiceException && ANSWERS.includes(error.name)
}

/** Whether the store answered with one of these codes. */
export function answered(error: unknown, ...codes: readonly string[]): boolean {
  return isAnswer(error) && codes.includes(error.name)
}

const PASSING = ['RequestTimeout', 'RequestTimeTooSkewed', 'XAmzContentSHA256Mismatch']

/** Whether the next try may succeed: the store failed, asked to slow down or has another time, or the connection broke. */
function mayPass(error: unknown): boolean {
  const status = statusOf(error)
  if (status === undefined || status < 300 || status >= 500 || status === 408 || status === 429) return true
  return error instanceof S3ServiceException && PASSING.includes(error.name)
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof RelayError) return error.details.status as number | undefined
  return error instanceof Error ? (error as Partial<S3ServiceException>).$metadata?.httpStatusCode : undefined
}

/** Makes the error of a failed call. Its reason is only a code, because messages of the library and of stores contain hosts, keys and signatures. */
export function storeError(error: unknown): RelayError {
  if (error instanceof RelayError) return error
  const status = statusOf(error)
  const reason = reasonOf(error)
  const told = status === undefined ? reason : `${reason}, status ${status}`
  return new RelayError('BLOB_STORE_ERROR', `The object store failed: ${told}.`, {
    ...(status === undefined ? {} : { status }),
    reason,
  })
}

/**
 * Runs a HEAD. The answer to a refused HEAD has no body and so no error code. The same request is then sent with `get`, and its refusal, which has a
 * code, is thrown instead.
 */
export async function headNamed<T>(head: () => Promise<T>, get: () => Promise<unknown>): Promise<T> {
  try {
    return await head()
  } catch (error) {
    const status = statusOf(error)
    if (status === undefined || status < 300 || status >= 500 || status === 408 || status === 429) throw error
    const named = await get().then(
      () => error,
      (other: unknown) => other,
    )
    throw isAnswer(named) ? error : named
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed'
  const { code } = error as NodeJS.ErrnoException
  const word = typeof code === 'string' ? code : error.name
  return /^[A-Za-z0-9_]{1,64}$/.test(word) && word !== 'Error' ? word : 'failed'
}
