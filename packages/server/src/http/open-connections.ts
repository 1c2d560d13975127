import type { Socket } from 'node:net'

export interface ConnectionLimits {
  /** Connections of one address without a request in progress. */
  readonly perAddress: number
  /** Connections of all addresses without a request in progress. */
  readonly total: number
}

export const CONNECTION_LIMITS: ConnectionLimits = { perAddress: 1_024, total: 4_096 }

/**
 * Limits the connections that send no request: those whose headers have not arrived, and those between two requests.
 * Above the limit the oldest connection of the address with the most is closed, so that a client that opens thousands
 * loses its own. A client that sends its request at once is never among the oldest. [H1]
 */
export interface OpenConnections {
  /** Marks the connection as idle: it has sent no request yet, or its last request was answered. */
  idle(socket: Socket): void
  /** Marks the connection as busy: a request is in progress, or the connection was handed over. */
  busy(socket: Socket): void
}

export function createOpenConnections(limits: ConnectionLimits): OpenConnections {
  /** Connections of each address, oldest first. */
  const byAddress = new Map<string, Set<Socket>>()
  const addressOf = new Map<Socket, string>()

  const busy = (socket: Socket): void => {
    const address = addressOf.get(socket)
    if (address === undefined) return
    addressOf.delete(socket)
    const sockets = byAddress.get(address)
    sockets?.delete(socket)
    if (sockets?.size === 0) byAddress.delete(address)
  }

  const closeOldest = (sockets: ReadonlySet<Socket>): void => {
    const [oldest] = sockets
    if (oldest === undefined) return
    busy(oldest)
    oldest.destroy()
  }

  const largest = (): ReadonlySet<Socket> => [...byAddress.values()].reduce((most, each) => (each.size > most.size ? each : most))

  return {
    idle(socket) {
      if (socket.destroyed || addressOf.has(socket)) return
      const address = socket.remoteAddress ?? ''
      const sockets = byAddress.get(address) ?? new Set<Socket>()
      byAddress.set(address, sockets.add(socket))
      addressOf.set(socket, address)
      if (sockets.size > limits.perAddress) closeOldest(sockets)
      else if (addressOf.size > limits.total) closeOldest(largest())
    },
    busy,
  }
}
