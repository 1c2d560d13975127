import { createServer, request as requestOf, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer, type RawData } from 'ws'

/** A proxy between the pages and the relay. It forwards requests, and frames one by one, so that a test can hold some. */
export interface ConsoleOrigin extends AsyncDisposable {
  /** For example `http://127.0.0.1:34567`. */
  readonly origin: string
  /** Holds frames of this tag from the relay, on all connections, until `release`. */
  hold(tag: number): void
  /** Number of frames that are held now. */
  readonly held: number
  release(): void
  /** Number of frames of this tag from the relay that were passed on. */
  passed(tag: number): number
  /** Ends every connection and refuses new ones until `mend`, as when the relay is away. */
  cut(): void
  mend(): void
}

/** Starts the proxy. `relayUrl` returns for example `http://127.0.0.1:9876`; the relay may be away for a time. */
export async function openConsoleOrigin(relayUrl: () => string): Promise<ConsoleOrigin> {
  const frames = new HeldFrames()
  let isCut = false
  const server = createServer((request, response) => {
    if (isCut) response.destroy()
    else forward(request, response, relayUrl())
  })
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (isCut) return void socket.destroy()
    const far = new WebSocket(relayUrl().replace('http', 'ws') + (request.url ?? ''), { perMessageDeflate: false })
    far.once('error', () => socket.destroy())
    far.once('open', () => sockets.handleUpgrade(request, socket, head, (near) => relayFrames(near, far, frames)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const endAll = (): void => {
    for (const socket of sockets.clients) socket.terminate()
    server.closeAllConnections()
  }
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold: (tag) => frames.hold(tag),
    get held() {
      return frames.held
    },
    release: () => frames.release(),
    passed: (tag) => frames.passed(tag),
    cut() {
      isCut = true
      endAll()
    },
    mend() {
      isCut = false
    },
    async [Symbol.asyncDispose]() {
      endAll()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The frames on their way to pages, some of them held. Frames of one connection keep their order only within a tag. */
class HeldFrames {
  #tag: number | null = null
  #waiting: (() => void)[] = []
  readonly #passed = new Map<number, number>()

  get held(): number {
    return this.#waiting.length
  }

  hold(tag: number): void {
    this.#tag = tag
  }

  release(): void {
    this.#tag = null
    const waiting = this.#waiting
    this.#waiting = []
    for (const send of waiting) send()
  }

  passed(tag: number): number {
    return this.#passed.get(tag) ?? 0
  }

  pass(frame: Buffer, send: () => void): void {
    const tag = frame[0] ?? -1
    const counted = (): void => {
      this.#passed.set(tag, this.passed(tag) + 1)
      send()
    }
    if (tag === this.#tag) this.#waiting.push(counted)
    else counted()
  }
}

function relayFrames(near: WebSocket, far: WebSocket, frames: HeldFrames): void {
  const sendTo = (socket: WebSocket, data: RawData, binary: boolean): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(data, { binary })
  }
  near.on('message', (data, binary) => sendTo(far, data, binary))
  far.on('message', (data, binary) => frames.pass(data as Buffer, () => sendTo(near, data, binary)))
  near.on('close', () => far.terminate())
  far.on('close', (code, reason) => {
    // Codes 1005 and 1006 mean that no close frame came; they cannot be sent.
    if (code === 1005 || code === 1006) near.terminate()
    else near.close(code, reason)
  })
  for (const socket of [near, far]) socket.on('error', () => undefined)
}

function forward(request: IncomingMessage, response: ServerResponse, relayUrl: string): void {
  const { method, headers, url = '/' } = request
  const onward = requestOf(relayUrl + url, { method, headers: { ...headers, host: new URL(relayUrl).host } }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  onward.on('error', () => response.destroy())
  request.pipe(onward)
}
