import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'
import { refusalError } from '../../auth/refusals.ts'
import type { Verification } from '../../auth/principal.ts'
import { chooseMembership } from '../../auth/tenancy.ts'
import type { Connection } from './connection.ts'
import { countIn } from './gateway-counters.ts'
import { type GatewayMetrics, measure } from './gateway-metrics.ts'
import { type PinnedToken, pin } from './session-auth.ts'
import type { SessionDeps } from './session-context.ts'
import { FORBIDDEN, TEMPORARILY_UNAVAILABLE } from './session-rules.ts'
import { Sessions } from './sessions.ts'
import { answerUpgrade, readUpgrade, refuseUpgrade, type UpgradeRefusal, type UpgradeRequest } from './upgrade.ts'

/** A SYNC_CHUNK may be so much larger than the payload cap. [WS-13] */
const CHUNK_HEADER_BYTES = 25
/** Fragments of one message, and chunks of a message that were read and not yet parsed. [W1] */
const MAX_FRAGMENTS = 256
const MAX_BUFFERED_CHUNKS = 1024
/** How long the peer may take to answer a close frame. */
const CLOSE_TIMEOUT_MS = 3_000
/** How long a drain lets close frames travel before it ends the sockets. */
const DRAIN_MS = 2_000

export interface Gateway extends AsyncDisposable {
  /** For the `upgrade` event of the HTTP server. Never throws. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** From now on every upgrade answers 503; live sockets close with 1012 and are gone when it resolves. Idempotent. [WS-6, LIFE-28] */
  drain(): Promise<void>
  readonly sessions: Sessions
  metrics(): GatewayMetrics
}

/** One socket of ours: the raw one for ready-made frames, and the connection it belongs to. */
class RelaySocket extends WebSocket {
  raw!: Socket
  connection: Connection | null = null
  sessions: Sessions | null = null

  /**
   * Our own closes have a reason. The library closes for its peer, and with a code alone when it cannot go on with what it reads, for example
   * with an oversized message; either ends the connection before the close frame, so that nothing is written behind it. [WS-58, W7]
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
    unauthenticated: sessions.unauthenticated,
    maxUnauthenticated: deps.settings.maxUnauthenticatedSockets,
  })

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
      opened.connection = sessions.open(opened, asked.namedWorkspace, pinned)
      listen(opened, listeners)
    })
  }

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const asked = readUpgrade(request)
    const refusal = refuseUpgrade(asked, rulesNow())
    if (refusal !== null) return answerUpgrade(socket, refusal)
    if (asked.bearer === undefined || asked.bearer === null) return complete(asked, null, request, socket, head)
    const checked = await checkBearer(deps, asked.bearer, asked.namedWorkspace)
    const late = refuseUpgrade(asked, rulesNow())
    if (late !== null) return answerUpgrade(socket, late)
    if (checked.kind === 'refused') {
      countIn(sessions.counters.authFailures, checked.reason)
      return answerUpgrade(socket, checked.refusal)
    }
    if (!socket.destroyed) complete(asked, checked.pinned, request, socket, head)
  }

  async function drain(): Promise<void> {
    for (const connection of sessions.all()) sessions.close(connection, 1012, 'restarting')
    const untilMs = deps.clock.monotonicMs() + DRAIN_MS
    while (liveSockets(sessions) > 0 && deps.clock.monotonicMs() < untilMs)
      await new Promise<void>((resolve) => void deps.timers.after(20, resolve))
    for (const connection of sessions.all()) connection.wire.terminate()
  }

  return {
    handleUpgrade(request, socket, head) {
      socket.on('error', destroySelf)
      upgrade(request, socket, head).catch((error: unknown) => {
        deps.log.error('ws.upgrade_failed', 'An upgrade could not be handled.', { error: String(error) })
        socket.destroy()
      })
    },
    drain: () => (drained ??= drain()),
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

/** Leaves the one subprotocol that is echoed: the library would refuse the whole offer for a value that is repeated behind it. [WS-3] */
function keepFirstProtocol(request: IncomingMessage): void {
  const offer = request.headers['sec-websocket-protocol']
  if (offer !== undefined) request.headers['sec-websocket-protocol'] = (offer.split(',')[0] ?? '').trim()
}

/** Until the WebSocket library listens, an error of the socket is nobody else's. */
function destroySelf(this: Duplex): void {
  this.destroy()
}

/** Shared listeners: they find their connection on the socket, so that a socket costs no closures. */
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
    // The library closes the socket itself; `close` follows.
    error() {},
  }
}

type CheckedBearer =
  | { readonly kind: 'good'; readonly pinned: PinnedToken }
  /** `reason`: the text of WS-60. */
  | { readonly kind: 'refused'; readonly refusal: UpgradeRefusal; readonly reason: string }

/** A bad header bearer is answered over HTTP; storage that cannot tell is a 503. [WS-5] */
async function checkBearer(deps: SessionDeps, token: string, namedWorkspace: string | undefined): Promise<CheckedBearer> {
  let verification: Verification
  try {
    verification = await deps.verifyToken(token)
  } catch {
    return {
      kind: 'refused',
      refusal: { code: 'UNAVAILABLE', message: 'The token cannot be checked now.', headers: { 'Retry-After': '1' } },
      reason: TEMPORARILY_UNAVAILABLE.error,
    }
  }
  if (verification.kind === 'refused') {
    const { code, message } = refusalError(verification.reason)
    const reason = code === 'TOKEN_INVALID' ? { reason: verification.reason } : {}
    return { kind: 'refused', refusal: { code, message, ...reason }, reason: verification.reason }
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
