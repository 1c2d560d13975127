import { S3Client, S3ServiceException } from '@aws-sdk/client-s3'
import type { Clock } from '../../kernel/clock.ts'
import { RelayError } from '../../kernel/errors.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { S3Address } from './s3-address.ts'

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** [BLOB-19] */
const MAX_TRIES = 3
const TRIES_WITHIN_MS = 10_000
const FIRST_PAUSE_MS = 150
const PAUSE_FACTOR = 4
const CONNECT_MS = 1_500
/** Without a byte in either direction. Three such tries and their pauses end within the limit. */
export const SILENCE_MS = 3_000
/** For calls during which a store works without a byte: copying, and joining parts. */
const WORKING_SILENCE_MS = 30_000

const UNBOUNDED = { maxSockets: Number.POSITIVE_INFINITY }

export interface S3Clients {
  readonly quick: S3Client
  /** For copying and joining parts. */
  readonly patient: S3Client
}

/**
 * Retries are ours, so that every call keeps one rule. Bodies are signed with their own hash; the checksums that the library would add are
 * left to what the store requires, since stores differ in what they take.
 */
export function openS3Clients(address: S3Address, credentials: S3Credentials): S3Clients {
  const open = (socketTimeout: number) =>
    new S3Client({
      endpoint: address.endpoint,
      region: address.region,
      forcePathStyle: address.pathStyle,
      credentials,
      maxAttempts: 1,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      // Without a queue for sockets, since waiting in it would count as the store's silence.
      requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout, httpAgent: UNBOUNDED, httpsAgent: UNBOUNDED },
    })
  return { quick: open(SILENCE_MS), patient: open(WORKING_SILENCE_MS) }
}

/** Runs one call against the store and tells what stays wrong as BLOB_STORE_ERROR; what the store answered (see `answered`) passes through. */
export type Attempt = <T>(call: () => Promise<T>) => Promise<T>

/** Up to three tries with growing pauses; none begins after 10 s. [BLOB-19] */
export function retrying(clock: Pick<Clock, 'monotonicMs'>, timers: Timers): Attempt {
  return async (call) => {
    const startedMs = clock.monotonicMs()
    for (let tries = 1; ; tries++) {
      try {
        return await call()
      } catch (error) {
        if (isAnswer(error)) throw error
        const pauseMs = FIRST_PAUSE_MS * PAUSE_FACTOR ** (tries - 1)
        const late = clock.monotonicMs() - startedMs + pauseMs > TRIES_WITHIN_MS
        if (tries === MAX_TRIES || late || !mayPass(error)) throw storeError(error)
        await new Promise<void>((resolve) => timers.after(pauseMs, resolve))
      }
    }
  }
}

/** One try. */
export const once: Attempt = async (call) => {
  try {
    return await call()
  } catch (error) {
    throw isAnswer(error) ? error : storeError(error)
  }
}

const ANSWERS = ['NoSuchKey', 'NotFound', 'NoSuchUpload', 'PreconditionFailed', 'NotImplemented', 'MethodNotAllowed']

/** Not trouble of the store, but what it says of the thing asked for. */
function isAnswer(error: unknown): error is S3ServiceException {
  return error instanceof S3ServiceException && ANSWERS.includes(error.name)
}

/** Whether the store answered with one of these codes. */
export function answered(error: unknown, ...codes: readonly string[]): boolean {
  return isAnswer(error) && codes.includes(error.name)
}

const PASSING = ['RequestTimeout', 'RequestTimeTooSkewed', 'XAmzContentSHA256Mismatch']

/** Everything but what the store decided: its own trouble, its wish for patience, clocks apart, and whatever broke on the way. */
function mayPass(error: unknown): boolean {
  const status = statusOf(error)
  if (status === undefined || status < 400 || status >= 500 || status === 408 || status === 429) return true
  return error instanceof S3ServiceException && PASSING.includes(error.name)
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof RelayError) return error.details.status as number | undefined
  return error instanceof Error ? (error as Partial<S3ServiceException>).$metadata?.httpStatusCode : undefined
}

/** The reason is a code: messages of the library and of stores name hosts, keys and signatures. */
export function storeError(error: unknown): RelayError {
  if (error instanceof RelayError) return error
  const status = statusOf(error)
  const reason = reasonOf(error)
  const told = status === undefined ? reason : `${reason}, status ${status}`
  return new RelayError('BLOB_STORE_ERROR', `The object store did not do what was asked: ${told}.`, {
    ...(status === undefined ? {} : { status }),
    reason,
  })
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed'
  const { code } = error as NodeJS.ErrnoException
  const word = typeof code === 'string' ? code : error.name
  return /^[A-Za-z0-9_]{1,64}$/.test(word) && word !== 'Error' ? word : 'failed'
}
