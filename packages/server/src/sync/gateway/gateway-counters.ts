/** Counts of the gateway since its start; compose turns them into metrics. [OPS-4] */
export interface GatewayCounters {
  /** Closes by the relay, by code. */
  readonly closes: Map<number, number>
  slowConsumerCloses: number
  /** Failed AUTHs, by the text of WS-60. */
  readonly authFailures: Map<string, number>
  readonly rateLimited: { ws: number; join: number }
  readonly capRejections: { connections: number; editors: number }
  /**
   * Number of write-bearing messages refused with ERR_BAD_UPDATE. `syncGaps` counts write-bearing messages that depend on missing
   * content. [WS-33, WS-32]
   */
  badUpdates: number
  syncGaps: number
  appendFailures: number
  panics: number
}

export function newGatewayCounters(): GatewayCounters {
  return {
    closes: new Map(),
    slowConsumerCloses: 0,
    authFailures: new Map(),
    rateLimited: { ws: 0, join: 0 },
    capRejections: { connections: 0, editors: 0 },
    badUpdates: 0,
    syncGaps: 0,
    appendFailures: 0,
    panics: 0,
  }
}

export function countIn<K>(counts: Map<K, number>, name: K): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
