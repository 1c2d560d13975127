import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { checkServerIdentity } from 'node:tls'
import { RelayError } from '../kernel/errors.ts'
import { hostOf } from './url-rules.ts'

/** Returns where a checked address is reached; tests map public addresses to this machine. */
export type Connect = (address: string, port: number) => { readonly host: string; readonly port: number; readonly ca?: string }

export const directly: Connect = (host, port) => ({ host, port })

export interface Hop {
  readonly url: URL
  /** Checked addresses, tried in this order until one accepts the connection. */
  readonly addresses: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly limits: { readonly idleMs: number; readonly maxHeaderBytes: number }
  readonly signal: AbortSignal
  readonly connect: Connect
}

/** Most addresses that are tried for one name. */
const MAX_ADDRESSES = 4

/** Why a fetch failed, in words that do not reveal its target. */
export type FetchReason =
  | 'timeout'
  | 'no address'
  | 'unreachable'
  | 'certificate'
  | 'connection'
  | 'headers too large'
  | 'status'
  | 'encoded'
  | 'too large'
  | 'cut short'
  | 'bad redirect'
  | 'too many redirects'

export function failed(reason: FetchReason, status?: number): RelayError {
  const told = status === undefined ? reason : `${reason} ${status}`
  return new RelayError('FETCH_FAILED', `The URL could not be fetched: ${told}.`, {
    reason,
    ...(status === undefined ? {} : { status }),
  })
}

export function isRedirect({ statusCode, headers }: IncomingMessage): boolean {
  return [301, 302, 303, 307, 308].includes(statusCode ?? 0) && headers.location !== undefined
}

/** Sends the request of one hop and returns the head of the answer, with the body unread. Rejects with FETCH_FAILED. */
export async function openHop(hop: Hop): Promise<IncomingMessage> {
  const addresses = hop.addresses.slice(0, MAX_ADDRESSES)
  for (const [index, address] of addresses.entries()) {
    try {
      return await send(hop, address)
    } catch (error) {
      if (!(error instanceof Unreached) || index === addresses.length - 1) throw reasonOf(error, hop.signal)
    }
  }
  throw failed('no address')
}

/** The connection was not accepted, so no request was sent. */
class Unreached extends Error {}

function send({ url, headers, limits, signal, connect }: Hop, address: string): Promise<IncomingMessage> {
  const name = hostOf(url)
  const isPlain = url.protocol === 'http:'
  const port = url.port === '' ? (isPlain ? 80 : 443) : Number(url.port)
  const open = isPlain ? requestHttp : requestHttps
  const target = connect(address, port)
  return new Promise((resolve, reject) => {
    let connected = false
    const request = open({
      ...target,
      path: `${url.pathname}${url.search}`,
      headers: {
        accept: '*/*',
        ...headers,
        host: url.port === '' ? bracketed(name) : `${bracketed(name)}:${port}`,
        'accept-encoding': 'identity',
      },
      // A separate agent: hosts share no connection, and no proxy of the environment is used.
      agent: false,
      servername: isIP(name) === 0 ? name : '',
      checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
      rejectUnauthorized: true,
      maxHeaderSize: limits.maxHeaderBytes,
      timeout: limits.idleMs,
      signal,
      lookup: (_name, _options, done) => done(new Error('a name was to be resolved again'), ''),
    })
    request.on('socket', (socket) => socket.once('connect', () => (connected = true)))
    request.on('timeout', () => request.destroy(connected ? failed('timeout') : new Unreached()))
    request.on('response', (response) => {
      // From here on, the reader of the body decides how long a silence may last.
      response.socket.setTimeout(0)
      resolve(response)
    })
    request.on('error', (error) => reject(connected ? error : new Unreached()))
    request.on('close', () => reject(failed('connection')))
    request.end()
  })
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** Makes the error of a failed hop. System errors contain addresses and certificates contain hosts, so only the kind is reported. */
function reasonOf(error: unknown, signal: AbortSignal): RelayError {
  if (signal.aborted) return failed('timeout')
  if (error instanceof RelayError) return error
  if (error instanceof Unreached) return failed('unreachable')
  const code = error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? '') : ''
  if (code === 'HPE_HEADER_OVERFLOW') return failed('headers too large')
  return failed(/CERT|VERIFY|ERR_TLS/.test(code) ? 'certificate' : 'connection')
}
