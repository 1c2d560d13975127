import { HEARTBEAT_FRAME, jsonFrame, readJson } from '../codec.ts'
import { CLIENT_CLOSE } from '../codes.ts'
import { type AuthResponseFrame, TAG } from '../frames.ts'
import { PROTOCOL_MINOR, PROTOCOL_VERSION } from '../version.ts'
import type { Environment, SocketLike } from './environment.ts'
import { planReconnect } from './reconnect.ts'

export type ConnectionStatus =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'authenticated'; readonly session: AuthResponseFrame }
  /** Tries again by itself after `delayMs`. */
  | { readonly kind: 'waiting'; readonly delayMs: number; readonly code: number; readonly reason: string }
  /** Does not try again: the code says why. `connect()` starts anew. */
  | { readonly kind: 'stopped'; readonly code: number; readonly reason: string }

export interface ConnectionOptions {
  /** `ws://host:port/ws`. */
  readonly url: string
  readonly workspace?: string
  /** `fresh` asks for a token that differs from the last one, which was refused or is about to expire. */
  readonly token: (request: { readonly fresh: boolean }) => string | Promise<string>
  readonly environment: Environment
  readonly onStatus: (status: ConnectionStatus) => void
  /** The socket is open and AUTH is on its way: whatever is sent now is handled after it, in order. [WS-11] */
  readonly onOpen: () => void
  /** Every frame but AUTH_RESPONSE and HEARTBEAT. */
  readonly onFrame: (tag: number, message: Uint8Array) => void
}

const HEARTBEAT_EVERY_MS = 15_000
const HEARTBEAT_TIMEOUT_MS = 5_000
const RENEW_BEFORE_MS = 60_000

/** One authenticated socket kept alive: connects, authenticates, beats, renews its token, and comes back with spread delays. */
export class SyncConnection {
  readonly #options: ConnectionOptions
  #socket: SocketLike | null = null
  #failures = 0
  #authenticated = false
  #mayRenew = true
  #fresh = false
  readonly #cancels = new Map<'reconnect' | 'heartbeat' | 'echo' | 'renewal', () => void>()

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  connect(): void {
    this.close()
    this.#failures = 0
    this.#mayRenew = true
    void this.#open()
  }

  /** Closes without coming back; nothing is reported. */
  close(): void {
    this.#cancelAll()
    const socket = this.#socket
    this.#socket = null
    if (!socket) return
    silence(socket)
    socket.close(1000)
  }

  /** Drops the socket as a failed one: it comes back by itself. */
  reconnect(code: number, reason: string): void {
    const socket = this.#socket
    if (!socket) return
    silence(socket)
    socket.close(code === 1000 || (code >= 3000 && code < 5000) ? code : CLIENT_CLOSE.reconnect)
    this.#closed(code, reason)
  }

  get canSend(): boolean {
    return this.#socket !== null && this.#socket.readyState === 1
  }

  send(frame: Uint8Array): void {
    this.#socket?.send(frame as Uint8Array<ArrayBuffer>)
  }

  async #open(): Promise<void> {
    this.#options.onStatus({ kind: 'connecting' })
    const token = await this.#token(this.#fresh)
    if (token === null || this.#socket) return
    this.#fresh = false
    const url = new URL(this.#options.url)
    url.searchParams.set('protocolVersion', `${PROTOCOL_VERSION}.${PROTOCOL_MINOR}`)
    if (this.#options.workspace !== undefined) url.searchParams.set('workspace', this.#options.workspace)
    const socket = this.#options.environment.openSocket(url.href)
    socket.binaryType = 'arraybuffer'
    this.#socket = socket
    this.#authenticated = false
    socket.onopen = () => {
      this.#authenticate(token)
      this.#options.onOpen()
    }
    socket.onmessage = ({ data }) => {
      if (data instanceof ArrayBuffer && data.byteLength > 0) this.#received(new Uint8Array(data))
    }
    socket.onerror = () => {}
    socket.onclose = ({ code, reason }) => this.#closed(code, reason)
  }

  async #token(fresh: boolean): Promise<string | null> {
    try {
      return await this.#options.token({ fresh })
    } catch (error) {
      this.#closed(1012, error instanceof Error ? error.message : 'no token')
      return null
    }
  }

  #authenticate(token: string): void {
    this.send(jsonFrame(TAG.auth, { token, features: ['ack'] }))
  }

  #received(frame: Uint8Array): void {
    const tag = frame[0] as number
    const message = frame.subarray(1)
    if (tag === TAG.heartbeat) return this.#cancel('echo')
    if (tag !== TAG.authResponse) return this.#options.onFrame(tag, message)
    const response = readJson(message) as AuthResponseFrame
    // A failed first AUTH is followed by a close whose code decides; a failed renewal leaves the old token in force.
    if (!response.success) return
    this.#planRenewal(response)
    if (this.#authenticated) return
    this.#authenticated = true
    this.#failures = 0
    this.#mayRenew = true
    this.#beat()
    this.#options.onStatus({ kind: 'authenticated', session: response })
  }

  #planRenewal(response: AuthResponseFrame): void {
    if (response.tokenExpiresAt === undefined) return
    const leftMs = response.tokenExpiresAt - this.#options.environment.now()
    // A renewal at most every second, and never further ahead than a timer can count.
    const inMs = Math.min(Math.max(leftMs - Math.min(RENEW_BEFORE_MS, leftMs / 2), 1_000), 2 ** 31 - 1)
    this.#after('renewal', inMs, async () => {
      const token = await this.#options.token({ fresh: true })
      if (this.canSend) this.#authenticate(token)
    })
  }

  #beat(): void {
    this.#after('heartbeat', HEARTBEAT_EVERY_MS, () => {
      if (!this.canSend) return
      this.send(HEARTBEAT_FRAME)
      this.#after('echo', HEARTBEAT_TIMEOUT_MS, () => this.reconnect(CLIENT_CLOSE.heartbeatTimeout, 'heartbeat'))
      this.#beat()
    })
  }

  #closed(code: number, reason: string): void {
    this.#cancelAll()
    this.#socket = null
    this.#failures++
    const plan = planReconnect({ code, reason }, this.#failures, this.#mayRenew, this.#options.environment.random())
    if (plan.kind === 'stop') return this.#options.onStatus({ kind: 'stopped', code, reason })
    if (plan.kind === 'renew') {
      this.#mayRenew = false
      this.#fresh = true
    }
    this.#options.onStatus({ kind: 'waiting', delayMs: plan.delayMs, code, reason })
    this.#after('reconnect', plan.delayMs, () => void this.#open())
  }

  #after(name: 'reconnect' | 'heartbeat' | 'echo' | 'renewal', ms: number, run: () => void | Promise<void>): void {
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

  #cancel(name: 'reconnect' | 'heartbeat' | 'echo' | 'renewal'): void {
    this.#cancels.get(name)?.()
    this.#cancels.delete(name)
  }

  #cancelAll(): void {
    for (const cancel of this.#cancels.values()) cancel()
    this.#cancels.clear()
  }
}

function silence(socket: SocketLike): void {
  socket.onopen = null
  socket.onmessage = null
  socket.onclose = null
  socket.onerror = () => {}
}
