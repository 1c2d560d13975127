import { HEARTBEAT_FRAME, jsonFrame, readJson } from '@docrelay/protocol/codec'
import { CLIENT_CLOSE } from '@docrelay/protocol/codes'
import { type AuthResponseFrame, TAG } from '@docrelay/protocol/frames'
import { PROTOCOL_MINOR, PROTOCOL_VERSION } from '@docrelay/protocol/version'
import type { Environment, SocketLike } from '../environment.ts'
import { isNeedsSignIn, RelayError } from '../errors.ts'
import { TOKEN_MS, tokenLate } from '../tokens.ts'
import { planReconnect } from './reconnect.ts'
import { socketUrl } from './setup-error.ts'

export type ConnectionStatus =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'authenticated'; readonly session: AuthResponseFrame }
  /** The connection tries again by itself after `delayMs`. */
  | ({ readonly kind: 'waiting'; readonly delayMs: number } & Closed)
  /** The connection does not try again; `code` says why. `connect()` starts it again. */
  | ({ readonly kind: 'stopped' } & Closed)

/** Why there is no connection. */
export interface Closed {
  readonly code: number
  readonly reason: string
  /** What was wrong with the application's `token()`, when the token is the reason. */
  readonly error?: RelayError
}

export interface ConnectionOptions {
  /** `ws://host:port/ws`. */
  readonly url: string
  readonly workspace?: string
  /**
   * The document that the socket is for, sent in the URL. A load balancer can send all clients of a document to one node; the relay ignores it.
   * [WS-1]
   */
  readonly docId?: string
  /**
   * Returns a token. `fresh` asks for a token that differs from the last one, which was refused or is about to expire.
   * `NeedsSignIn` stops the connection; any other error counts as a failed attempt.
   */
  readonly token: (request: { readonly fresh: boolean }) => string | Promise<string>
  readonly environment: Environment
  readonly onStatus: (status: ConnectionStatus) => void
  /** Called when the socket is open and AUTH was sent. Frames sent now are handled after AUTH, in order. [WS-11] */
  readonly onOpen: () => void
  /** Called for every frame except AUTH_RESPONSE and HEARTBEAT. */
  readonly onFrame: (tag: number, message: Uint8Array) => void
  /** Whether a large message may be under way. A socket reports a message only when it is complete. Counts as false when absent. [WS-49] */
  readonly isTransferring?: () => boolean
}

const HEARTBEAT_EVERY_MS = 15_000
const HEARTBEAT_TIMEOUT_MS = 5_000
/** Time limit of an echo behind a large message. It doubles for the next attempt after each timeout. [WS-49] */
const TRANSFER_MS = 60_000
const LONGEST_TRANSFER_MS = 480_000
const RENEW_BEFORE_MS = 60_000
const SOONEST_RENEWAL_MS = 1_000
const LATEST_SOONEST_RENEWAL_MS = 60_000
/** Time limit from the opening of a socket to the relay's AUTH_RESPONSE: a platform may wait minutes for a server that does not answer. */
const OPEN_MS = 15_000

type Timer = 'reconnect' | 'heartbeat' | 'echo' | 'renewal' | 'token' | 'open' | 'refused'

/**
 * Keeps one authenticated socket open: connects, authenticates, answers heartbeats, renews its token, and reconnects
 * after spread delays.
 */
export class SyncConnection {
  readonly #options: ConnectionOptions
  #url = ''
  #socket: SocketLike | null = null
  #failures = 0
  #authenticated = false
  #mayRenew = true
  #fresh = false
  /** Whether the relay has sent anything since the last check for a heartbeat's echo. */
  #heard = false
  #transferMs = TRANSFER_MS
  /**
   * The shortest time to the next renewal of the token. It doubles each time that a token which the relay has just accepted is already expired by
   * the local clock. Such a clock is ahead, and without this the issuer would be asked every second for as long as the page is open.
   */
  #soonestRenewalMs = SOONEST_RENEWAL_MS
  /** Number of attempts and closes so far. A callback of an earlier attempt sees another number and does nothing. */
  #attempt = 0
  /** The platform's message about a socket that failed before it opened; empty in browsers, which give none. */
  #failure = ''
  readonly #cancels = new Map<Timer, () => void>()
  /** Stops listening for the platform's event that the network is back. */
  #endOnline: (() => void) | null = null

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /**
   * Opens the socket.
   *
   * @throws ClientSetupError when no socket can be opened with the given options
   */
  connect(): void {
    const url = socketUrl(this.#options.url, this.#options.environment)
    url.searchParams.set('protocolVersion', `${PROTOCOL_VERSION}.${PROTOCOL_MINOR}`)
    if (this.#options.workspace !== undefined) url.searchParams.set('workspace', this.#options.workspace)
    if (this.#options.docId !== undefined) url.searchParams.set('doc', this.#options.docId)
    this.#url = url.href
    this.close()
    this.#failures = 0
    this.#mayRenew = true
    this.#endOnline = this.#options.environment.onOnline?.(() => this.retryNow()) ?? null
    void this.#open()
  }

  /** Begins the next attempt at once, instead of waiting longer for the retry or for a relay that has not answered yet. */
  retryNow(): void {
    if (!this.#cancels.has('reconnect') && !this.#cancels.has('open')) return
    this.#cancelAll()
    this.#dropSocket(CLIENT_CLOSE.reconnect)
    void this.#open()
  }

  /** Closes the socket for good, without a report. */
  close(): void {
    this.#attempt++
    this.#cancelAll()
    this.#endOnline?.()
    this.#endOnline = null
    this.#dropSocket(1000)
  }

  /** Drops the socket as failed and reconnects. */
  reconnect(code: number, reason: string): void {
    if (!this.#socket) return
    this.#dropSocket(code === 1000 || (code >= 3000 && code < 5000) ? code : CLIENT_CLOSE.reconnect)
    this.#closed({ code, reason })
  }

  #dropSocket(code: number): void {
    const socket = this.#socket
    this.#socket = null
    if (!socket) return
    silence(socket)
    socket.close(code)
  }

  get canSend(): boolean {
    return this.#socket !== null && this.#socket.readyState === 1
  }

  send(frame: Uint8Array): void {
    this.#socket?.send(frame as Uint8Array<ArrayBuffer>)
  }

  async #open(): Promise<void> {
    const attempt = ++this.#attempt
    this.#options.onStatus({ kind: 'connecting' })
    // A listener may have closed the connection.
    if (attempt !== this.#attempt) return
    this.#after('token', TOKEN_MS, () => {
      this.#attempt++
      this.#closed(tokenFailure(tokenLate().message))
    })
    const answer = await this.#token(this.#fresh)
    if (attempt !== this.#attempt) return
    this.#cancel('token')
    if ('failure' in answer) return this.#closed(answer.failure)
    if ('needsSignIn' in answer)
      return this.#stopped({ code: 4401, reason: answer.needsSignIn.message, error: answer.needsSignIn })
    const { token } = answer
    if (!isToken(token)) return this.#stopped({ ...tokenFailure(notAToken(token)), code: 1006 })
    this.#fresh = false
    this.#failure = ''
    const socket = this.#openSocket()
    if (socket === null) return
    socket.binaryType = 'arraybuffer'
    this.#socket = socket
    this.#authenticated = false
    this.#giveUpAfter('open', `the relay did not answer within ${OPEN_MS / 1000} s`)
    socket.onopen = () => {
      this.#authenticate(token)
      this.#options.onOpen()
    }
    socket.onmessage = ({ data }) => {
      if (data instanceof ArrayBuffer && data.byteLength > 0) this.#received(new Uint8Array(data))
    }
    socket.onerror = (event: { readonly message?: unknown }) => {
      if (typeof event?.message === 'string') this.#failure = event.message
    }
    socket.onclose = ({ code, reason }) => this.#closed({ code, reason: reason === '' && code === 1006 ? this.#failure : reason })
  }

  /**
   * Opens a socket. A browser throws for some addresses, for example an insecure one from a secure page; trying again
   * would not help, so the result is `null`.
   */
  #openSocket(): SocketLike | null {
    try {
      return this.#options.environment.openSocket(this.#url)
    } catch (error) {
      this.#stopped({ code: 1006, reason: error instanceof Error ? error.message : String(error) })
      return null
    }
  }

  async #token(
    fresh: boolean,
  ): Promise<{ readonly token: unknown } | { readonly failure: Closed } | { readonly needsSignIn: RelayError }> {
    try {
      return { token: await this.#options.token({ fresh }) }
    } catch (error) {
      if (isNeedsSignIn(error)) return { needsSignIn: error }
      return { failure: tokenFailure(error instanceof Error ? error.message : 'no token', error) }
    }
  }

  #authenticate(token: string): void {
    this.send(jsonFrame(TAG.auth, { token, features: ['ack', 'joined'] }))
  }

  #received(frame: Uint8Array): void {
    const tag = frame[0] as number
    const message = frame.subarray(1)
    this.#heard = true
    if (tag === TAG.heartbeat) {
      this.#transferMs = TRANSFER_MS
      return this.#cancel('echo')
    }
    if (tag !== TAG.authResponse) return this.#options.onFrame(tag, message)
    const response = readJson(message) as AuthResponseFrame
    // After a failed first AUTH the relay closes, and the close code decides. After a failed renewal the old token
    // stays in force.
    if (!response.success) {
      if (this.#authenticated) return
      this.#cancel('open')
      // The close may come 10 s later. [WS-16]
      return this.#giveUpAfter('refused', response.error ?? 'the relay refused the token')
    }
    this.#planRenewal(response)
    if (this.#authenticated) return
    this.#authenticated = true
    this.#cancel('open')
    this.#failures = 0
    this.#mayRenew = true
    this.#beat()
    this.#options.onStatus({ kind: 'authenticated', session: response })
  }

  /** Drops the socket as lost when it has made no progress within the time limit. */
  #giveUpAfter(name: 'open' | 'refused', reason: string): void {
    this.#after(name, OPEN_MS, () => this.reconnect(1006, reason))
  }

  #planRenewal(response: AuthResponseFrame): void {
    if (response.tokenExpiresAt === undefined) return
    const leftMs = response.tokenExpiresAt - this.#options.environment.now()
    const wantedMs = leftMs - Math.min(RENEW_BEFORE_MS, leftMs / 2)
    // A timer holds at most 2^31 - 1 ms.
    const inMs = Math.min(Math.max(wantedMs, this.#soonestRenewalMs), 2 ** 31 - 1)
    const doubledMs = Math.min(2 * this.#soonestRenewalMs, LATEST_SOONEST_RENEWAL_MS)
    this.#soonestRenewalMs = wantedMs > SOONEST_RENEWAL_MS ? SOONEST_RENEWAL_MS : doubledMs
    this.#after('renewal', inMs, async () => {
      const token = await this.#options.token({ fresh: true })
      if (this.canSend && isToken(token)) this.#authenticate(token)
    })
  }

  #beat(): void {
    this.#after('heartbeat', HEARTBEAT_EVERY_MS, () => {
      if (!this.canSend) return
      this.send(HEARTBEAT_FRAME)
      if (!this.#cancels.has('echo')) this.#awaitEcho()
      this.#beat()
    })
  }

  /**
   * Waits for the echo of a heartbeat. On a slow link it comes behind everything else that is under way in either
   * direction, so only time in which nothing comes and nothing leaves counts: at most 5 s of it, and more while one large
   * message may be under way. [WS-49]
   */
  #awaitEcho(silentMs = 0): void {
    this.#heard = false
    const buffered = this.#socket?.bufferedAmount ?? 0
    this.#after('echo', HEARTBEAT_TIMEOUT_MS, () => {
      const moves = this.#heard || (this.#socket?.bufferedAmount ?? 0) < buffered
      const silent = moves ? 0 : silentMs + HEARTBEAT_TIMEOUT_MS
      const isTransferring = this.#options.isTransferring?.() ?? false
      if (silent < (isTransferring ? this.#transferMs : HEARTBEAT_TIMEOUT_MS)) return this.#awaitEcho(silent)
      if (isTransferring) this.#transferMs = Math.min(2 * this.#transferMs, LONGEST_TRANSFER_MS)
      this.reconnect(CLIENT_CLOSE.heartbeatTimeout, 'heartbeat')
    })
  }

  #stopped(closed: Closed): void {
    this.#options.onStatus({ kind: 'stopped', ...closed })
  }

  #closed(closed: Closed): void {
    this.#cancelAll()
    this.#socket = null
    this.#failures++
    const plan = planReconnect(closed, this.#failures, this.#mayRenew, this.#options.environment.random())
    if (plan.kind === 'stop') return this.#stopped(closed)
    if (plan.kind === 'renew') {
      this.#mayRenew = false
      this.#fresh = true
    }
    // Planned before the listener is called, because it may close the connection.
    this.#after('reconnect', plan.delayMs, () => void this.#open())
    this.#options.onStatus({ kind: 'waiting', delayMs: plan.delayMs, ...closed })
  }

  #after(name: Timer, ms: number, run: () => void | Promise<void>): void {
    this.#cancel(name)
    this.#cancels.set(
      name,
      this.#options.environment.after(ms, () => {
        this.#cancels.delete(name)
        // A rejected renewal changes nothing: the old token stays in force until the relay closes with 4401.
        void Promise.resolve(run()).catch(() => {})
      }),
    )
  }

  #cancel(name: Timer): void {
    this.#cancels.get(name)?.()
    this.#cancels.delete(name)
  }

  #cancelAll(): void {
    for (const cancel of this.#cancels.values()) cancel()
    this.#cancels.clear()
  }
}

function tokenFailure(reason: string, cause?: unknown): Closed {
  return { code: 1012, reason, error: new RelayError('TOKEN_FAILED', reason, { cause }) }
}

function isToken(token: unknown): token is string {
  return typeof token === 'string' && token !== ''
}

function notAToken(token: unknown): string {
  const what = token === '' ? 'an empty string' : token === null ? 'null' : `a value of type ${typeof token}`
  return `token() gave ${what}, which is no token`
}

function silence(socket: SocketLike): void {
  socket.onopen = null
  socket.onmessage = null
  socket.onclose = null
  socket.onerror = () => {}
}
