import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { systemTimers } from '../kernel/timers.ts'

const MIB = 1_048_576

/** What a connection may still take after its last answer. */
export interface LingerLimits {
  /** Nothing received for so long ends it. */
  readonly idleMs: number
  readonly totalMs: number
  readonly maxBytes: number
  /** Above so many at a time, a connection is closed at once. */
  readonly maxSockets: number
  /** So long a shutdown waits for one. [LIFE-28] */
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
 * Closing a connection while its client still sends makes the system reset it, and a client that sends the whole body before it reads
 * never sees the answer. So the answer goes out, the sending side is closed, and what still arrives is thrown away for a bounded time.
 * [H3, REST-7]
 */
export interface LingeringClose {
  /** Has the rest of the request body thrown away once it was answered, and the connection, if it is to end, end gently. */
  guard(incoming: IncomingMessage, outgoing: ServerResponse): void
  /** Nothing can be answered on this connection any more. */
  has(socket: Socket): boolean
  /** Resolves when the connection is closed or had the time that a shutdown gives; at once when it does not linger. */
  ended(socket: Socket): Promise<void>
}

export function createLingeringClose(limits: LingerLimits): LingeringClose {
  const lingering = new Map<Socket, Promise<void>>()

  const linger = (incoming: IncomingMessage): void => {
    const { socket } = incoming
    const forget = systemTimers.after(limits.totalMs, () => socket.destroy())
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    lingering.set(socket, closed)
    void closed.then(() => {
      forget()
      lingering.delete(socket)
    })
    let taken = 0
    incoming.on('data', (chunk: Uint8Array) => {
      taken += chunk.byteLength
      if (taken > limits.maxBytes) socket.destroy()
    })
    incoming.once('end', () => closeNow(socket))
    // Without a listener for it node destroys the socket.
    socket.setTimeout(limits.idleMs)
    socket.end()
  }

  return {
    guard(incoming, outgoing) {
      // Before node's own listener, which closes the connection after its last answer by `destroySoon`.
      outgoing.prependOnceListener('finish', () => {
        if (incoming.complete) return
        const { socket } = incoming
        // Listeners of whoever left the body would keep it paused.
        incoming.removeAllListeners('data').removeAllListeners('readable').resume()
        socket.destroySoon = () => {
          if (lingering.has(socket)) return
          if (incoming.complete || lingering.size >= limits.maxSockets) closeNow(socket)
          else linger(incoming)
        }
      })
    },
    has: (socket) => lingering.has(socket),
    async ended(socket) {
      const closed = lingering.get(socket)
      if (closed === undefined) return
      await Promise.race([closed, new Promise<void>((resolve) => systemTimers.after(limits.shutdownMs, resolve))])
    },
  }
}

/** As node does it: after what was written is sent. */
function closeNow(socket: Socket): void {
  Socket.prototype.destroySoon.call(socket)
}
