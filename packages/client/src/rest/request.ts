import type { ErrorBody } from '@docrelay/protocol/rest'
import { isRestErrorCode } from '@docrelay/protocol/rest-codes'
import { delay, type Environment } from '../environment.ts'
import { RelayError } from '../errors.ts'
import { type Tokens, usableToken } from '../tokens.ts'

/** Options of every REST call. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
}

export interface RequestContext {
  /** The relay's address without a slash at the end. */
  readonly base: string
  readonly tokens: Tokens
  readonly workspace: string | undefined
  readonly environment: Environment
  /** How many times in all a request that changes nothing is tried. */
  readonly attempts: number
}

export interface RelayRequest extends CallOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: { readonly type: string; readonly content: string | Uint8Array<ArrayBuffer> }
  /** A redirect is not followed but passed to `read`. */
  readonly redirect?: 'manual'
}

const SAFE_METHODS = ['GET', 'HEAD']
const FIRST_PAUSE_MS = 250
/** The longest pause between two tries. When the relay asks for a longer one, the call rejects instead. */
const LONGEST_PAUSE_MS = 15_000
/** Refusals that another token may end. A request refused with one of them had no effect. */
const TOKEN_REFUSED = ['UNAUTHENTICATED', 'TOKEN_INVALID', 'TOKEN_REVOKED']

/** Sends requests with a token, repeats them with another token after a 401, and retries requests that change nothing after a failure. */
export class Requests {
  readonly #context: RequestContext

  constructor(context: RequestContext) {
    this.#context = context
  }

  /** Returns the JSON of the answer; `undefined` for an empty one. */
  async json<T>(
    method: string,
    path: string,
    request: Omit<RelayRequest, 'body'> & { readonly body?: unknown } = {},
  ): Promise<T> {
    const { body, ...rest } = request
    const sent = body === undefined ? {} : { body: { type: 'application/json', content: JSON.stringify(body) } }
    return this.send(method, path, { ...rest, ...sent }, async (response) => jsonOf(await response.text()) as T)
  }

  /** Returns the result of `read` for a successful answer. */
  async send<T>(method: string, path: string, request: RelayRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const { attempts, environment } = this.#context
    const most = SAFE_METHODS.includes(method) ? attempts : 1
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#withToken(method, path, request, read)
      } catch (error) {
        const pauseMs = pauseBefore(error, attempt, environment.random())
        if (attempt >= most || pauseMs === null) throw error
        await delay(environment, pauseMs, request.signal)
      }
    }
  }

  /** Fetches an address of another server, without the token. */
  async fetchElsewhere(url: string, { signal }: CallOptions): Promise<Response> {
    const response = await this.#fetch(url, { method: 'GET', signal: signal ?? null })
    if (response.ok) return response
    throw new RelayError('BLOB_STORE_ERROR', `the object store answered ${response.status}`, { status: response.status })
  }

  /** Sends a request; repeats it with another token when the relay refuses the first. */
  async #withToken<T>(method: string, path: string, request: RelayRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const { tokens } = this.#context
    const { signal } = request
    const token = await abortable(usableToken(tokens.get({ fresh: false })), signal)
    try {
      return await this.#once(method, path, request, token, read)
    } catch (error) {
      if (!(error instanceof RelayError) || !TOKEN_REFUSED.includes(error.code)) throw error
      const other = await abortable(usableToken(tokens.replacementOf(token)), signal)
      // The application has no other token. The relay's refusal explains more than a second one would.
      if (other === token) throw error
      return this.#once(method, path, request, other, read)
    }
  }

  async #once<T>(
    method: string,
    path: string,
    { query, body, signal, redirect }: RelayRequest,
    token: string,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { base, workspace } = this.#context
    const headers: Record<string, string> = { authorization: `Bearer ${token}` }
    if (workspace !== undefined) headers['x-workspace-id'] = workspace
    if (body !== undefined) headers['content-type'] = body.type
    const init: RequestInit = {
      method,
      headers,
      ...(body && { body: body.content }),
      ...(signal && { signal }),
      ...(redirect && { redirect }),
    }
    const response = await this.#fetch(base + path + queryOf(query), init)
    try {
      if (response.ok || (redirect === 'manual' && isRedirect(response))) return await read(response)
      throw errorOf(response, await response.text(), method)
    } catch (error) {
      throw error instanceof RelayError ? error : failure(error, signal)
    }
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    try {
      return await this.#context.environment.fetch(url, init)
    } catch (error) {
      throw failure(error, init.signal)
    }
  }
}

/** Returns how long to wait before the next try; `null` when a retry is pointless. `random` is in [0, 1). */
export function pauseBefore(error: unknown, attempt: number, random: number): number | null {
  if (!(error instanceof RelayError) || !mayPass(error)) return null
  const spread = FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + random / 2)
  const pauseMs = Math.round((error.retryAfterMs ?? 0) + spread)
  return pauseMs <= LONGEST_PAUSE_MS ? pauseMs : null
}

/** Whether the same request may succeed in a while: no answer, too many requests, or a server in trouble. */
function mayPass({ code, status, retry }: RelayError): boolean {
  if (code === 'NETWORK') return true
  return (
    status !== null && (status === 429 || status >= 500 || code === 'JWKS_UNAVAILABLE') && (retry === 'later' || retry === 'now')
  )
}

/** Whether this is a redirect that was not followed; browsers hide its status. */
export function isRedirect({ type, status }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400)
}

/** Makes an error of an unsuccessful answer. */
function errorOf(response: Response, text: string, method: string): RelayError {
  const { status } = response
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  const headerMs = Number.isFinite(retryAfter) ? retryAfter * 1000 : null
  const body = errorBody(text)
  if (body !== null) {
    const { error, errorCode, ...details } = body
    const toldMs = typeof details['retryAfterMs'] === 'number' ? details['retryAfterMs'] : headerMs
    if (isRestErrorCode(errorCode)) return new RelayError(errorCode, error, { status, details, retryAfterMs: toldMs })
    return unexpected(status, error, { ...details, errorCode }, toldMs)
  }
  if (status === 403 && text.trim() === 'forbidden') return new RelayError('FORBIDDEN_PLAIN', 'forbidden', { status })
  if (method === 'HEAD' && status === 404) return new RelayError('NOT_FOUND', 'not found', { status })
  if (method === 'HEAD' && status === 401) return new RelayError('UNAUTHENTICATED', 'not authenticated', { status })
  return unexpected(status, `HTTP ${status} ${response.statusText}`.trim(), {}, headerMs)
}

function unexpected(
  status: number,
  message: string,
  details: Readonly<Record<string, unknown>>,
  retryAfterMs: number | null,
): RelayError {
  const retry = status === 429 || status >= 500 ? 'later' : 'never'
  return new RelayError('UNEXPECTED_ANSWER', message, { status, details, retryAfterMs, retry })
}

function errorBody(text: string): ErrorBody | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'errorCode' in value ? (value as ErrorBody) : null
  } catch {
    return null
  }
}

/** Returns the error for a failed fetch: the reason of the signal, or an error with the code NETWORK. */
function failure(error: unknown, signal?: AbortSignal | null): unknown {
  if (signal?.aborted) return signal.reason
  const message = error instanceof Error ? error.message : String(error)
  return new RelayError('NETWORK', `the relay did not answer: ${message}`, { cause: error })
}

function jsonOf(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new RelayError('UNEXPECTED_ANSWER', 'the answer is no JSON; is this the address of the relay?', { retry: 'never' })
  }
}

function queryOf(query: RelayRequest['query']): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) given.set(name, String(value))
  return given.size === 0 ? '' : `?${given}`
}

/** Settles as `promise` does; rejects with the reason of the signal when the signal is aborted first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  // When the signal was already aborted, nobody handles `promise`; an unhandled rejection would end a Node process.
  promise.catch(() => {})
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason)
    if (signal.aborted) return aborted()
    signal.addEventListener('abort', aborted, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted))
  })
}
