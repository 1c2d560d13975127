import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'
import { MAX_FRAME_BYTES } from './link-frames.ts'

/** The only file of the links that uses the WebSocket library. */

export const LINK_PATH = '/link'
export const LINK_PROTOCOL = 'docrelay-link.1'

/** A connection may send at most this many bytes before it has proved the secret. The messages of a handshake are far shorter. */
const UNPROVEN_BYTES = 4 * 1024
/** Limits for received frames. A node sends each frame as one fragment, which arrives in few chunks. */
const MAX_FRAGMENTS = 64
const MAX_BUFFERED_CHUNKS = 256

export interface LinkSocketEvents {
  message(bytes: Uint8Array): void
  /** Called once; no other event follows. */
  closed(): void
}

/** A WebSocket between two nodes. Its messages are binary; a text message ends the socket. */
export interface LinkSocket {
  /** Sends events to `events` from now on; a second call replaces the listener of the first. */
  hear(events: LinkSocketEvents): void
  /** Does nothing once the socket is closed. */
  send(bytes: Uint8Array): void
  /** The number of bytes that were sent and have not left this process yet. */
  bufferedBytes(): number
  /** Must be called when the other side has proved the secret. Ends the limit on the bytes of the other side. */
  trust(): void
  /** Ends the socket when all sent bytes have left. */
  close(): void
  /** Ends the socket now. */
  destroy(): void
}

/** Dials a node. `closed` is called when the node has not answered after `handshakeMs`. */
export function dialSocket(linkUrl: string, handshakeMs: number): LinkSocket {
  const options = {
    ...SHARED,
    handshakeTimeout: handshakeMs,
    followRedirects: false,
    // Masks protect proxies from data that browsers choose. Sealed frames look random, so a zero mask saves that work.
    generateMask: (mask: Buffer) => void mask.fill(0),
  }
  const url = new URL(linkUrl)
  url.pathname = `${url.pathname.replace(/\/$/, '')}${LINK_PATH}`
  return new Socket(new WebSocket(url, [LINK_PROTOCOL], options))
}

const SHARED = {
  perMessageDeflate: false,
  maxPayload: MAX_FRAME_BYTES,
  autoPong: false,
  maxFragments: MAX_FRAGMENTS,
  maxBufferedChunks: MAX_BUFFERED_CHUNKS,
  closeTimeout: 1_000,
} as const

/** Returns a handler that turns upgrade requests into link sockets. The handler closes the connection of any other request. */
export function createUpgrades(
  opened: (socket: LinkSocket, raw: Duplex) => void,
): (request: IncomingMessage, raw: Duplex, head: Buffer) => void {
  const server = new WebSocketServer({
    ...SHARED,
    noServer: true,
    clientTracking: false,
    handleProtocols: (protocols) => protocols.has(LINK_PROTOCOL) && LINK_PROTOCOL,
  })
  return (request, raw, head) => {
    const offered = request.headers['sec-websocket-protocol']?.split(',').map((protocol) => protocol.trim())
    if (request.url !== LINK_PATH || offered?.includes(LINK_PROTOCOL) !== true) {
      raw.destroy()
      return
    }
    server.handleUpgrade(request, raw, head, (webSocket) => opened(new Socket(webSocket, raw), raw))
  }
}

class Socket implements LinkSocket {
  readonly #webSocket: WebSocket
  #events: LinkSocketEvents | null = null
  #trust: () => void = () => undefined

  /** `raw`: the TCP socket of an accepted connection; its bytes are counted until `trust`. */
  constructor(webSocket: WebSocket, raw?: Duplex) {
    this.#webSocket = webSocket
    if (raw !== undefined) {
      let bytes = 0
      const count = (chunk: Buffer): void => {
        bytes += chunk.length
        if (bytes > UNPROVEN_BYTES) raw.destroy()
      }
      raw.on('data', count)
      this.#trust = () => raw.off('data', count)
    }
    webSocket.on('message', (data, isBinary) => {
      if (!isBinary || !(data instanceof Uint8Array)) this.destroy()
      else this.#events?.message(data)
    })
    // `close` follows every error.
    webSocket.on('error', () => undefined)
    webSocket.once('close', () => this.#events?.closed())
  }

  hear(events: LinkSocketEvents): void {
    this.#events = events
  }

  send(bytes: Uint8Array): void {
    if (this.#webSocket.readyState === WebSocket.OPEN) this.#webSocket.send(bytes, NO_ERROR)
  }

  bufferedBytes(): number {
    return this.#webSocket.bufferedAmount
  }

  trust(): void {
    this.#trust()
  }

  close(): void {
    this.#webSocket.close()
  }

  destroy(): void {
    this.#webSocket.terminate()
  }
}

/** Callback for writes that ignores errors: `close` follows every failed write. */
const NO_ERROR = (): void => undefined
