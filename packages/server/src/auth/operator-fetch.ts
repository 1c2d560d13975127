import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { systemTimers, type Timers } from '../kernel/timers.ts'
import { isPublicAddress } from '../outbound/blocked-addresses.ts'

export interface FetchLimits {
  /** Time to the end of the answer for `fetchJson`, to its first byte for `fetchChunks`. */
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly headers?: Readonly<Record<string, string>>
  /** Allows plain http also to an address of a private network. [AUTH-13] */
  readonly privateHttp?: boolean
  /** Ends the exchange at shutdown. */
  readonly signal: AbortSignal
  /** The real ones when absent. */
  readonly timers?: Timers
}

const MAX_REDIRECTS = 5
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Whether the operator may configure this address: any https address, http on loopback only. [AUTH-13, K12] */
export function isOperatorUrl(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname))
}

/**
 * Reads JSON from an address that the operator configured (key set): status 200 only, redirects to https only, no proxy
 * from the environment, with limits on time and bytes. [K12]
 *
 * @throws Error with a short message that names no address.
 */
export async function fetchJson(url: string, limits: FetchLimits): Promise<unknown> {
  const deadline = deadlineOf(limits)
  const { signal } = deadline
  try {
    const address = new URL(url)
    const response = await open(address, { ...limits, signal }, MAX_REDIRECTS)
    const chunks: Uint8Array[] = []
    for await (const chunk of capped(response, limits.maxBytes)) chunks.push(chunk)
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)))
  } catch (error) {
    throw plainError(error, signal)
  } finally {
    deadline.end()
  }
}

/** Reads an answer in chunks as it arrives, with the same rules as `fetchJson`. */
export async function* fetchChunks(url: string, limits: FetchLimits): AsyncGenerator<Uint8Array> {
  const deadline = deadlineOf(limits)
  const { signal } = deadline
  try {
    const response = await open(new URL(url), { ...limits, signal }, MAX_REDIRECTS)
    for await (const chunk of capped(response, limits.maxBytes)) {
      // Every chunk starts the timeout again, so that a stalled answer ends too.
      deadline.restart()
      yield chunk
    }
  } catch (error) {
    throw plainError(error, signal)
  } finally {
    deadline.end()
  }
}

/** Makes a signal that is aborted when the time is over, when the relay shuts down, and by `end`, which also cancels the timer. */
function deadlineOf({ timeoutMs, signal, timers = systemTimers }: FetchLimits): {
  readonly signal: AbortSignal
  restart(): void
  end(): void
} {
  const abort = new AbortController()
  const start = () => timers.after(timeoutMs, () => abort.abort(new Error('timeout')))
  let cancel = start()
  return {
    signal: AbortSignal.any([signal, abort.signal]),
    restart() {
      cancel()
      cancel = start()
    },
    end() {
      cancel()
      abort.abort()
    },
  }
}

type Sending = Pick<FetchLimits, 'headers' | 'signal' | 'privateHttp'>

async function open(url: URL, sending: Sending, redirects: number): Promise<IncomingMessage> {
  const response = await send(url, sending)
  const location = response.headers.location
  if (response.statusCode === 200) return response
  response.destroy()
  if (!location || ![301, 302, 303, 307, 308].includes(response.statusCode ?? 0)) throw new Error(`status ${response.statusCode}`)
  const target = new URL(location, url)
  if (target.protocol !== 'https:') throw new Error('redirect to an address that is not https')
  if (redirects === 0) throw new Error('too many redirects')
  const headers = headersAfterRedirect(sending.headers ?? {}, url, target)
  return open(target, { headers, signal: sending.signal }, redirects - 1)
}

/** Returns the headers to send after a redirect: none to another origin, because they may hold a secret. */
export function headersAfterRedirect(
  headers: Readonly<Record<string, string>>,
  from: URL,
  to: URL,
): Readonly<Record<string, string>> {
  return from.origin === to.origin ? headers : {}
}

function send(url: URL, { headers, signal, privateHttp = false }: Sending): Promise<IncomingMessage> {
  const isPrivateHttp = privateHttp && url.protocol === 'http:'
  if (!isPrivateHttp && !isOperatorUrl(url)) throw new Error('address is neither https nor loopback')
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      // Without an agent of its own the request would use the global one, which may take a proxy from the environment.
      agent: false,
      signal,
      headers: { accept: 'application/json', 'accept-encoding': 'identity', ...headers },
    })
    sent.on('response', (response) => {
      if (isPrivateHttp && isPublicAddress(response.socket.remoteAddress ?? '')) {
        response.destroy()
        reject(new Error('plain http to a public address'))
      } else resolve(response)
    })
    sent.on('error', reject)
    sent.end()
  })
}

async function* capped(response: IncomingMessage, maxBytes: number): AsyncGenerator<Uint8Array> {
  const encoding = response.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') throw new Error('encoded answer')
  let received = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    received += chunk.byteLength
    if (received > maxBytes) throw new Error(`answer above ${maxBytes} bytes`)
    yield chunk
  }
}

/** Makes an error for the log. A system error is named by its code, which contains no host. */
function plainError(error: unknown, signal: AbortSignal): Error {
  if (signal.aborted) return new Error('timeout')
  if (error instanceof SyntaxError) return new Error('the answer is not JSON')
  if (!(error instanceof Error)) return new Error('fetch failed')
  const { code } = error as NodeJS.ErrnoException
  return new Error(code ?? error.message)
}
