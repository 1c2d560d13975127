import type { Arrivals } from '../http/arrivals.ts'
import type { BodyBudget } from '../http/body-budget.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Random } from '../kernel/ids.ts'
import type { Logger } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Timers } from '../kernel/timers.ts'
import type { ReadCredential } from './credentials.ts'
import type { McpParts } from './methods.ts'
import type { TakeRate } from './rate.ts'
import type { SessionFacts } from './session-facts.port.ts'
import type { SessionLimits } from './session-room.ts'

export interface EndpointDeps {
  readonly parts: McpParts
  readonly readCredential: ReadCredential
  readonly takeRate: TakeRate
  /**
   * For nodes that serve the same sessions: `keys` seal session ids (the first one seals new ids), and `facts` stores what clients changed
   * in their sessions. `null` for a single node. [MCP-31]
   */
  readonly sharedSessions: { readonly keys: readonly Uint8Array[]; readonly facts: SessionFacts } | null
  /** Replaces the limits of MCP-34 in tests. */
  readonly sessionLimits?: SessionLimits
  /** Parses strict JSON, long bytes off the main thread; throws BAD_JSON, BODY_TOO_LARGE or UNAVAILABLE. */
  readonly parseJson: (bytes: Uint8Array, maxBytes: number, workspaceId: string) => Promise<unknown>
  /** The budget for request bodies, shared with the REST routes. [H3] */
  readonly budget: BodyBudget
  /** The request bodies that the process waits for, shared with the REST routes. [LIFE-28] */
  readonly arrivals: Arrivals
  readonly isDraining: () => boolean
  readonly corsOrigins: readonly string[]
  /** An empty list allows every origin. [MCP-5] */
  readonly allowedOrigins: readonly string[]
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly log: Logger
  readonly metrics: Pick<Metrics, 'add' | 'observe'>
}
