import type { WireErrorCode } from '@docrelay/protocol/codes'
import type { ErrorFrame } from '@docrelay/protocol/frames'
import type { ConfiguredLimits } from '../../access/limits.ts'
import type { Bucket, RateLimiter } from '../../access/rate-limiter.port.ts'
import type { Seats } from '../../access/seats.port.ts'
import type { TokenVerifier } from '../../auth/principal.ts'
import type { Tenancy } from '../../auth/tenancy.ts'
import type { DocumentStore } from '../../documents/document-store.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Random } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { ByteBuckets } from './byte-buckets.ts'
import type { ChunkBudget } from './chunks.ts'
import type { CloseConnection, Connection } from './connection.ts'
import type { GatewayCounters } from './gateway-counters.ts'
import type { Outbox } from './outbox.ts'
import type { RefusedSignIns } from './refused-sign-ins.ts'
import type { Rooms } from './rooms.ts'
import type { AccessPolicy } from '../../access/access.ts'

/** Configured behaviour of sockets; `null` is unlimited. */
export interface GatewaySettings {
  readonly tenancy: Tenancy
  /** The region whose tokens are accepted; `''` accepts the tokens of every region. [AUTH-8] */
  readonly region: string
  /** `['*']` or a list. [WS-4] */
  readonly corsOrigins: readonly string[]
  readonly authTimeoutMs: number
  readonly maxUnauthenticatedSockets: number
  /** CIDRs of peers whose `X-Forwarded-For` is trusted. [WS-6] */
  readonly trustedProxies: readonly string[]
  readonly wsBufferBytes: number
  readonly maxPayloadBytes: number
  readonly maxConnectionsPerWorkspace: number | null
  readonly configuredLimits: ConfiguredLimits
  readonly writes: Bucket
  readonly accessPolicy: AccessPolicy
  /** Part of the seat names, so that the seats of different nodes have different names. */
  readonly nodeId: string
}

export interface SessionDeps {
  readonly settings: GatewaySettings
  readonly verifyToken: TokenVerifier
  /** Returns whether a token is revoked, from memory and without a query. [WS-20] */
  readonly isRevoked: (jti: string) => boolean
  readonly seats: Seats
  readonly rateLimiter: RateLimiter
  readonly store: Pick<DocumentStore, 'state'>
  readonly rooms: Rooms
  /**
   * Returns the number of the next connection. Needed when connections of other nodes get numbers from the same counter; absent:
   * sessions count by themselves.
   */
  readonly nextConnection?: () => number
  /** Subscribes to early news of a workspace with connections, until the returned function is called. */
  readonly follow?: (workspaceId: string) => () => void
  /** The byte buckets of the workspaces. When absent, sessions create their own buckets. */
  readonly byteBuckets?: ByteBuckets
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly log: Logger
}

/** The state and functions that the handlers of all frame kinds share. */
export interface SessionContext extends SessionDeps {
  readonly outbox: Outbox
  readonly counters: GatewayCounters
  readonly chunkBudget: ChunkBudget
  readonly byteBuckets: ByteBuckets
  readonly refusedSignIns: RefusedSignIns
  /** Delays the close of a refused socket. Returns false when too many sockets of its address wait already. [WS-16] */
  holdRefused(connection: Connection): boolean
  /** Returns the next number in the order of all messages sent to rooms. */
  nextOrder(): number
  readonly close: CloseConnection
  /** `ordinal` of a refused write-bearing message, 0 for none. [WS-9] */
  sendError(
    connection: Connection,
    code: WireErrorCode,
    text: string,
    ordinal?: number,
    full?: Pick<ErrorFrame, 'bound' | 'limit'>,
  ): void
  /** Sends ERR_DELETED for a document that could not be joined; it names the successor after a restore. [WS-63] */
  sendDeleted(connection: Connection, successor: string | null): void
  /** Sends ERR_LINEAGE, which names the current lineage. [WS-62] */
  sendOtherLineage(connection: Connection, present: string): void
  violation(connection: Connection): void
  /** Leaves the document, if the connection is joined to one. The connection stays authenticated. */
  unbind(connection: Connection): void
  pause(connection: Connection, reason: number): void
  /** Sends a step1 when a write token is free: not before `afterMs`, and after 5 s at the latest. [WS-29] */
  requestResync(connection: Connection, afterMs: number, drops?: 'drops-updates'): void
  /** Records that the connection now belongs to a workspace. */
  authenticated(connection: Connection, workspaceId: string): void
}
