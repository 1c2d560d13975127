import type { tenancyOf } from '../auth/tenancy.ts'
import type { Config } from '../config/config.ts'
import type { FeedHints } from '../feed/hints.port.ts'
import type { Arrivals } from '../http/arrivals.ts'
import type { BodyBudget } from '../http/body-budget.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Random } from '../kernel/ids.ts'
import type { Logger } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Release } from '../operation/release.ts'

export interface RelayOptions {
  readonly config: Config
  readonly log: Logger
  readonly clock: Clock
  readonly random: Random
  /** `--accept-loss`: serve a store that has lost acknowledged writes. [CFG-11] */
  readonly acceptLoss?: boolean
}

/** The parts that every later step of the start may use. */
export interface Base extends RelayOptions {
  readonly metrics: Metrics
  readonly release: Release
  readonly tenancy: ReturnType<typeof tenancyOf>
  readonly draining: { now: boolean }
  /** The port of the loopback MCP listener; `null` until it is bound. */
  readonly mcpPort: { now: number | null }
  /** Whether several nodes use the store. */
  readonly severalNodes: boolean
  /** Identifies this start of this process, for leases. */
  readonly runId: string
  /** Hints to other nodes that the change feed has a new row. */
  readonly hints: FeedHints
  /** The budget of request bodies, which all listeners share. */
  readonly budget: BodyBudget
  /** The request bodies that all listeners wait for. */
  readonly arrivals: Arrivals
}
