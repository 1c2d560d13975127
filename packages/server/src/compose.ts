import { mkdir } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { PROTOCOL_MINOR, PROTOCOL_VERSION } from '@docrelay/protocol/version'
import { resolveLimits } from './access/limits.ts'
import { authRoutes } from './auth/auth.routes.ts'
import { createInternalBearer } from './auth/internal-bearer.ts'
import { type KeySet, openKeySet } from './auth/key-set.ts'
import { startRevocationPoll } from './auth/revocation-poll.ts'
import { openRevocations, type Revocations } from './auth/revocations.ts'
import { tenancyOf } from './auth/tenancy.ts'
import { createTokenVerifier } from './auth/verify-token.ts'
import type { Config } from './config/config.ts'
import { openBodies } from './documents/bodies.ts'
import { createDocuments } from './documents/documents.ts'
import { documentRoutes } from './documents/documents.routes.ts'
import { memoryRateLimiter, memorySeats } from './drivers/memory-limits.ts'
import { openStorage, type Storage } from './drivers/sql/storage.ts'
import { createApp } from './http/app.ts'
import { documentBodyLimit } from './http/request-body.ts'
import { createHttpServer, type HttpServer } from './http/server.ts'
import type { Route } from './http/route.ts'
import type { Clock } from './kernel/clock.ts'
import { newId, type Random } from './kernel/ids.ts'
import type { Logger } from './kernel/log.ts'
import { createMetrics, type Metrics } from './kernel/metrics.ts'
import { startProcessMetrics } from './kernel/process-metrics.ts'
import { systemTimers } from './kernel/timers.ts'
import { healthRoutes } from './operation/health.routes.ts'
import { createReadiness, type Readiness } from './operation/health.ts'
import { startMaintenance } from './operation/maintenance.ts'
import { metricsRoutes } from './operation/metrics.routes.ts'
import { observeLive, observeStorage, observeTokens } from './operation/observe.ts'
import { type Release, readRelease } from './operation/release.ts'
import { openPreviews } from './previews/previews.ts'
import { previewRoutes } from './previews/previews.routes.ts'
import { type DocumentWorkers, openDocumentWorkers } from './sync/workers/document-workers.ts'
import { createDocumentEvents } from './sync/gateway/events.ts'
import { createGateway, type Gateway } from './sync/gateway/gateway.ts'
import { openRooms, type Rooms } from './sync/gateway/rooms.ts'

export interface RelayOptions {
  readonly config: Config
  readonly log: Logger
  readonly clock: Clock
  readonly random: Random
}

export interface RunningRelay {
  readonly listeners: readonly { readonly name: string; readonly url: string }[]
  /** Resolves when nothing can be made durable any more and the process must end; else never. [D10] */
  readonly failed: Promise<Error>
  /** Stops as LIFE-28 rules; `overrun` when the grace was not enough. */
  drain(): Promise<'clean' | 'overrun'>
}

/** What every later step of the start may use. */
interface Base extends RelayOptions {
  readonly metrics: Metrics
  readonly release: Release
  readonly tenancy: ReturnType<typeof tenancyOf>
  readonly draining: { now: boolean }
}

/** A database server that is started at the same moment is waited for. */
const DATABASE_WAIT_MS = 30_000

/**
 * Opens everything in the order of its needs: store, revocations, keys, workers, sockets, listeners. When it resolves, the ports are bound.
 * Rejects with a sentence for the operator, and then everything opened is closed again. [AUTH-12, AUTH-14]
 */
export async function startRelay(options: RelayOptions): Promise<RunningRelay> {
  await using opened = new AsyncDisposableStack()
  const { config, log, clock } = options
  await mkdir(config.storage.dataDir ?? 'data', { recursive: true, mode: 0o700 })
  const release = readRelease()
  const base: Base = {
    ...options,
    release,
    metrics: createMetrics({ version: release.version, commit: release.commit }),
    tenancy: tenancyOf(config.tenancy.mode, config.tenancy.workspaceId),
    draining: { now: false },
  }
  const { url, commitDelayMs } = config.storage
  const storage = opened.use(await openStorage({ url, commitDelayMs, log, serverWaitMs: DATABASE_WAIT_MS }))
  const failed = new Promise<Error>((resolve) => storage.onFatal(resolve))
  const tokens = await openTokens(base, storage, opened)
  const live = openLive(base, storage, tokens, opened)
  const readiness = createReadiness(checksOf(base, storage, tokens.keySet), clock)
  const servers = openServers(base, storage, tokens, live, readiness, opened)
  opened.use(startProcessMetrics(base.metrics, { dataDir: config.storage.dataDir ?? 'data' }))
  opened.use(
    startMaintenance({ store: storage.documents, clock, timers: systemTimers, log, tombstoneDays: config.storage.tombstoneDays }),
  )
  const listeners = await bind(base, servers)
  const resources = opened.move()
  return { listeners, failed, drain: () => drain(base, servers, live, resources) }
}

interface Tokens {
  readonly keySet: KeySet
  readonly revocations: Revocations
  readonly verify: ReturnType<typeof createTokenVerifier>
}

async function openTokens(base: Base, storage: Storage, opened: AsyncDisposableStack): Promise<Tokens> {
  const { config, clock, log } = base
  const { auth } = config
  const polling =
    auth.revocationPollingUrl !== null && auth.revocationPollingBearer !== null
      ? { url: auth.revocationPollingUrl, bearer: auth.revocationPollingBearer }
      : null
  const hasTransport = auth.revocationPushBearer !== null || polling !== null
  const revocations = await openRevocations({ store: storage.revocations, clock, log, hasTransport })
  if (polling) {
    const intervalMs = auth.revocationPollingIntervalSeconds * 1000
    opened.use(startRevocationPoll({ ...polling, intervalMs, revocations, clock, log }))
  }
  const keySet = opened.use(openKeySet({ url: auth.jwksUrl, clock, log }))
  await keySet.firstFetch(10_000)
  const { issuer, audience, resource } = auth
  const verify = createTokenVerifier({ issuer, audience, resource, keySet, revocations, clock })
  observeTokens(base.metrics, keySet, revocations)
  return { keySet, revocations, verify }
}

interface Live {
  readonly workers: DocumentWorkers
  readonly rooms: Rooms
  readonly gateway: Gateway
}

function openLive(base: Base, storage: Storage, tokens: Tokens, opened: AsyncDisposableStack): Live {
  const { config, clock, random, log, tenancy } = base
  const { limits } = config.tenancy
  const timers = systemTimers
  const workers = opened.use(
    openDocumentWorkers({
      count: workerCount(),
      storagePort: () => storage.workerPort(),
      log,
      options: { rooms: { maxDocBytes: limits.maxDocBytes } },
    }),
  )
  const rooms = opened.use(openRooms({ workers, store: storage.documents, clock, timers, log }))
  const gateway = opened.use(
    createGateway({
      settings: {
        tenancy,
        region: config.server.region ?? '',
        corsOrigins: config.server.corsOrigins,
        authTimeoutMs: config.server.authTimeoutSecs * 1000,
        maxUnauthenticatedSockets: config.server.maxUnauthenticatedSockets,
        wsBufferBytes: config.server.wsBufferBytes,
        maxPayloadBytes: limits.maxWsPayloadBytes,
        maxConnectionsPerWorkspace: limits.maxWsConnectionsPerWorkspace,
        configuredLimits: limits,
        writes: { ratePerSec: limits.writesPerSec, burst: limits.writesBurst },
        enforcePrivateDocs: config.permissions.enforcePrivateDocs,
        nodeId: config.cluster.nodeId ?? newId('node-', 12, random),
      },
      verifyToken: tokens.verify,
      isRevoked: (jti) => tokens.revocations.has(jti),
      seats: memorySeats(),
      rateLimiter: memoryRateLimiter(clock),
      store: storage.documents,
      rooms,
      clock,
      timers,
      random,
      log,
    }),
  )
  observeLive(base.metrics, gateway, rooms)
  observeStorage(base.metrics, () => storage.stats())
  return { workers, rooms, gateway }
}

/** One core is left to sockets and HTTP; two workers at least, so that one bad document never stops every other. [C2] */
function workerCount(): number {
  return Math.min(8, Math.max(2, availableParallelism() - 1))
}

interface Servers {
  readonly main: HttpServer
  /** The loopback listener of local metrics. */
  readonly metrics: HttpServer | null
}

function openServers(
  base: Base,
  storage: Storage,
  tokens: Tokens,
  live: Live,
  readiness: () => Promise<Readiness>,
  opened: AsyncDisposableStack,
): Servers {
  const { config, clock, log, random, metrics, tenancy } = base
  const { limits } = config.tenancy
  const bodies = opened.use(openBodies({ maxBytes: documentBodyLimit(limits.maxDocBytes), log }))
  const documents = createDocuments({
    store: storage.documents,
    residents: live.rooms,
    events: createDocumentEvents({
      ofWorkspace: (workspaceId) => live.gateway.sessions.ofWorkspace(workspaceId),
      outbox: live.gateway.sessions.outbox,
      enforcePrivateDocs: config.permissions.enforcePrivateDocs,
    }),
    bodies,
    enforcePrivateDocs: config.permissions.enforcePrivateDocs,
    clock,
    log,
    metrics,
  })
  const app = (routes: readonly Route[]) =>
    createApp({
      routes,
      verify: tokens.verify,
      tenancy,
      limitsOf: (claims) => resolveLimits(claims, limits),
      internalBearer: createInternalBearer(config.auth.revocationPushBearer),
      corsOrigins: config.server.corsOrigins,
      maxDocBytes: limits.maxDocBytes,
      isDraining: () => base.draining.now,
      parseJson: (bytes) => bodies.parse(bytes),
      clock,
      random,
      log,
      metrics,
    })
  const metricRoutes = metricsRoutes(metrics)
  const routes = [
    ...documentRoutes({ documents, editorClient: config.compat.editorClient }),
    ...previewRoutes({ previews: opened.use(openPreviews({ documents, log })) }),
    ...authRoutes({ revocations: tokens.revocations, pushConfigured: config.auth.revocationPushBearer !== null, log }),
    ...healthRoutes({
      readiness,
      version: { ...base.release, server: 'docrelay', protocolVersion: PROTOCOL_VERSION, protocolMinor: PROTOCOL_MINOR },
    }),
    ...(config.metrics.expose === 'public' ? metricRoutes : []),
  ]
  const { corsOrigins } = config.server
  const onUpgrade = live.gateway.handleUpgrade.bind(live.gateway)
  return {
    main: opened.use(createHttpServer({ app: app(routes), onUpgrade, corsOrigins, random })),
    metrics:
      config.metrics.expose === 'local'
        ? opened.use(createHttpServer({ app: app(metricRoutes), corsOrigins: [], random }))
        : null,
  }
}

function checksOf(base: Base, storage: Storage, keySet: KeySet): Parameters<typeof createReadiness>[0] {
  const answers = async () => {
    await storage.ping()
    return { ok: true }
  }
  const keys = () => {
    const state = keySet.state()
    return { ok: state === 'fresh' || state === 'grace', detail: state }
  }
  return {
    storage: answers,
    log: answers,
    bus: () => ({ ok: true, detail: 'in memory' }),
    blobs: () => ({ ok: true, detail: 'not in use' }),
    keys,
    draining: () => ({ ok: !base.draining.now }),
  }
}

async function bind(base: Base, servers: Servers): Promise<RunningRelay['listeners']> {
  const { config } = base
  const main = await servers.main.listen({ host: config.server.host, port: config.server.port })
  const listeners = [{ name: 'main', url: urlOf(main) }]
  if (servers.metrics) {
    const metrics = await servers.metrics.listen({ host: '127.0.0.1', port: config.metrics.port })
    listeners.push({ name: 'metrics', url: `${urlOf(metrics)}/metrics` })
  }
  return listeners
}

function urlOf(address: { readonly address: string; readonly port: number }): string {
  return `http://${address.address.includes(':') ? `[${address.address}]` : address.address}:${address.port}`
}

/** New work is refused from the first line on; what is acknowledged is durable whatever happens after. [LIFE-28] */
async function drain(base: Base, servers: Servers, live: Live, resources: AsyncDisposableStack): Promise<'clean' | 'overrun'> {
  base.draining.now = true
  const graceMs = base.config.server.shutdownGraceSecs * 1000
  const stop = async () => {
    await Promise.all([servers.main.finishRequests(), live.gateway.drain()])
    await live.rooms.drain()
    await resources.disposeAsync()
    return 'clean' as const
  }
  const overrun = new Promise<'overrun'>((resolve) => systemTimers.after(graceMs, () => resolve('overrun')))
  return Promise.race([stop(), overrun])
}
