import type { GatewayCounters } from './gateway-counters.ts'
import type { Sessions } from './sessions.ts'

/** Gauges and counters of the sockets. [OPS-4] */
export interface GatewayMetrics {
  /** `owner`, `member`, `viewer`, `unauthenticated`. */
  readonly connections: Readonly<Record<string, number>>
  readonly editors: number
  readonly viewers: number
  readonly bufferedBytes: number
  readonly counters: GatewayCounters
}

export function measure(sessions: Sessions): GatewayMetrics {
  const connections: Record<string, number> = { owner: 0, member: 0, viewer: 0, unauthenticated: 0 }
  let bufferedBytes = 0
  for (const connection of sessions.all()) {
    const { state } = connection
    bufferedBytes += sessions.outbox.bufferedBytes(connection)
    if (state.kind === 'closed') continue
    const role = state.kind === 'unauthenticated' ? 'unauthenticated' : state.identity.access.role
    connections[role] = (connections[role] ?? 0) + 1
  }
  const viewers = connections['viewer'] ?? 0
  return {
    connections,
    editors: (connections['owner'] ?? 0) + (connections['member'] ?? 0),
    viewers,
    bufferedBytes,
    counters: sessions.counters,
  }
}
