import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { systemTimers } from '../kernel/timers.ts'

const MIB = 1_048_576

/** Limits of a connection after its last answer. */
export interface LingerLimits {
  /** The connection ends when nothing is received for this long. */
  readonly idleMs: number
  readonly totalMs: number
  readonly maxBytes: number
  /** When this many connections linger, the next one is closed at once. */
  readonly maxSockets: number
  /** How long a shutdown waits for a lingering connection. [LIFE-28] */
  readonly shutdownMs: number
}

export const LINGER_LIMITS: LingerLimits = {
  idleMs: 2_000,
  totalMs: 5_000,
  maxBytes: 256 * MIB,
  maxSockets: 256,
  shutdownMs: 500,
}

/**
 * Ends connections so that clients see the last answer.
 *
 * When a connection is closed while its client still sends, the system resets it, and a client that sends the whole
 * body before it reads never sees the answer. So the relay sends the answer, closes its sending side, and discards what
 * still arrives for a limited time. [H3, REST-7]
 */
export interface LingeringClose {
  /** After the answer, discards the rest of the request body. If the connection must end, ends it so that the client sees the answer. */
  guard(incoming: IncomingMessage, outgoing: ServerResponse): void
  /**
   * Answers on a connection that can carry no further request, and ends it, also when its peer never closes its own
   * side.
   */
  refuse(socket: Socket, answer: () => string): void
  /** Whether the connection lingers, so that no further answer can be sent on it. */
  has(socket: Socket): boolean
  /** Resolves when the connection is closed or its shutdown time is used up; at once when it does not linger. */
  ended(socket: Socket): Promise<void>
}

export function createLingeringClose(limits: LingerLimits): LingeringClose {
  const lingering = new Map<Socket, Promise<void>>()

  /** Keeps a connection for its last answer and destroys it after `afterMs`. */
  const keep = (socket: Socket, afterMs: number): void => {
    const forget = systemTimers.after(afterMs, () => socket.destroy())
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    lingering.set(socket, closed)
    void closed.then(() => {
      forget()
      lingering.delete(socket)
    })
  }

  const linger = (incoming: IncomingMessage): void => {
    const { socket } = incoming
    keep(socket, limits.totalMs)
    let taken = 0
    incoming.on('data', (chunk: Uint8Array) => {
      taken += chunk.byteLength
      if (taken > limits.maxBytes) socket.destroy()
    })
    incoming.once('end', () => closeNow(socket))
    // Without a listener for `timeout` Node destroys the socket when this time passes.
    socket.setTimeout(limits.idleMs)
    socket.end()
  }

  return {
    guard(incoming, outgoing) {
      // This listener must run before Node's own, which closes the connection after its last answer with `destroySoon`.
      outgoing.prependOnceListener('finish', () => {
        if (incoming.complete) return
        const { socket } = incoming
        // Listeners left by the abandoned body would keep the stream paused.
        incoming.removeAllListeners('data').removeAllListeners('readable').resume()
        socket.destroySoon = () => {
          if (lingering.has(socket)) return
          if (incoming.complete || lingering.size >= limits.maxSockets) closeNow(socket)
          else linger(incoming)
        }
      })
    },
    refuse(socket, answer) {
      if (lingering.has(socket)) return
      if (!socket.writable) return void socket.destroy()
      const isFull = lingering.size >= limits.maxSockets
      keep(socket, limits.idleMs)
      socket.once('end', () => socket.destroy())
      socket.end(answer())
      if (isFull) closeNow(socket)
    },
    has: (socket) => lingering.has(socket),
    async ended(socket) {
      const closed = lingering.get(socket)
      if (closed === undefined) return
      await Promise.race([closed, new Promise<void>((resolve) => systemTimers.after(limits.shutdownMs, resolve))])
    },
  }
}

/** Closes the socket after everything written was sent, as Node does. */
function closeNow(socket: Socket): void {
  Socket.prototype.destroySoon.call(socket)
}
