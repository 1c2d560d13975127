import { HEARTBEAT_FRAME, jsonFrame } from '@docrelay/protocol/codec'
import { type CloseCode, type CloseWord, closeReason, type WireErrorCode, wireErrorText } from '@docrelay/protocol/codes'
import { type ErrorFrame, TAG } from '@docrelay/protocol/frames'
import { ByteBuckets } from './byte-buckets.ts'
import { CHUNK_PROCESS_BYTES, type ChunkBudget, clearChunks } from './chunks.ts'
import { type CloseConnection, Connection, identityOf, PAUSE, type Wire } from './connection.ts'
import { Fanout } from './fanout.ts'
import { countIn, type GatewayCounters, newGatewayCounters } from './gateway-counters.ts'
import { Outbox } from './outbox.ts'
import { RefusedSignIns } from './refused-sign-ins.ts'
import { Resyncs } from './resyncs.ts'
import { retryMs } from './retry-after.ts'
import { authenticate, handleAuth, type PinnedToken, releaseSeat, tokenEnd } from './session-auth.ts'
import type { SessionContext, SessionDeps } from './session-context.ts'
import { handleJoin } from './session-join.ts'
import { Pulse } from './session-pulse.ts'
import { createRoomSink } from './session-rooms.ts'
import { frameKind, isTooLarge, noteViolation, PLAIN_FORM, QUEUE_FRAMES, QUEUE_PAYLOADS } from './session-rules.ts'
import { handleAwareness, handleChunk, handleSync } from './session-sync.ts'
import { UnauthenticatedSockets } from './unauthenticated-sockets.ts'

/** At most this many refused sockets of one address wait for their close. Further refused sockets are closed at once. [WS-16] */
const REFUSED_OF_ADDRESS = 4

/**
 * All connections of this process. Handles the frames of each connection strictly in order: the asynchronous work of a frame ends
 * before the next frame is handled. [WS-11]
 */
export class Sessions implements AsyncDisposable {
  readonly counters: GatewayCounters = newGatewayCounters()
  readonly outbox: Outbox
  readonly #deps: SessionDeps
  readonly #context: SessionContext
  readonly #connections = new Map<number, Connection>()
  readonly #workspaces = new Map<string, Set<Connection>>()
  readonly #followed = new Map<string, () => void>()
  readonly #resyncs: Resyncs
  readonly #pulse: Pulse
  readonly #chunkBudget: ChunkBudget = { usedBytes: 0, maxBytes: CHUNK_PROCESS_BYTES }
  readonly #maxMessagesPerSec: number
  #nextId = 1
  #order = 0
  readonly #unauthenticated: UnauthenticatedSockets<Connection>

  constructor(deps: SessionDeps) {
    this.#deps = deps
    this.#unauthenticated = new UnauthenticatedSockets(deps.settings.maxUnauthenticatedSockets)
    const close: CloseConnection = (...what) => this.close(...what)
    this.outbox = new Outbox({ maxBytes: deps.settings.wsBufferBytes, close })
    const { byteBuckets = new ByteBuckets() } = deps
    this.#context = {
      ...deps,
      outbox: this.outbox,
      counters: this.counters,
      chunkBudget: this.#chunkBudget,
      byteBuckets,
      nextOrder: () => ++this.#order,
      close,
      refusedSignIns: new RefusedSignIns(),
      holdRefused: (connection) => this.#unauthenticated.hold(connection.address, connection, REFUSED_OF_ADDRESS),
      sendError: (...error) => this.#sendError(...error),
      sendDeleted: (connection, successor) => this.#sendDeleted(connection, successor),
      sendOtherLineage: (connection, present) => this.#sendOtherLineage(connection, present),
      violation: (connection) => this.#violation(connection),
      unbind: (connection) => this.#unbind(connection),
      pause: (connection, reason) => pause(connection, reason),
      requestResync: (connection, afterMs, drops) => this.#resyncs.request(connection, afterMs, drops !== undefined),
      authenticated: (connection, workspaceId) => this.#authenticated(connection, workspaceId),
    }
    this.#resyncs = new Resyncs(this.#context)
    this.#maxMessagesPerSec = maxMessagesPerSec(deps.settings.writes.ratePerSec)
    this.#pulse = new Pulse({
      ...this.#context,
      connections: this.#connections,
      maxMessagesPerSec: this.#maxMessagesPerSec,
      resume: (connection, reason) => this.#resume(connection, reason),
      gone: (connection) => this.gone(connection),
    })
    deps.rooms.attach(
      createRoomSink(this.#context, {
        fanout: new Fanout(this.outbox),
        connection: (id) => this.#connections.get(id),
        resume: (connection, reason) => this.#resume(connection, reason),
      }),
    )
  }

  /** Number of sockets without a successful AUTH. [WS-6] */
  get unauthenticated(): number {
    return this.#unauthenticated.total
  }

  /**
   * Whether a new socket of this address gets a place. May close the oldest socket of the address with the most sockets to make
   * room. [WS-6]
   */
  admits(address: string): boolean {
    const place = this.#unauthenticated.place(address)
    if (place.kind === 'evict') this.close(place.socket, 4408, 'auth-timeout')
    return place.kind !== 'none'
  }

  all(): IterableIterator<Connection> {
    return this.#connections.values()
  }

  /** Authenticated connections of one workspace. */
  ofWorkspace(workspaceId: string): ReadonlySet<Connection> | undefined {
    return this.#workspaces.get(workspaceId)
  }

  /** Opens a connection. With `pinned` the connection is authenticated before its first frame is handled. [WS-5] */
  open(wire: Wire, namedWorkspace: string | undefined, pinned: PinnedToken | null, address = ''): Connection {
    const { clock, settings } = this.#deps
    const given = { id: this.#deps.nextConnection?.() ?? this.#nextId++, wire, namedWorkspace, address }
    const connection = new Connection(given, clock.monotonicMs(), settings.authTimeoutMs)
    this.#connections.set(connection.id, connection)
    this.#pulse.begin()
    this.#unauthenticated.add(address, connection)
    if (pinned !== null) this.#work(connection, authenticate(this.#context, connection, pinned, PLAIN_FORM))
    return connection
  }

  /** Receives a message. */
  receive(connection: Connection, data: Uint8Array, isBinary: boolean): void {
    if (connection.state.kind === 'closed') return
    this.heard(connection)
    if (isTooLarge(data, this.#deps.settings.maxPayloadBytes)) return this.close(connection, 1009, 'frame-too-large')
    const kind = frameKind(data, isBinary)
    // The echo of a heartbeat overtakes token checks and loads, so that it never waits for them. [WS-49]
    if (kind === 'heartbeat') return this.outbox.send(connection, HEARTBEAT_FRAME)
    if (kind === 'violation') return this.#violation(connection)
    if (kind === 'ignored') return
    if (connection.busy) this.#enqueue(connection, data)
    else this.#dispatch(connection, data)
  }

  /** Notes a sign of life: any message or control frame. [WS-50, W4] */
  heard(connection: Connection): void {
    connection.heardMs = this.#pulse.nowMs
    if (++connection.windowFrames > this.#maxMessagesPerSec) pause(connection, PAUSE.rate)
  }

  close(connection: Connection, code: CloseCode, word: CloseWord, retryAfterMs = this.#retryMs(code)): void {
    if (isClosed(connection)) return
    this.outbox.flush(connection)
    // The flush may have closed the connection because the socket is too slow.
    if (isClosed(connection)) return
    this.#end(connection)
    countIn(this.counters.closes, code)
    if (code === 1013) this.counters.slowConsumerCloses++
    // The close handshake needs the peer's answer, so reading must go on.
    if (connection.paused !== 0) connection.wire.resume()
    connection.wire.close(code, closeReason(word, retryAfterMs))
  }

  #retryMs(code: CloseCode): number | undefined {
    return code === 1012 || code === 1013 ? retryMs(this.#deps.random) : undefined
  }

  /** Called when the socket closes by itself. `fault`: the code of the frame parser; `null` when the peer closed the socket. */
  closing(connection: Connection, fault: number | null): void {
    if (isClosed(connection)) return
    this.outbox.flush(connection)
    if (isClosed(connection)) return
    this.#end(connection)
    if (fault !== null) countIn(this.counters.closes, fault)
  }

  /** Called when the socket has ended. */
  gone(connection: Connection): void {
    this.#end(connection)
    this.#connections.delete(connection.id)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#pulse.stop()
    this.#resyncs.stop()
    for (const connection of this.#connections.values()) {
      this.close(connection, 1012, 'restarting')
      connection.wire.terminate()
    }
  }

  #dispatch(connection: Connection, data: Uint8Array): void {
    if (connection.state.kind === 'unauthenticated' && connection.state.isRefused) return
    const ended = tokenEnd(this.#deps, connection, this.#deps.clock.nowMs())
    if (ended !== null) return this.close(connection, 4401, ended)
    try {
      const work = this.#handle(connection, data)
      if (work !== null) this.#work(connection, work)
    } catch (error) {
      this.#panic(connection, error)
    }
  }

  /** Starts the work of one frame; returns `null` when the work is done already. */
  #handle(connection: Connection, data: Uint8Array): Promise<void> | null {
    const message = data.subarray(1)
    switch (data[0]) {
      case TAG.sync:
        return handleSync(this.#context, connection, message)
      case TAG.awareness:
        handleAwareness(this.#context, connection, message)
        return null
      case TAG.syncChunk:
        return handleChunk(this.#context, connection, message)
      case TAG.joinDoc:
        return handleJoin(this.#context, connection, message)
      case TAG.auth:
        return handleAuth(this.#context, connection, message)
      default:
        return null
    }
  }

  /** Holds back later frames until `work` is done. */
  #work(connection: Connection, work: Promise<void>): void {
    connection.busy = true
    work
      .catch((error: unknown) => this.#panic(connection, error))
      .then(() => {
        connection.busy = false
        this.#drainQueue(connection)
      })
      .catch((error: unknown) => this.#panic(connection, error))
  }

  #enqueue(connection: Connection, data: Uint8Array): void {
    connection.queue ??= []
    connection.queue.push(data)
    connection.queuedBytes += data.length
    const full =
      connection.queue.length >= QUEUE_FRAMES || connection.queuedBytes >= QUEUE_PAYLOADS * this.#deps.settings.maxPayloadBytes
    if (full) pause(connection, PAUSE.queue)
  }

  #drainQueue(connection: Connection): void {
    while (!connection.busy && connection.state.kind !== 'closed') {
      const data = connection.queue?.shift()
      if (data === undefined) {
        connection.queue = null
        break
      }
      connection.queuedBytes -= data.length
      this.#dispatch(connection, data)
    }
    if (connection.queue === null) this.#resume(connection, PAUSE.queue)
  }

  #resume(connection: Connection, reason: number): void {
    if ((connection.paused & reason) === 0) return
    connection.paused &= ~reason
    if (connection.paused === 0 && connection.state.kind !== 'closed') connection.wire.resume()
  }

  #sendError(
    connection: Connection,
    code: WireErrorCode,
    text: string,
    ordinal = 0,
    full?: Pick<ErrorFrame, 'bound' | 'limit'>,
  ): void {
    const ack = identityOf(connection)?.ack ?? false
    if (code === 'ERR_SYNC_GAP' && !ack) return
    const frame: ErrorFrame = {
      error: wireErrorText(code, text),
      code,
      requestId: null,
      ...(ack && ordinal > 0 && { frame: ordinal }),
      ...(full?.bound && { bound: full.bound, limit: full.limit }),
    }
    this.outbox.send(connection, jsonFrame(TAG.error, frame))
  }

  #sendDeleted(connection: Connection, successor: string | null): void {
    const code = 'ERR_DELETED'
    const frame: ErrorFrame = { error: wireErrorText(code, ''), code, requestId: null, ...(successor !== null && { successor }) }
    this.outbox.send(connection, jsonFrame(TAG.error, frame))
  }

  #sendOtherLineage(connection: Connection, present: string): void {
    const error = wireErrorText(
      'ERR_LINEAGE',
      'the copy is of an earlier document with this id and is not merged; keep it as another document, or join without it and without a lineage',
    )
    const frame: ErrorFrame = { error, code: 'ERR_LINEAGE', requestId: null, ...(present !== '' && { lineage: present }) }
    this.outbox.send(connection, jsonFrame(TAG.error, frame))
  }

  #violation(connection: Connection): void {
    const { times, close } = noteViolation(connection.violations, this.#deps.clock.monotonicMs())
    connection.violations = times
    if (close) this.close(connection, 1003, 'protocol')
  }

  #unbind(connection: Connection): void {
    const { state } = connection
    if (state.kind !== 'joined') {
      if (state.kind === 'authenticated' && state.ended !== null) connection.state = { ...state, ended: null }
      return
    }
    this.#leave(connection)
    connection.state = { kind: 'authenticated', identity: state.identity, ended: null }
  }

  #leave(connection: Connection): void {
    if (connection.state.kind !== 'joined') return
    const { binding } = connection.state
    if (binding.chunks !== null) clearChunks(binding.chunks, this.#chunkBudget)
    // The room still handles the messages that it got. Their chunk acknowledgements are sent now, because nothing more is sent for this
    // binding.
    for (const { chunkAck } of binding.acks.kept) if (chunkAck) this.outbox.send(connection, chunkAck)
    this.#deps.rooms.leave(binding.room, connection)
    this.outbox.forgetHeld(connection)
    connection.ackDue = 0
    connection.resync = null
    this.#resume(connection, PAUSE.unsettled)
    this.#resume(connection, PAUSE.link)
  }

  #authenticated(connection: Connection, workspaceId: string): void {
    this.#unauthenticated.remove(connection.address, connection)
    const members = this.#workspaces.get(workspaceId)
    if (members) {
      members.add(connection)
      return
    }
    this.#workspaces.set(workspaceId, new Set([connection]))
    if (this.#deps.follow !== undefined) this.#followed.set(workspaceId, this.#deps.follow(workspaceId))
  }

  /** Frees everything that a connection holds, except its socket. Afterwards no frame of the connection is accepted. */
  #end(connection: Connection): void {
    if (connection.state.kind === 'closed') return
    this.#leave(connection)
    if (connection.state.kind === 'unauthenticated') this.#unauthenticated.remove(connection.address, connection)
    connection.state = { kind: 'closed' }
    connection.queue = null
    this.outbox.forget(connection)
    const { seat } = connection
    if (seat === null) return
    connection.seat = null
    const members = this.#workspaces.get(seat)
    members?.delete(connection)
    if (members?.size === 0) {
      this.#workspaces.delete(seat)
      this.#followed.get(seat)?.()
      this.#followed.delete(seat)
    }
    releaseSeat(this.#deps, connection, seat)
  }

  /** Ends a connection after an exception in the handling of its frame. No other connection is affected. [OPS-8] */
  #panic(connection: Connection, error: unknown): void {
    this.counters.panics++
    this.#deps.log.error('ws.panic', 'A frame could not be handled.', {
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    })
    this.close(connection, 1012, 'unavailable')
  }
}

/** Messages of any kind per second above which reading pauses; `null` in a workspace without a write limit. [W4] */
function maxMessagesPerSec(writesPerSec: number | null): number {
  return writesPerSec === null ? Number.POSITIVE_INFINITY : Math.max(200, 4 * writesPerSec)
}

function isClosed(connection: Connection): boolean {
  return connection.state.kind === 'closed'
}

function pause(connection: Connection, reason: number): void {
  if (connection.paused === 0) connection.wire.pause()
  connection.paused |= reason
}
