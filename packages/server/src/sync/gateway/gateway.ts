import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'
import { refusalError } from '../../auth/refusals.ts'
import type { Verification } from '../../auth/principal.ts'
import { chooseMembership } from '../../auth/tenancy.ts'
import { clientAddress, isTrusted, trustedProxies } from './client-address.ts'
import type { Connection } from './connection.ts'
import { countIn } from './gateway-counters.ts'
import { type GatewayMetrics, measure } from './gateway-metrics.ts'
import { retryElsewhereMs } from './retry-after.ts'
import { type PinnedToken, pin } from './session-auth.ts'
import type { SessionDeps } from './session-context.ts'
import { FORBIDDEN, TEMPORARILY_UNAVAILABLE } from './session-rules.ts'
import { Sessions } from './sessions.ts'
import {
  answerUpgrade,
  type CommonHeaders,
  NO_PLACE,
  readUpgrade,
  refuseUpgrade,
  type UpgradeRefusal,
  type UpgradeRequest,
} from './upgrade.ts'

/** A SYNC_CHUNK may exceed the payload limit by its header. [WS-13] */
const CHUNK_HEADER_BYTES = 25
/** The maximum number of fragments of one message, and of chunks that were read and are not parsed yet. [W1] */
const MAX_FRAGMENTS = 256
const MAX_BUFFERED_CHUNKS = 1024
/** How long the peer may take to answer a close frame. */
const CLOSE_TIMEOUT_MS = 3_000
/** How long a drain waits for close frames before it ends the sockets. */
const DRAIN_MS = 2_000
/** The pace of closes that are spread over time: 0.2 s for 100 sockets. It is faster when the given time is too short for it. */
const CLOSE_EVERY_MS = 2
const CLOSE_TURN_MS = 20

export interface Gateway extends AsyncDisposable {
  /** Handles the `upgrade` event of the HTTP server. Never throws. `common`: headers of an answer that refuses the upgrade. [REST-9..REST-11] */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, common?: CommonHeaders): void
  /**
   * Answers every later upgrade with 503 and closes all live sockets with 1012. All sockets have ended when the promise resolves. May be
   * called again. [WS-6, LIFE-28]
   *
   * @param overMs for one node of several: the closes are spread over this time at most and carry a short retry-after, since other nodes
   *   can serve the clients. When absent, all sockets close at once. [WS-57]
   */
  drain(overMs?: number): Promise<void>
  /**
   * Sends all clients to other nodes, which can serve them at once. Closes all sockets with 1012 and a short retry-after, spread
   * over at most `overMs`. Resolves when all are closed. New sockets are accepted. [WS-57, OPS-2]
   */
  sendElsewhere(overMs: number): Promise<void>
  readonly sessions: Sessions
  metrics(): GatewayMetrics
}

/** A WebSocket with its raw socket, for ready-made frames, and its connection. */
class RelaySocket extends WebSocket {
  raw!: Socket
  connection: Connection | null = null
  sessions: Sessions | null = null

  /**
   * The relay always closes with a reason. The library also calls this method: without a reason when it cannot read on, for
   * example after an oversized message, and to answer the close of its peer. In both cases the connection is ended here first, so
   * that nothing is written after the close frame. [WS-58, W7]
   */
  override close(code?: number, data?: string | Buffer): void {
    const fault = code !== undefined && data === undefined ? code : null
    if (this.connection !== null) this.sessions?.closing(this.connection, fault)
    super.close(code, fault === 1009 ? 'frame-too-large' : data)
  }
}

/** The `/ws` endpoint. [WS-1..WS-7, W1] */
export function createGateway(deps: SessionDeps): Gateway {
  const sessions = new Sessions(deps)
  const server = new WebSocketServer<typeof RelaySocket>({
    noServer: true,
    WebSocket: RelaySocket,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: deps.settings.maxPayloadBytes + CHUNK_HEADER_BYTES,
    ...({ maxFragments: MAX_FRAGMENTS, maxBufferedChunks: MAX_BUFFERED_CHUNKS, closeTimeout: CLOSE_TIMEOUT_MS } as object),
  })
  const listeners = listenersOf(sessions)
  let drained: Promise<void> | null = null

  const rulesNow = () => ({
    corsOrigins: deps.settings.corsOrigins,
    draining: drained !== null,
  })
  const trusted = trustedProxies(deps.settings.trustedProxies)
  let isWarned = false

  /**
   * Returns the address under which a socket is counted; warns once about a proxy that is not trusted. [WS-6, CFG-7]
   */
  function addressOf(request: IncomingMessage): string {
    const peer = request.socket.remoteAddress ?? ''
    // Several X-Forwarded-For headers count as one list.
    const forwarded = request.headersDistinct['x-forwarded-for']?.join(',')
    const address = clientAddress(peer, forwarded, trusted)
    if (forwarded !== undefined && !isWarned && !isTrusted(peer, trusted)) {
      isWarned = true
      deps.log.warn(
        'ws.proxy_not_trusted',
        'X-Forwarded-For came from a peer outside [server].trusted_proxies, so all its clients count as one address.',
        { peer },
      )
    }
    return address
  }

  function complete(
    asked: UpgradeRequest,
    pinned: PinnedToken | null,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): void {
    socket.removeListener('error', destroySelf)
    keepFirstProtocol(request)
    server.handleUpgrade(request, socket, head, (opened) => {
      opened.raw = socket as Socket
      opened.sessions = sessions
      opened.connection = sessions.open(opened, asked.namedWorkspace, pinned, addressOf(request))
      listen(opened, listeners)
    })
  }

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, common: CommonHeaders): Promise<void> {
    const asked = readUpgrade(request)
    const refusal = refuseUpgrade(asked, rulesNow())
    if (refusal !== null) return answerUpgrade(socket, refusal, common)
    if (asked.bearer === undefined || asked.bearer === null) {
      if (!sessions.admits(addressOf(request))) return answerUpgrade(socket, NO_PLACE, common)
      return complete(asked, null, request, socket, head)
    }
    const checked = await checkBearer(deps, asked.bearer, asked.namedWorkspace)
    const late = refuseUpgrade(asked, rulesNow())
    if (late !== null) return answerUpgrade(socket, late, common)
    if (checked.kind === 'refused') {
      countIn(sessions.counters.authFailures, checked.reason)
      return answerUpgrade(socket, checked.refusal, common)
    }
    if (!socket.destroyed) complete(asked, checked.pinned, request, socket, head)
  }

  async function drain(overMs?: number): Promise<void> {
    if (overMs === undefined) for (const connection of sessions.all()) sessions.close(connection, 1012, 'restarting')
    else await closeEvenly(overMs, 'restarting')
    const untilMs = deps.clock.monotonicMs() + DRAIN_MS
    while (liveSockets(sessions) > 0 && deps.clock.monotonicMs() < untilMs)
      await new Promise<void>((resolve) => void deps.timers.after(20, resolve))
    for (const connection of sessions.all()) connection.wire.terminate()
  }

  async function closeEvenly(overMs: number, word: 'restarting' | 'unavailable'): Promise<void> {
    const all = Array.from(sessions.all())
    const turns = Math.ceil(Math.min(all.length * CLOSE_EVERY_MS, overMs) / CLOSE_TURN_MS)
    const perTurn = Math.ceil(all.length / Math.max(1, turns))
    for (let at = 0; at < all.length; at += perTurn) {
      for (const connection of all.slice(at, at + perTurn)) sessions.close(connection, 1012, word, retryElsewhereMs(deps.random))
      if (at + perTurn < all.length) await new Promise<void>((resolve) => void deps.timers.after(CLOSE_TURN_MS, resolve))
    }
  }

  return {
    handleUpgrade(request, socket, head, common = {}) {
      socket.on('error', destroySelf)
      upgrade(request, socket, head, common).catch((error: unknown) => {
        deps.log.error('ws.upgrade_failed', 'An upgrade could not be handled.', { error: String(error) })
        socket.destroy()
      })
    },
    drain: (overMs) => (drained ??= drain(overMs)),
    sendElsewhere: (overMs) => closeEvenly(overMs, 'unavailable'),
    sessions,
    metrics: () => measure(sessions),
    async [Symbol.asyncDispose]() {
      drained ??= drain()
      await drained
      await sessions[Symbol.asyncDispose]()
      server.close()
    },
  }
}

/**
 * Keeps only the offered subprotocol that is echoed, because the library refuses an offer in which a value occurs twice. [WS-3]
 */
function keepFirstProtocol(request: IncomingMessage): void {
  const offer = request.headers['sec-websocket-protocol']
  if (offer !== undefined) request.headers['sec-websocket-protocol'] = (offer.split(',')[0] ?? '').trim()
}

/** Handles socket errors until the WebSocket library attaches its own listener. */
function destroySelf(this: Duplex): void {
  this.destroy()
}

/** Attaches listeners that all sockets share. They find the connection on the socket, so a socket needs no closures of its own. */
function listen(socket: RelaySocket, listeners: Listeners): void {
  socket.on('message', listeners.message)
  socket.on('ping', listeners.heard)
  socket.on('pong', listeners.heard)
  socket.on('close', listeners.close)
  socket.on('error', listeners.error)
}

interface Listeners {
  message(this: WebSocket, data: Buffer | ArrayBuffer | Buffer[], isBinary: boolean): void
  heard(this: WebSocket): void
  close(this: WebSocket): void
  error(this: WebSocket): void
}

function listenersOf(sessions: Sessions): Listeners {
  const connectionOf = (socket: WebSocket): Connection | null => (socket as RelaySocket).connection
  return {
    message(data, isBinary) {
      const connection = connectionOf(this)
      if (connection !== null) sessions.receive(connection, data as Buffer, isBinary)
    },
    heard() {
      const connection = connectionOf(this)
      if (connection !== null) sessions.heard(connection)
    },
    close() {
      const connection = connectionOf(this)
      if (connection !== null) sessions.gone(connection)
    },
    // After an error the library closes the socket itself, and the event `close` follows.
    error() {},
  }
}

type CheckedBearer =
  | { readonly kind: 'good'; readonly pinned: PinnedToken }
  /** `reason`: the text of WS-60. */
  | { readonly kind: 'refused'; readonly refusal: UpgradeRefusal; readonly reason: string }

/**
 * Checks the bearer in the header. A bad bearer is refused over HTTP. When the store does not answer, the refusal is 503. [WS-5]
 */
async function checkBearer(deps: SessionDeps, token: string, namedWorkspace: string | undefined): Promise<CheckedBearer> {
  let verification: Verification
  try {
    verification = await deps.verifyToken(token)
  } catch {
    return {
      kind: 'refused',
      refusal: { code: 'UNAVAILABLE', message: 'The token cannot be checked now.' },
      reason: TEMPORARILY_UNAVAILABLE.error,
    }
  }
  if (verification.kind === 'refused') {
    return { kind: 'refused', refusal: refusalError(verification.reason), reason: verification.reason }
  }
  const forbidden: UpgradeRefusal = { code: 'FORBIDDEN', message: 'The token is not for this workspace or region.' }
  if (verification.kind === 'forbidden') {
    return {
      kind: 'refused',
      refusal: deps.settings.tenancy.mode === 'dedicated' ? { ...forbidden, code: 'FORBIDDEN_PLAIN' } : forbidden,
      reason: FORBIDDEN.error,
    }
  }
  const pinned = pin(deps, verification.principal, namedWorkspace)
  if (pinned.kind === 'pinned') return { kind: 'good', pinned }
  const choice = chooseMembership(verification.principal, deps.settings.tenancy, namedWorkspace)
  const refusal = choice.kind === 'forbidden-plain' ? ({ ...forbidden, code: 'FORBIDDEN_PLAIN' } as const) : forbidden
  return { kind: 'refused', refusal, reason: FORBIDDEN.error }
}

function liveSockets(sessions: Sessions): number {
  let live = 0
  for (const _ of sessions.all()) live++
  return live
}
