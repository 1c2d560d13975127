import type { IncomingMessage } from 'node:http'
import { isIPv4 } from 'node:net'
import { RelayError } from '../kernel/errors.ts'
import { systemTimers, type Timers } from '../kernel/timers.ts'
import { isPublicAddress } from './blocked-addresses.ts'
import { type Connect, failed, isRedirect, openHop } from './guarded-hop.ts'
import { addressesOf, type Resolve } from './resolver.ts'
import { hostOf, type JudgeUrl } from './url-rules.ts'

export interface GuardedLimits {
  /** Time from the first step to the last byte, including the time of the reader. */
  readonly totalMs: number
  /** Longest time without a byte while one is awaited. */
  readonly idleMs: number
  readonly maxRedirects: number
  readonly maxHeaderBytes: number
  /** Most bytes, counted on arrival; `null` when the reader counts. */
  readonly maxBytes: number | null
}

/** Replaces the network in tests. */
export interface GuardedNetwork {
  readonly resolve: Resolve
  readonly connect: Connect
  /** The real ones when absent. */
  readonly timers?: Timers
}

export interface GuardedRequest {
  readonly url: URL
  /** Sent unchanged to the first host alone; not sent when blank. [BLOB-17] */
  readonly authorization: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly judge: JudgeUrl
  readonly limits: GuardedLimits
  /**
   * True when the operator chose the host of `url`: the first hop is then not checked and may have any address, also
   * plain http on this machine. Redirects, also those back to it, are checked. [REF-10]
   */
  readonly trustsFirstHop?: boolean
  /** Aborted when nobody wants the answer any more: the connection is closed, and the fetch rejects with the signal's reason. */
  readonly givenUp?: AbortSignal | undefined
}

export interface GuardedAnswer {
  /** The announced size. */
  readonly sizeBytes: number | null
  /** The announced type, unchanged. */
  readonly mimeType: string | null
  /** Rejects with FETCH_FAILED; ending the iteration early closes the connection. */
  readonly body: AsyncIterable<Uint8Array>
  /** Closes the connection of a body that is not read. */
  discard(): void
}

/**
 * GETs a URL that an outsider chose. Every hop follows the same rules, every address of its host must be public, and
 * the connection goes to a checked one. Rejects with URL_NOT_ALLOWED or FETCH_FAILED, whose texts name host and hop and
 * never an address, a query or the answer. [BLOB-17, BLOB-18, U1–U4]
 */
export async function guardedFetch(request: GuardedRequest, network: GuardedNetwork): Promise<GuardedAnswer> {
  const { limits, givenUp } = request
  const { timers = systemTimers } = network
  givenUp?.throwIfAborted()
  const abort = new AbortController()
  const halt = (): void => abort.abort()
  const cancel = timers.after(limits.totalMs, halt)
  givenUp?.addEventListener('abort', halt)
  const settled = (): void => {
    cancel()
    givenUp?.removeEventListener('abort', halt)
  }
  try {
    const response = await follow(request, network, abort.signal)
    const sizeBytes = lengthOf(response)
    const discard = (): void => {
      settled()
      response.destroy()
    }
    if (limits.maxBytes !== null && (sizeBytes ?? 0) > limits.maxBytes) {
      discard()
      throw failed('too large')
    }
    const mimeType = response.headers['content-type'] ?? null
    return { sizeBytes, mimeType, discard, body: bodyOf(response, request, { signal: abort.signal, timers }, discard) }
  } catch (error) {
    settled()
    givenUp?.throwIfAborted()
    throw error
  }
}

/** Follows redirects to the final answer. Each redirect is checked as a hop of its own. [U3] */
async function follow(request: GuardedRequest, network: GuardedNetwork, signal: AbortSignal): Promise<IncomingMessage> {
  const first = authorityOf(request.url)
  let url = request.url
  for (let hop = 0; ; hop++) {
    const isTrusted = hop === 0 && request.trustsFirstHop === true && (url.protocol === 'https:' || isLoopbackHost(hostOf(url)))
    const verdict = isTrusted ? { kind: 'allowed' as const, host: hostOf(url) } : request.judge(url)
    if (verdict.kind === 'refused') throw urlNotAllowed(verdict.host, hop)
    const addresses = await resolved(verdict.host, network, { signal, ...request.limits })
    if (!isTrusted && !addresses.every(isPublicAddress)) throw urlNotAllowed(verdict.host, hop)
    const authorized = authorityOf(url) === first && request.authorization !== null && request.authorization.trim() !== ''
    const headers = { ...request.headers, ...(authorized && { authorization: request.authorization }) }
    const response = await openHop({ url, addresses, headers, limits: request.limits, signal, connect: network.connect })
    if (!isRedirect(response)) return usable(response)
    response.destroy()
    if (hop === request.limits.maxRedirects) throw failed('too many redirects')
    const target = URL.parse(response.headers.location ?? '', url.href)
    if (target === null) throw failed('bad redirect')
    url = target
  }
}

/**
 * Resolves a host. This is the only look-up of a hop, so that the connection goes to an address that was checked. [BLOB-18]
 */
async function resolved(
  host: string,
  { resolve, timers = systemTimers }: GuardedNetwork,
  { signal, idleMs }: { readonly signal: AbortSignal; readonly idleMs: number },
): Promise<readonly string[]> {
  const found = addressesOf(host, resolve).catch((): readonly string[] => [])
  const addresses = await abortable(found, { signal, timers }, idleMs)
  if (addresses.length === 0) throw failed('no address')
  return addresses
}

/** Makes the error for a hop that is not allowed. [REST-3] */
export function urlNotAllowed(host: string, hop: number): RelayError {
  const where = hop === 0 ? 'the URL' : `redirect ${hop}`
  return new RelayError('URL_NOT_ALLOWED', `url_not_allowed: ${where} leads to a place that is not allowed (host ${host}).`, {
    host,
    hop,
  })
}

function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

/** Returns host and port of a URL. Another port is another service, which does not get the authorization. */
function authorityOf(url: URL): string {
  return `${hostOf(url)} ${url.port}`
}

/**
 * Returns the response, or throws unless it is a plain 200. An encoded answer is refused, because a small one may decode to any size. [U3, U4]
 */
function usable(response: IncomingMessage): IncomingMessage {
  const refusal = refusalOf(response)
  if (refusal === null) return response
  response.destroy()
  throw refusal
}

function refusalOf({ statusCode, headers }: IncomingMessage): RelayError | null {
  if (statusCode !== 200) return failed('status', statusCode)
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  const transfer = headers['transfer-encoding']?.trim().toLowerCase() ?? 'chunked'
  return (encoding === '' || encoding === 'identity') && transfer === 'chunked' ? null : failed('encoded')
}

function lengthOf({ headers }: IncomingMessage): number | null {
  const length = headers['content-length']
  return length === undefined || headers['transfer-encoding'] !== undefined ? null : Number(length)
}

function bodyOf(
  response: IncomingMessage,
  { limits, givenUp }: Pick<GuardedRequest, 'limits' | 'givenUp'>,
  until: Until,
  end: () => void,
): AsyncIterable<Uint8Array> {
  const pieces = response[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  let read = 0
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    const piece = await abortable(pieces.next(), until, limits.idleMs)
    read += piece.done ? 0 : piece.value.byteLength
    if (limits.maxBytes !== null && read > limits.maxBytes) throw failed('too large')
    if (piece.done) end()
    return piece
  }
  return {
    [Symbol.asyncIterator]: () => ({
      next: () =>
        next().catch((error: unknown) => {
          end()
          givenUp?.throwIfAborted()
          throw error instanceof RelayError ? error : failed('cut short')
        }),
      return() {
        end()
        return Promise.resolve({ done: true, value: undefined })
      },
    }),
  }
}

interface Until {
  readonly signal: AbortSignal
  readonly timers: Timers
}

/** Rejects when the signal is aborted or the time is over, even if `work` never settles. */
function abortable<T>(work: Promise<T>, { signal, timers }: Until, withinMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(failed('timeout'))
    if (signal.aborted) stop()
    const cancel = timers.after(withinMs, stop)
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => {
      cancel()
      signal.removeEventListener('abort', stop)
    })
  })
}
