import { bucketOf } from '../access/rate-limiter.port.ts'
import { availableParallelism } from 'node:os'
import { memoryRateLimiter, memorySeats } from '../drivers/memory-limits.ts'
import type { RateLimiter } from '../access/rate-limiter.port.ts'
import type { Seats } from '../access/seats.port.ts'
import type { Storage } from '../drivers/sql/storage.ts'
import { newId } from '../kernel/ids.ts'
import { LateLoop } from '../kernel/late-loop.ts'
import { systemTimers, waitingTimers } from '../kernel/timers.ts'
import { observeLive, observeStorage } from '../operation/observe.ts'
import { createDocumentEvents } from '../sync/gateway/events.ts'
import type { DocumentEvents } from '../documents/document-events.port.ts'
import { type ChangeRecords, createChangeRecords } from '../documents/change-records.ts'
import { createDocumentChanges, type DocumentChanges } from '../documents/document-changes.ts'
import { createGateway, type Gateway } from '../sync/gateway/gateway.ts'
import { openRooms, type Rooms } from '../sync/gateway/rooms.ts'
import { openDocumentWorkers } from '../sync/workers/document-workers.ts'
import { openRoomHomes, type Placement } from '../sync/workers/room-homes.ts'
import type { Base } from './base.ts'
import type { Bus } from './bus.ts'
import { type FeedPlaces, startChangeFeed } from './feed.ts'
import type { Nodes } from './nodes.ts'
import type { Tokens } from './tokens.ts'
import { accessPolicyOf } from './access-policy.ts'

/** Live documents, their sockets, and what both share with REST. */
export interface Live {
  readonly rooms: Rooms
  readonly gateway: Gateway
  readonly events: DocumentEvents
  /** Changes of stored documents, made by any node. */
  readonly changes: DocumentChanges
  /** Stored changes that this node made itself. */
  readonly written: Pick<DocumentChanges, 'listen'>
  readonly records: ChangeRecords
  readonly seats: Seats
  readonly rateLimiter: RateLimiter
}

export function openLive(
  base: Base,
  storage: Storage,
  bus: Bus,
  tokens: Tokens,
  places: FeedPlaces | null,
  several: Nodes | null,
  opened: AsyncDisposableStack,
): Live {
  const { config, clock, random, log, tenancy } = base
  const { limits } = config.tenancy
  const timers = systemTimers
  const seats = base.severalNodes ? storage.seats : memorySeats()
  const lateLoop = opened.use(new LateLoop(clock, timers))
  const rateLimiter = bus.rateLimiter ?? memoryRateLimiter(clock, () => lateLoop.delayMs())
  const roomOptions = { maxDocBytes: limits.maxDocBytes }
  const homes = opened.use(
    openRoomHomes({
      threads: openDocumentWorkers({
        count: workerCount(),
        storagePort: () => storage.workerPort(),
        log,
        options: { rooms: roomOptions, first: 1 },
      }),
      placement: placementOf(process.env),
      documents: storage.documents,
      updates: storage.updates,
      recovery: storage.recovery,
      clock,
      timers,
      appendTimers: waitingTimers,
      random,
      log,
      rooms: roomOptions,
    }),
  )
  const changes = createDocumentChanges()
  const records = createChangeRecords()
  const rooms = opened.use(
    openRooms({
      ...(several === null ? { workers: homes } : several.roomsOver(homes)),
      store: storage.documents,
      clock,
      timers,
      log,
      edited: (ref) => changes.edited(ref),
      records,
      cacheMaxBytes: config.storage.docCacheMaxBytes,
    }),
  )
  const gateway = opened.use(
    createGateway({
      settings: {
        tenancy,
        region: config.server.region ?? '',
        corsOrigins: config.server.corsOrigins,
        authTimeoutMs: config.server.authTimeoutSecs * 1000,
        maxUnauthenticatedSockets: config.server.maxUnauthenticatedSockets,
        trustedProxies: config.server.trustedProxies,
        wsBufferBytes: config.server.wsBufferBytes,
        maxPayloadBytes: limits.maxWsPayloadBytes,
        maxConnectionsPerWorkspace: limits.maxWsConnectionsPerWorkspace,
        configuredLimits: limits,
        writes: bucketOf(limits.writesPerSec, limits.writesBurst),
        accessPolicy: accessPolicyOf(config),
        nodeId: config.cluster.nodeId ?? newId('node-', 12, random),
      },
      verifyToken: tokens.verify,
      isRevoked: (jti) => tokens.revocations.has(jti),
      seats,
      rateLimiter,
      store: storage.documents,
      rooms,
      follow: (workspaceId) => base.hints.follow(workspaceId),
      ...(several !== null && { nextConnection: several.nextConnection }),
      clock,
      timers,
      random,
      log,
    }),
  )
  observeLive(base.metrics, gateway, rooms)
  observeStorage(base.metrics, () => storage.stats())
  const connections = createDocumentEvents({
    ofWorkspace: (workspaceId) => gateway.sessions.ofWorkspace(workspaceId),
    outbox: gateway.sessions.outbox,
    accessPolicy: accessPolicyOf(config),
  })
  const here: DocumentEvents = {
    publish(event) {
      connections.publish(event)
      changes.published(event)
    },
  }
  const shared = { rooms, gateway, changes, records, seats, rateLimiter }
  if (places === null) return { ...shared, events: here, written: changes }
  // Callers of this node learn of its own changes from the feed, once, like those of other nodes.
  const written = createDocumentChanges()
  startChangeFeed(base, storage, places.changes, { rooms, events: here, changes, records }, opened)
  return { ...shared, events: { publish: (event) => written.published(event) }, written }
}

/**
 * Reads which home rooms must have. Tests of hostile input force one kind with `RELAY_TEST_HOOKS=1` and `RELAY_TEST_HOMES=light` or `heavy`.
 */
function placementOf({ RELAY_TEST_HOOKS: allowed, RELAY_TEST_HOMES: forced }: NodeJS.ProcessEnv): Placement {
  return allowed === '1' && (forced === 'light' || forced === 'heavy') ? forced : 'auto'
}

/**
 * Returns the number of document workers. One core is left for sockets and HTTP. At least two workers, so that one bad document never stops all others.
 * [C2]
 */
function workerCount(): number {
  return Math.min(8, Math.max(2, availableParallelism() - 1))
}
