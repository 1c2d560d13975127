import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { RelayError } from '../kernel/errors.ts'
import { newId, type Random } from '../kernel/ids.ts'
import type { App } from './app.ts'
import { commonHeaders } from './app.ts'
import { createLingeringClose, LINGER_LIMITS, type LingerLimits } from './lingering-close.ts'
import { errorResponse, rawErrorResponse } from './respond.ts'

export interface HttpServerOptions {
  readonly app: Pick<App, 'fetch'>
  /** Gets every WebSocket upgrade of the listener; any other upgrade is an offer that HTTP allows to ignore. */
  readonly onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Answers a request itself and says so, before the app sees it. */
  readonly beside?: (incoming: IncomingMessage, outgoing: ServerResponse) => boolean
  readonly corsOrigins: readonly string[]
  readonly random: Random
  readonly timeouts?: HttpTimeouts
  readonly linger?: LingerLimits
}

/** How long a connection may keep the relay waiting. */
export interface HttpTimeouts {
  /** For the whole header block. */
  readonly headersMs: number
  /** Nothing read or written for so long ends a connection; upgraded sockets are no longer held to it. */
  readonly stallMs: number
}

export interface HttpServer {
  /** Binds; port 0 takes a free one. Resolves with the bound address, rejects when it is taken. */
  listen(address: { readonly host: string; readonly port: number }): Promise<AddressInfo>
  /** Resolves when every request that is in progress now has been answered, and its client had its time to take the answer. The listener stays open: health still answers. [LIFE-28] */
  finishRequests(): Promise<void>
  /** Stops listening and cuts what is left. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Limits of the listener; the defaults of node differ. [H1, REST-7] */
const SETTINGS = {
  maxHeaderSize: 32 * 1024,
  requestTimeout: 600_000,
  keepAliveTimeout: 15_000,
  // The app refuses a request without Host itself, with a body as every other error. [REST-2]
  requireHostHeader: false,
  insecureHTTPParser: false,
}
const TIMEOUTS: HttpTimeouts = { headersMs: 15_000, stallMs: 60_000 }
const MAX_HEADERS = 100
const MAX_CONNECTIONS = 10_000

/** A listener for the REST app. Nothing is bound until `listen`. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  // What cannot be understood ends the connection.
  const errorContext = () => {
    const requestId = newId('req-', 16, options.random)
    const common = { ...commonHeaders(requestId, options.corsOrigins, undefined), Connection: 'close' }
    return { requestId, common }
  }
  const listener = getRequestListener((request, env) => options.app.fetch(request, env), {
    hostname: 'localhost',
    // What nobody read of a body is `lingering`'s: this one would cut the connection after half a second.
    autoCleanupIncoming: false,
    // Reached only by a request target or host that is no URL: everything later is answered by the app.
    errorHandler: () => errorResponse(unreadable(), errorContext()),
  })
  const { headersMs, stallMs } = options.timeouts ?? TIMEOUTS
  const server = createServer({
    ...SETTINGS,
    headersTimeout: headersMs,
    connectionsCheckingInterval: headersMs / 3,
    // A client that offers HTTP/2 in clear text, as some do on every first request, is answered over HTTP/1.1.
    shouldUpgradeCallback: ({ headers }) => options.onUpgrade !== undefined && headers.upgrade?.toLowerCase() === 'websocket',
  })
  server.maxHeadersCount = MAX_HEADERS
  server.maxConnections = MAX_CONNECTIONS
  server.timeout = stallMs
  const inProgress = new Set<Promise<unknown>>()
  const lingering = createLingeringClose(options.linger ?? LINGER_LIMITS)

  const accept = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { socket } = incoming
    if (lingering.has(socket)) return
    lingering.guard(incoming, outgoing)
    const closed = new Promise((resolve) => outgoing.once('close', resolve)).then(() => lingering.ended(socket))
    inProgress.add(closed)
    void closed.then(() => inProgress.delete(closed))
    if (options.beside?.(incoming, outgoing) !== true) void listener(incoming, outgoing)
  }
  server.on('request', accept)
  // Who asks before sending is answered when the body is read, so that a refusal saves the upload. [REST-7]
  server.on('checkContinue', accept)
  // An expectation nobody knows is ignored; node would answer 417 without a body.
  server.on('checkExpectation', accept)
  const { onUpgrade } = options
  if (onUpgrade) {
    server.on('upgrade', (request, socket, head) => {
      if (lingering.has(request.socket)) socket.destroy()
      else onUpgrade(request, socket, head)
    })
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy()
    else socket.end(rawErrorResponse(parserError(error.code), errorContext()))
  })

  return {
    listen: (address) => listening(server, address),
    async finishRequests() {
      await Promise.all(inProgress)
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

function unreadable(): RelayError {
  return new RelayError('BAD_REQUEST', 'The request line or Host header is not valid.', { field: 'Host' })
}

function parserError(code: string | undefined): RelayError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new RelayError(
      'HEADERS_TOO_LARGE',
      `The header block exceeds ${SETTINGS.maxHeaderSize} bytes or ${MAX_HEADERS} headers.`,
    )
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new RelayError('BAD_REQUEST', 'The request did not arrive in time.', { field: 'request' })
  return new RelayError('BAD_REQUEST', 'The request is not valid HTTP.', { field: 'request' })
}

function listening(server: Server, address: { readonly host: string; readonly port: number }): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(address.port, address.host, () => {
      server.off('error', reject)
      resolve(server.address() as AddressInfo)
    })
  })
}
