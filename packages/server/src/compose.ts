import type { KeySet } from './auth/key-set.ts'
import { tenancyOf } from './auth/tenancy.ts'
import type { Base, RelayOptions } from './compose/base.ts'
import { type BlobBackend, blobCheck, openBlobBackend } from './compose/blobs.ts'
import { type Bus, openBus } from './compose/bus.ts'
import { openConsole } from './compose/console.ts'
import { openFeatures } from './compose/features.ts'
import { openFeedPlaces } from './compose/feed.ts'
import { startHousekeeping } from './compose/housekeeping.ts'
import { type Live, openLive } from './compose/live.ts'
import { type Mcp, openMcp } from './compose/mcp.ts'
import { type Nodes, openNodes } from './compose/nodes.ts'
import { openRequestBodies, openServers, type Servers } from './compose/servers.ts'
import { openTokens, type Tokens } from './compose/tokens.ts'
import { isOneOfSeveral } from './config/several-nodes.ts'
import { openStorage, type Storage } from './drivers/sql/storage.ts'
import type { StoreLoss } from './drivers/sql/store-loss.ts'
import { makeFolder } from './kernel/folders.ts'
import { boundHeapGrowth } from './kernel/heap-growth.ts'
import { newId } from './kernel/ids.ts'
import { createMetrics } from './kernel/metrics.ts'
import { startProcessMetrics } from './kernel/process-metrics.ts'
import { systemTimers } from './kernel/timers.ts'
import { checkNode } from './nodes/observe-node.ts'
import { type Checks, createReadiness } from './operation/health.ts'
import { readRelease, type Release } from './operation/release.ts'

export interface RunningRelay {
  /** The running release. */
  readonly release: Release
  readonly listeners: readonly { readonly name: string; readonly url: string }[]
  /** Resolves when nothing can be made durable any more and the process must end; otherwise never. [D10] */
  readonly failed: Promise<Error>
  /** Stops by LIFE-28; `overrun` when the grace period was too short. */
  drain(): Promise<'clean' | 'overrun'>
}

/** One of several nodes closes its sockets spread over this part of the grace at most. [WS-57] */
const CLOSING_PART = 0.5

/**
 * Parts of the grace. At the first a stop gives up the request bodies that have not arrived: their clients could keep it waiting for ever. At
 * the second it begins to materialise, whatever requests are still in progress, and at the third it cuts those.
 */
const BODIES_PART = 0.5
const REQUESTS_PART = 0.75
const CUT_PART = 0.9

/** How long the start waits for a database server that is starting too. */
const DATABASE_WAIT_MS = 30_000

/**
 * Opens everything in the order of dependence: store, blobs, revocations, keys, workers, sockets, listeners. When it
 * resolves, the ports are bound. When it rejects, with a sentence for the operator, everything is closed again.
 * [AUTH-12, AUTH-14]
 */
export async function startRelay(options: RelayOptions): Promise<RunningRelay> {
  boundHeapGrowth()
  await using opened = new AsyncDisposableStack()
  const { config, log, clock } = options
  makeFolder(config.storage.dataDir ?? 'data', 0o700)
  const release = readRelease()
  const metrics = createMetrics({ version: release.version, commit: release.commit })
  let nodes: Nodes | null = null
  const bus = await openBus({ config, clock, log, metrics }, () => 1 + (nodes?.life.peers.length ?? 0), opened)
  const base: Base = {
    ...options,
    release,
    metrics,
    tenancy: tenancyOf(config.tenancy.mode, config.tenancy.workspaceId),
    draining: { now: false },
    mcpPort: { now: null },
    ...openRequestBodies(config),
    severalNodes: isOneOfSeveral(config),
    runId: newId('run-', 16, options.random),
    hints: bus.hints,
  }
  const console = await openConsole(config, release)
  const { url, commitDelayMs } = config.storage
  const recovery = {
    points: config.recovery.ring,
    intervalMs: config.recovery.intervalSecs * 1000,
    undoBytes: config.mcp.undoBytes,
  }
  const { acceptLoss = false } = options
  const { severalNodes } = base
  let tokens: Tokens | null = null
  const onLoss = ({ kind }: StoreLoss) => {
    base.metrics.add('relay_store_losses_total', 1, { kind })
    // A loss that was found at the start is older than the set of revocations.
    void tokens?.revocations.reload().catch((error: unknown) => {
      log.error('auth.revocations.not_reloaded', 'The store came back from a loss, and its revocations could not be read.', {
        error,
      })
    })
  }
  const storage = opened.use(
    await openStorage({ url, commitDelayMs, recovery, log, serverWaitMs: DATABASE_WAIT_MS, acceptLoss, onLoss, severalNodes }),
  )
  const failure = Promise.withResolvers<Error>()
  storage.onFatal(failure.resolve)
  const blobs = await openBlobBackend(base)
  const places = await openFeedPlaces(base, storage)
  tokens = await openTokens(base, storage, places, opened)
  nodes = openNodes(base, storage, failure.resolve, opened)
  const live = openLive(base, storage, bus, tokens, places, nodes, opened)
  await nodes?.start(live)
  const checks = checksOf(base, storage, bus, blobs, tokens.keySet, nodes)
  const readiness = createReadiness(checks, { clock, timers: systemTimers })
  const features = openFeatures(base, storage, blobs, live, opened)
  const mcp = await openMcp(base, tokens, storage, bus, live, features, opened)
  const servers = openServers(base, tokens, live, { features, mcp, console }, readiness, opened)
  opened.use(startProcessMetrics(base.metrics, { dataDir: config.storage.dataDir ?? 'data' }))
  opened.use(startHousekeeping(base, storage, blobs, live, opened))
  const listeners = await bind(base, servers)
  const resources = opened.move()
  return { release, listeners, failed: failure.promise, drain: () => drain(base, servers, { live, mcp, nodes }, resources) }
}

function checksOf(base: Base, storage: Storage, bus: Bus, blobs: BlobBackend, keySet: KeySet, nodes: Nodes | null): Checks {
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
    bus: bus.check,
    blobs: blobCheck(blobs),
    keys,
    ...(nodes !== null && { cluster: () => checkNode(nodes.life) }),
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
  if (servers.mcp) {
    const mcp = await servers.mcp.listen({ host: '127.0.0.1', port: config.mcp.port })
    base.mcpPort.now = mcp.port
    listeners.push({ name: 'mcp', url: `${urlOf(mcp)}/mcp` })
  }
  return listeners
}

function urlOf(address: { readonly address: string; readonly port: number }): string {
  return `http://${address.address.includes(':') ? `[${address.address}]` : address.address}:${address.port}`
}

/** Refuses new work from the first line on. Everything acknowledged is durable whatever happens later. [LIFE-28] */
async function drain(
  base: Base,
  servers: Servers,
  { live, mcp, nodes }: { readonly live: Live; readonly mcp: Mcp | null; readonly nodes: Nodes | null },
  resources: AsyncDisposableStack,
): Promise<'clean' | 'overrun'> {
  base.draining.now = true
  mcp?.endpoint.drain()
  void nodes?.life.drain()
  const graceMs = base.config.server.shutdownGraceSecs * 1000
  const reached = (part: number) => new Promise<void>((resolve) => void systemTimers.after(graceMs * part, resolve))
  void reached(BODIES_PART).then(() => base.arrivals.giveUp())
  const [materialiseNow, cutNow] = [reached(REQUESTS_PART), reached(CUT_PART)]
  const listeners = [servers.main, ...(servers.mcp === null ? [] : [servers.mcp])]
  const stop = async () => {
    const { departures } = live.rooms
    await departures.handOver()
    await departures.endAgents()
    const closed = live.gateway.drain(nodes === null ? undefined : graceMs * CLOSING_PART)
    if (nodes !== null) await departures.handOverUntil(closed)
    const requests = Promise.all(listeners.map((each) => each.finishRequests()))
    await Promise.all([Promise.race([requests, materialiseNow]), closed])
    await departures.drain()
    const unanswered = () => listeners.reduce((sum, each) => sum + each.unanswered(), 0)
    const cut = await Promise.race([requests.then(() => 0), cutNow.then(unanswered)])
    await resources.disposeAsync()
    return cut === 0 ? ('clean' as const) : ('overrun' as const)
  }
  return Promise.race([stop(), reached(1).then(() => 'overrun' as const)])
}
