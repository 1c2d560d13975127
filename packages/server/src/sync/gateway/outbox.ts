import { syncAckFrame, syncFrame } from '@docrelay/protocol/codec'
import { SYNC } from '@docrelay/protocol/frames'
import type { CloseConnection, Connection } from './connection.ts'
import { holdAwareness, holdUpdate, newHeldUpdates, releaseHeld } from './held-updates.ts'
import { headerBytes, wireBytes } from './websocket-frame.ts'

/** Above this many unwritten bytes the updates for a socket are held and merged. [WS-55] */
const SLOW_BYTES = 1024 * 1024
/** A larger message is written separately after its header, to avoid copying it into one buffer with the header. */
const COPY_BYTES = 64 * 1024

export interface OutboxDeps {
  /** The configured `ws_buffer_bytes`. A socket for which more bytes wait is closed. */
  readonly maxBytes: number
  readonly close: CloseConnection
}

/**
 * Sends messages to the sockets. All messages of one turn are collected per connection and written with one call at the end of the turn.
 * The newest SYNC_ACK of the turn comes last, after every ERROR that it covers. [WS-41]
 */
export class Outbox {
  readonly #deps: OutboxDeps
  #dirty: Connection[] = []
  readonly #slow = new Set<Connection>()

  constructor(deps: OutboxDeps) {
    this.#deps = deps
  }

  /** Sends one complete message. */
  send(connection: Connection, message: Uint8Array): void {
    if (connection.state.kind === 'closed') return
    if (message.length <= COPY_BYTES) {
      this.put(connection, wireBytes(message))
      return
    }
    this.put(connection, headerBytes(message.length))
    this.put(connection, message)
  }

  /**
   * Sends the frames of one answer of a room. The answer may be a whole document, so its bytes raise the limit of waiting bytes until
   * the socket has caught up. [WS-55, WS-26]
   */
  sendAll(connection: Connection, messages: readonly Uint8Array[]): void {
    const bytes = messages.reduce((sum, message) => sum + message.length, 0)
    if (bytes > COPY_BYTES) connection.exemptBytes = Math.max(connection.exemptBytes, bytes)
    for (const message of messages) this.send(connection, message)
  }

  /** Sends a message that must follow the updates of the same document. [WS-53] */
  sendBehindUpdates(connection: Connection, message: Uint8Array): void {
    if (connection.held !== null) this.#writeHeld(connection)
    this.send(connection, message)
  }

  /** Sets the newest ordinal to acknowledge at the end of the turn. */
  acknowledge(connection: Connection, ordinal: number): void {
    connection.ackDue = ordinal
    this.#mark(connection)
  }

  /** Sends framed bytes. Several sockets may share the bytes, so they must not be changed afterwards. */
  put(connection: Connection, bytes: Uint8Array): void {
    const { out } = connection
    if (out === null) {
      connection.out = bytes
      this.#mark(connection)
    } else if (Array.isArray(out)) out.push(bytes)
    else connection.out = [out, bytes]
  }

  /** Whether updates for this socket are held; starts holding when too many bytes wait for it. */
  isSlow(connection: Connection): boolean {
    if (connection.held !== null) return true
    if (connection.wire.raw.writableLength <= SLOW_BYTES) return false
    connection.held = newHeldUpdates()
    this.#slow.add(connection)
    connection.wire.raw.once('drain', () => this.#release(connection))
    return true
  }

  hold(connection: Connection, update: Uint8Array): void {
    if (connection.held === null) return
    holdUpdate(connection.held, update)
    this.#checkBound(connection)
  }

  holdAwareness(connection: Connection, frame: Uint8Array): void {
    if (connection.held === null) return
    holdAwareness(connection.held, frame)
    this.#checkBound(connection)
  }

  /** Drops the held updates when the connection leaves the document. */
  forgetHeld(connection: Connection): void {
    if (connection.held !== null) connection.held = newHeldUpdates()
  }

  forget(connection: Connection): void {
    connection.held = null
    connection.out = null
    connection.ackDue = 0
    this.#slow.delete(connection)
  }

  /** Returns how many bytes wait for this socket: bytes that Node has not written yet, and bytes of held updates. */
  bufferedBytes(connection: Connection): number {
    return connection.wire.raw.writableLength + (connection.held?.bytes ?? 0)
  }

  /** Writes the waiting bytes of one connection, before its close frame. */
  flush(connection: Connection): void {
    const { out, ackDue } = connection
    if (out === null && ackDue === 0) return
    connection.out = null
    connection.ackDue = 0
    if (connection.wire.raw.destroyed) return
    if (ackDue === 0 && out !== null && !Array.isArray(out)) {
      connection.wire.raw.write(out)
    } else {
      const parts = out === null ? [] : Array.isArray(out) ? out : [out]
      if (ackDue > 0) parts.push(wireBytes(syncAckFrame(ackDue)))
      writeParts(connection, parts)
    }
    this.#checkBound(connection)
  }

  #mark(connection: Connection): void {
    if (connection.marked) return
    connection.marked = true
    if (this.#dirty.length === 0) queueMicrotask(() => this.#flushAll())
    this.#dirty.push(connection)
  }

  #flushAll(): void {
    const dirty = this.#dirty
    this.#dirty = []
    for (const connection of dirty) {
      connection.marked = false
      if (connection.state.kind !== 'closed') this.flush(connection)
    }
  }

  #checkBound(connection: Connection): void {
    const buffered = connection.wire.raw.writableLength
    if (buffered <= SLOW_BYTES && connection.held === null) {
      connection.exemptBytes = 0
      return
    }
    if (buffered + (connection.held?.bytes ?? 0) <= this.#deps.maxBytes + connection.exemptBytes) return
    this.#deps.close(connection, 1013, 'slow-consumer')
  }

  #release(connection: Connection): void {
    this.#slow.delete(connection)
    if (connection.state.kind === 'closed' || connection.held === null) return
    this.#writeHeld(connection)
    connection.held = null
    connection.exemptBytes = 0
  }

  #writeHeld(connection: Connection): void {
    if (connection.held === null) return
    const { updates, awareness } = releaseHeld(connection.held)
    for (const update of updates) this.send(connection, syncFrame(SYNC.update, update))
    if (awareness !== null) this.send(connection, awareness)
  }
}

function writeParts(connection: Connection, parts: readonly Uint8Array[]): void {
  const { raw } = connection.wire
  const total = parts.reduce((sum, part) => sum + part.length, 0)
  if (total <= COPY_BYTES) {
    raw.write(parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts, total))
    return
  }
  raw.cork()
  for (const part of parts) raw.write(part)
  raw.uncork()
}
