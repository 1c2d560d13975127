import type { OutgoingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type Clock, systemClock } from '../kernel/clock.ts'
import { systemTimers } from '../kernel/timers.ts'

/** Bounds on the work for connections above the cap. */
export interface RefusalLimits {
  /** Connections of all addresses that are read and answered within one second. Further ones are closed at once. */
  readonly perSec: number
  /**
   * Connections of one address that are read and answered within one second, so that a flood from it leaves answers for others.
   */
  readonly perAddressPerSec: number
  /** Connections that wait at a time for their request, or for their client to read the answer. */
  readonly held: number
  /** How long a connection may wait for its request, and then again for its client to read the answer. */
  readonly holdMs: number
  /** Connections above the cap that are served at a time, because they request a path that is always answered. */
  readonly served: number
}

export const REFUSAL_LIMITS: RefusalLimits = { perSec: 2_000, perAddressPerSec: 500, held: 512, holdMs: 1_000, served: 32 }

/** Connections that may be open above the cap. Node closes any further one; `held` and `served` must stay below this number. */
export const SPARE_CONNECTIONS = 1_024

export interface CapOptions {
  /** Connections that are served at one time. */
  readonly most: number
  /** Paths that are answered above `most` as well, such as `/livez`, so that a full relay still reports its state. */
  readonly alwaysAnswered: readonly string[]
  /** Called once for each refused connection. */
  readonly onRefused: () => void
  readonly limits?: RefusalLimits
}

export const NO_CAP: CapOptions = { most: Number.POSITIVE_INFINITY, alwaysAnswered: [], onRefused: () => undefined }

interface CapDeps {
  /** Hands a connection to the HTTP parser. */
  readonly serve: (socket: Socket) => void
  /** Makes the bytes of a refusal. `request` is the beginning of the request, `null` when none came in time. */
  readonly refusal: (request: Buffer | null) => string
}

/**
 * Serves a limited number of connections and refuses further ones with a short answer. [H11]
 *
 * A refused connection never gets an HTTP parser: the relay reads the first bytes that arrive, writes one answer and closes. It reads first
 * because it must know the path, and because some clients ignore an answer that arrives before their request.
 */
export interface ConnectionCap extends Disposable {
  /** Takes a connection that was just accepted. */
  take(socket: Socket): void
  /** Whether to answer this request. A connection above the cap gets one answer and is then closed. */
  takesRequest(socket: Socket, outgoing: OutgoingMessage): boolean
  /** Whether the connection is above the cap and is served nevertheless. */
  isAbove(socket: Socket): boolean
}

export function createConnectionCap(options: CapOptions, { serve, refusal }: CapDeps): ConnectionCap {
  const { most, alwaysAnswered, onRefused, limits = REFUSAL_LIMITS } = options
  const answers = createAnswerBudget(limits, systemClock)
  const beginnings = alwaysAnswered.flatMap((path) => ['GET', 'HEAD'].flatMap((verb) => [`${verb} ${path} `, `${verb} ${path}?`]))
  let open = 0
  /** Waiting connections, oldest first, each with the function that ends its wait when another one needs the place. */
  const held = new Map<Socket, () => void>()
  /** Connections above the cap that are served; the value says whether their only request has arrived. */
  const above = new Map<Socket, boolean>()

  const refuse = (socket: Socket, request: Buffer | null): void => {
    onRefused()
    const forget = systemTimers.after(limits.holdMs, () => socket.destroy())
    socket.once('close', forget)
    held.set(socket, () => socket.destroy())
    socket.end(refusal(request))
    // The system resets a connection that is closed with unread bytes, and the client might not see the answer.
    socket.resume()
  }

  const serveAbove = (socket: Socket, request: Buffer): void => {
    held.delete(socket)
    above.set(socket, false)
    socket.once('close', () => above.delete(socket))
    socket.off('error', destroySelf).off('end', destroySelf)
    // `unshift` gives the bytes back, so that the parser reads them as if nobody had.
    socket.pause()
    socket.unshift(request)
    serve(socket)
    socket.resume()
  }

  const isAlwaysAnswered = (request: Buffer): boolean => {
    const text = request.toString('latin1', 0, 64)
    return beginnings.some((beginning) => text.startsWith(beginning))
  }

  const hold = (socket: Socket): void => {
    const decide = (request: Buffer | null): void => {
      forget()
      socket.off('data', decide)
      if (request !== null && above.size < limits.served && isAlwaysAnswered(request)) serveAbove(socket, request)
      else refuse(socket, request)
    }
    const forget = systemTimers.after(limits.holdMs, () => decide(null))
    held.set(socket, () => {
      decide(null)
      socket.destroySoon()
    })
    socket.once('close', () => {
      forget()
      held.delete(socket)
    })
    socket.once('end', destroySelf)
    socket.on('data', decide)
    if (held.size > limits.held) endOldest()
  }

  const endOldest = (): void => {
    const [oldest] = held
    if (oldest === undefined) return
    const [socket, end] = oldest
    end()
    held.delete(socket)
  }

  return {
    take(socket) {
      if (open < most) {
        open++
        socket.once('close', () => void open--)
        return serve(socket)
      }
      socket.on('error', destroySelf)
      if (answers.takes(socket.remoteAddress ?? '')) return hold(socket)
      onRefused()
      socket.destroy()
    },
    takesRequest(socket, outgoing) {
      const hadOne = above.get(socket)
      if (hadOne === undefined) return true
      above.set(socket, true)
      if (!hadOne) outgoing.setHeader('Connection', 'close')
      return !hadOne
    },
    isAbove: (socket) => above.has(socket),
    [Symbol.dispose]() {
      for (const socket of held.keys()) socket.destroy()
    },
  }
}

export interface AnswerBudget {
  /** Takes one of the answers of this second; false when the address, or all addresses together, have used theirs. */
  takes(address: string): boolean
}

export function createAnswerBudget(
  { perSec, perAddressPerSec }: Pick<RefusalLimits, 'perSec' | 'perAddressPerSec'>,
  clock: Pick<Clock, 'monotonicMs'>,
): AnswerBudget {
  const byAddress = new Map<string, number>()
  let second = 0
  let taken = 0
  return {
    takes(address) {
      const now = Math.floor(clock.monotonicMs() / 1_000)
      if (now !== second) {
        second = now
        taken = 0
        byAddress.clear()
      }
      const ofAddress = byAddress.get(address) ?? 0
      if (taken >= perSec || ofAddress >= perAddressPerSec) return false
      taken++
      byAddress.set(address, ofAddress + 1)
      return true
    },
  }
}

function destroySelf(this: Socket): void {
  this.destroy()
}
