import { awarenessFrame, chunkFrames, jsonFrame, readJson } from '@docrelay/protocol/codec'
import { CHUNK_PAYLOAD_BYTES, type ErrorFrame, TAG } from '@docrelay/protocol/frames'
import { type Environment, environmentWith, type SocketLike } from './environment.ts'
import { RelayError } from './errors.ts'
import { closeError } from './live/document-state.ts'
import { type ConnectionStatus, SyncConnection } from './sync/sync-connection.ts'
import type { TokenCallback } from './tokens.ts'

export interface RelayWebSocketOptions {
  /** The token callback, as in `createRelay`. */
  readonly token: TokenCallback
  /** The workspace to act in, for a token that names several. [AUTH-6] */
  readonly workspace?: string
  /** Called for every refusal of the relay, for example of an edit; the provider itself shows none of them. */
  readonly onError?: (error: RelayError) => void
  /** For platforms without WebSocket, such as Node 20: the class of the package `ws`, for example. */
  readonly WebSocket?: new (
    url: string,
  ) => object
  readonly environment?: Partial<Environment>
}

/** Refusals after which the relay keeps the socket open, bound to no document. */
const ENDED = ['ERR_UNKNOWN_DOC', 'ERR_DELETED', 'ERR_VIEW_FORBIDDEN']
/** Codes 4400 to 4499 end the attempts of a provider. */
const GONE = 4404
const TRY_AGAIN = 1013
/** Interval of the empty presence messages. A provider that hears nothing for 30 s treats its connection as lost. */
const HEARD_EVERY_MS = 15_000
/** An awareness message about nobody, in the form that a provider reads. */
const NOTHING_NEW = awarenessFrame(Uint8Array.of(0))
/** How long a stopped provider must wait when its application connects it again. */
const AFTER_STOP_MS = 5_000

/** How the next socket for a document starts. */
interface NextStart {
  /** The earliest time at which it may connect (ms since 1970). */
  readonly notBefore: number
  /** Whether the socket needs a new token, because the last one was refused. */
  readonly fresh: boolean
}

/**
 * Returns a class to give to a `WebsocketProvider` of y-websocket as `WebSocketPolyfill`, with the address of `/ws` as its server and
 * the id of the document as its room. It speaks the relay's protocol: it authenticates, renews the token, joins the document, cuts large
 * messages into chunks, and waits as long as the relay asks for before it comes back. When the relay has no such document for the person,
 * it closes with a code from 4400 to 4499, at which the provider stops and emits `closed`.
 */
export function relayWebSocket(options: RelayWebSocketOptions): typeof WebSocket {
  const { WebSocket: Socket } = options
  const given = Socket && { openSocket: (url: string) => new Socket(url) as SocketLike }
  const environment = environmentWith({ ...given, ...options.environment })
  /**
   * What the end of the last socket decided for the next one, by document address. A provider makes a new socket for every attempt, and one class
   * may serve many independent documents.
   */
  const nextStarts = new Map<string, NextStart>()

  class RelayWebSocket {
    static readonly CONNECTING = 0
    static readonly OPEN = 1
    static readonly CLOSING = 2
    static readonly CLOSED = 3
    readonly CONNECTING = 0
    readonly OPEN = 1
    readonly CLOSING = 2
    readonly CLOSED = 3
    binaryType = 'arraybuffer'
    readyState = 0
    onopen: ((event: object) => void) | null = null
    onmessage: ((event: { readonly data: ArrayBuffer }) => void) | null = null
    onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null = null
    onerror: ((event: object) => void) | null = null
    readonly url: string
    readonly #docId: string
    readonly #connection: SyncConnection
    /** Address of the document without query parameters, which may change between attempts. */
    readonly #address: string
    #maxMessageBytes = CHUNK_PAYLOAD_BYTES
    #cancelTimer: () => void
    /** Whether this socket asked for a fresh token, which the relay has not accepted yet. */
    #triesFresh = false
    /** Whether the relay has accepted the token. From then on heartbeats check the connection. */
    #isAccepted = false

    constructor(address: string) {
      this.url = address
      const url = new URL(address)
      url.search = ''
      this.#address = url.href
      const path = url.pathname.split('/')
      this.#docId = decodeURIComponent(path.pop() ?? '')
      url.pathname = path.join('/')
      this.#connection = new SyncConnection({
        url: url.href,
        docId: this.#docId,
        token: ({ fresh: isRenewal }) => {
          if (!isRenewal) this.#triesFresh = nextStarts.get(this.#address)?.fresh ?? false
          return options.token({ fresh: isRenewal || this.#triesFresh })
        },
        environment,
        ...(options.workspace !== undefined && { workspace: options.workspace }),
        onStatus: (status) => this.#changed(status),
        onOpen: () => this.#joined(),
        onFrame: (tag, message) => this.#received(tag, message),
      })
      const { notBefore = 0 } = nextStarts.get(this.#address) ?? {}
      this.#cancelTimer = environment.after(Math.max(0, notBefore - environment.now()), () => this.#connection.connect())
    }

    send(data: Uint8Array<ArrayBuffer> | ArrayBuffer): void {
      const frame = data instanceof Uint8Array ? data : new Uint8Array(data)
      const isAwareness = frame[0] === TAG.awareness
      if (this.readyState !== 1 || (frame[0] !== TAG.sync && !isAwareness)) return
      // Servers of y-websocket echo presence. Where timers seldom run, as in a background page, the echo arrives before the provider checks.
      if (isAwareness) queueMicrotask(() => this.#tell(frame))
      if (frame.length <= this.#maxMessageBytes) return this.#connection.send(frame)
      if (isAwareness) return
      const messageId = Uint8Array.from({ length: 16 }, () => Math.floor(environment.random() * 256))
      const pieceBytes = Math.min(CHUNK_PAYLOAD_BYTES, this.#maxMessageBytes)
      for (const chunk of chunkFrames(frame, messageId, pieceBytes)) this.#connection.send(chunk)
    }

    close(): void {
      this.#cancelTimer()
      this.#connection.close()
      if (this.readyState === 3) return
      this.readyState = 3
      this.onclose?.({ code: 1000, reason: '' })
    }

    #tell(frame: Uint8Array): void {
      if (this.readyState === 1 && this.#isAccepted) this.onmessage?.({ data: new Uint8Array(frame).buffer })
    }

    /**
     * Sends the provider an empty presence every 15 s, so that it does not treat a quiet connection as lost. The provider knows no heartbeats,
     * and a relay sends nothing else to a client that is alone in a document.
     */
    #keepHeard(): void {
      this.#cancelTimer = environment.after(HEARD_EVERY_MS, () => {
        this.#tell(NOTHING_NEW)
        this.#keepHeard()
      })
    }

    #joined(): void {
      this.#connection.send(jsonFrame(TAG.joinDoc, { docId: this.#docId }))
      this.readyState = 1
      this.onopen?.({})
    }

    #received(tag: number, message: Uint8Array): void {
      if (tag === TAG.sync || tag === TAG.awareness) {
        const frame = new Uint8Array(message.length + 1)
        frame[0] = tag
        frame.set(message, 1)
        return this.onmessage?.({ data: frame.buffer })
      }
      if (tag === TAG.docEvent) {
        const event = readJson(message) as { readonly eventType: string; readonly docId: string }
        if (event.eventType === 'deleted' && event.docId === this.#docId) this.#ended({ code: GONE, reason: 'ERR_DELETED' })
      }
      if (tag !== TAG.error) return
      const { code, error, ...details } = readJson(message) as ErrorFrame
      options.onError?.(new RelayError(code, error, { details: { ...details } }))
      if (ENDED.includes(code)) this.#ended({ code: GONE, reason: code })
    }

    /** Ends this socket instead of reconnecting, because the provider reconnects by itself. Only the delay of the connection is used. */
    #changed(status: ConnectionStatus): void {
      if (status.kind === 'authenticated') {
        this.#triesFresh = false
        this.#isAccepted = true
        this.#keepHeard()
        nextStarts.delete(this.#address)
        this.#maxMessageBytes = status.session.maxMessageSize ?? CHUNK_PAYLOAD_BYTES
        return
      }
      if (status.kind === 'connecting') return
      const { code, reason } = status
      options.onError?.(closeError(status))
      if (status.kind === 'stopped' || (code === 4401 && this.#triesFresh))
        return this.#ended({ code: code >= 4400 && code < 4500 ? code : GONE, reason }, { waitMs: AFTER_STOP_MS })
      // A token that was refused once is renewed. A full workspace may have room again later.
      const next = { waitMs: status.delayMs, fresh: code === 4401 }
      this.#ended({ code: code >= 4400 && code < 4500 ? TRY_AGAIN : code, reason }, next)
    }

    #ended(event: { readonly code: number; readonly reason: string }, { waitMs = 0, fresh = false } = {}): void {
      nextStarts.set(this.#address, { notBefore: environment.now() + waitMs, fresh })
      this.#cancelTimer()
      this.#connection.close()
      this.readyState = 3
      this.onerror?.({ type: 'error', message: event.reason })
      this.onclose?.(event)
    }
  }
  return RelayWebSocket as unknown as typeof WebSocket
}
