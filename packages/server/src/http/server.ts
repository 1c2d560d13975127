import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { RelayError } from '../kernel/errors.ts'
import { newId, type Random } from '../kernel/ids.ts'
import { createRoundTurns } from '../kernel/round-turns.ts'
import type { App } from './app.ts'
import { commonHeaders, requestIdOf } from './app.ts'
import { type CapOptions, type ConnectionCap, createConnectionCap, NO_CAP, SPARE_CONNECTIONS } from './connection-cap.ts'
import { createLingeringClose, LINGER_LIMITS, type LingerLimits } from './lingering-close.ts'
import { CONNECTION_LIMITS, type ConnectionLimits, createOpenConnections } from './open-connections.ts'
import { headerOf } from './request-headers.ts'
import { isReadableHost, isReadableTarget } from './request-target.ts'
import { type CommonHeaders, errorAnswer, rawErrorAnswer } from './respond.ts'
import { writeAnswer } from './write-answer.ts'

export interface HttpServerOptions {
  readonly app: App
  /**
   * Called for every WebSocket upgrade, with the headers for an answer that refuses it. Offers of other upgrades are ignored, as HTTP allows.
   */
  readonly onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer, common: CommonHeaders) => void
  /** Answers a request before the app sees it, and returns whether it did. */
  readonly beside?: (incoming: IncomingMessage, outgoing: ServerResponse) => boolean
  readonly corsOrigins: readonly string[]
  readonly random: Random
  readonly timeouts?: HttpTimeouts
  readonly linger?: LingerLimits
  readonly connections?: ConnectionLimits
  /** Limit on connections served at a time; no limit when absent. [H11] */
  readonly cap?: CapOptions
}

/** How long a connection may keep the relay waiting. */
export interface HttpTimeouts {
  /** Time for the whole header block. */
  readonly headersMs: number
  /** A connection on which nothing is read or written for this long ends. Upgraded sockets are exempt. */
  readonly stallMs: number
}

export interface HttpServer {
  /** Binds the listener; port 0 takes a free one. Resolves with the bound address; rejects when the address is in use. */
  listen(address: { readonly host: string; readonly port: number }): Promise<AddressInfo>
  /**
   * Resolves when every request in progress was answered and its client had time to take the answer. The listener stays
   * open: health still answers. [LIFE-28]
   */
  finishRequests(): Promise<void>
  /** Number of requests without an answer. A request whose client is still reading the answer has one. */
  unanswered(): number
  /** Stops listening and cuts the remaining connections. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Limits of the listener where they differ from node's defaults. [H1, REST-7] */
const SETTINGS = {
  maxHeaderSize: 32 * 1024,
  // A body may take any time as long as it keeps its pace. [REST-7]
  requestTimeout: 0,
  keepAliveTimeout: 15_000,
  // The app itself refuses a request without Host, with a body like every other error. [REST-2]
  requireHostHeader: false,
  insecureHTTPParser: false,
}
const TIMEOUTS: HttpTimeouts = { headersMs: 15_000, stallMs: 60_000 }
/** Connections that the system queues until the relay accepts them. Above this number clients wait for a second. */
const BACKLOG = 4_096
const REFUSALS_PER_ROUND = 32
const END_OF_HEADERS = '\r\n\r\n'
/** Retry-After of a refusal by a full listener. */
const FULL_RETRY_MS = 5_000

/** Makes a listener for the REST app. Binds nothing before `listen`. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  // The error answer to a request that cannot be parsed; its connection then ends.
  const errorContext = () => {
    const requestId = newId('req-', 16, options.random)
    const common = { ...commonHeaders(requestId, options.corsOrigins, undefined), Connection: 'close' }
    return { requestId, common }
  }
  const commonOf = (request: IncomingMessage): CommonHeaders =>
    commonHeaders(
      requestIdOf(headerOf(request, 'x-request-id'), options.random),
      options.corsOrigins,
      headerOf(request, 'origin'),
    )
  const { headersMs, stallMs } = options.timeouts ?? TIMEOUTS
  const server = createServer({
    ...SETTINGS,
    headersTimeout: headersMs,
    connectionsCheckingInterval: Math.ceil(headersMs / 3),
    // Some clients offer HTTP/2 in clear text with their first request; they are answered over HTTP/1.1.
    shouldUpgradeCallback: ({ headers }) => options.onUpgrade !== undefined && headers.upgrade?.toLowerCase() === 'websocket',
  })
  // By default Node silently drops headers beyond a count, perhaps a condition or a credential. The size of the header block is limited
  // instead. [REST-7, REST-19]
  server.maxHeadersCount = 0
  server.timeout = stallMs
  const inProgress = new Map<ServerResponse, Promise<void>>()
  const lingering = createLingeringClose(options.linger ?? LINGER_LIMITS)

  const connections = createOpenConnections(options.connections ?? CONNECTION_LIMITS)
  const cap = capConnections(server, options.cap ?? NO_CAP, {
    served(socket) {
      connections.idle(socket)
      socket.once('close', () => connections.busy(socket))
    },
    refusal: () => rawErrorAnswer(full(), errorContext()),
  })
  const refusals = createRoundTurns({ perRound: REFUSALS_PER_ROUND })

  const accept = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { socket } = incoming
    if (lingering.has(socket) || !cap.takesRequest(socket, outgoing)) return
    connections.busy(socket)
    outgoing.once('close', () => connections.idle(socket))
    lingering.guard(incoming, outgoing)
    const closed = new Promise((resolve) => outgoing.once('close', resolve)).then(() => lingering.ended(socket))
    inProgress.set(outgoing, closed)
    void closed.then(() => inProgress.delete(outgoing))
    if (options.beside?.(incoming, outgoing) === true) return
    const { url = '', headers } = incoming
    if (isReadableTarget(url) && isReadableHost(headers.host ?? '')) void options.app(incoming, outgoing)
    else writeAnswer(outgoing, errorAnswer(unreadable(), errorContext()))
  }
  server.on('request', accept)
  // `100 Continue` is sent only when the body is read, so that a refusal saves the client the upload. [REST-7]
  server.on('checkContinue', accept)
  // An unknown expectation is ignored; Node would answer 417 without a body.
  server.on('checkExpectation', accept)
  const { onUpgrade } = options
  if (onUpgrade) {
    server.on('upgrade', (request, socket, head) => {
      connections.busy(request.socket)
      if (lingering.has(request.socket) || cap.isAbove(request.socket)) socket.destroy()
      else onUpgrade(request, socket, head, commonOf(request))
    })
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET') return void socket.destroy()
    const refuse = (): void => lingering.refuse(socket as Socket, () => rawErrorAnswer(parserError(error.code), errorContext()))
    refusals.run((socket as Socket).remoteAddress ?? '', refuse)
  })

  return {
    listen: (address) => listening(server, address),
    async finishRequests() {
      await Promise.all(inProgress.values())
    },
    unanswered: () => [...inProgress.keys()].filter(({ headersSent }) => !headersSent).length,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      cap[Symbol.dispose]()
      await closed
    },
  }
}

/** Puts a cap in front of the HTTP parser of a server. `served` is called with each connection that the parser gets. */
function capConnections(
  server: Server,
  options: CapOptions,
  { served, refusal }: { readonly served: (socket: Socket) => void; readonly refusal: () => string },
): ConnectionCap {
  // The only listener so far is Node's own, which makes a parser for the connection.
  const parse = server.listeners('connection')[0] as (this: Server, socket: Socket) => void
  const cap = createConnectionCap(options, {
    serve(socket) {
      parse.call(server, socket)
      served(socket)
    },
    refusal(request) {
      const answer = refusal()
      const isHead = request?.toString('latin1', 0, 5) === 'HEAD '
      return isHead ? answer.slice(0, answer.indexOf(END_OF_HEADERS) + END_OF_HEADERS.length) : answer
    },
  })
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => cap.take(socket))
  server.maxConnections = options.most + SPARE_CONNECTIONS
  server.on('drop', options.onRefused)
  return cap
}

function full(): RelayError {
  return new RelayError('UNAVAILABLE', 'The relay has all the connections that it may have; try again in some seconds.', {
    retryAfterMs: FULL_RETRY_MS,
  })
}

function unreadable(): RelayError {
  return new RelayError('BAD_REQUEST', 'The request line or Host header is not valid.', { field: 'Host' })
}

function parserError(code: string | undefined): RelayError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new RelayError('HEADERS_TOO_LARGE', `The header block exceeds ${SETTINGS.maxHeaderSize} bytes.`)
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new RelayError('BAD_REQUEST', 'The request did not arrive in time.', { field: 'request' })
  return new RelayError('BAD_REQUEST', 'The request is not valid HTTP.', { field: 'request' })
}

function listening(server: Server, address: { readonly host: string; readonly port: number }): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port: address.port, host: address.host, backlog: BACKLOG }, () => {
      server.off('error', reject)
      resolve(server.address() as AddressInfo)
    })
  })
}
