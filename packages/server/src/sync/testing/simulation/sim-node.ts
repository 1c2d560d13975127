import { OPEN_DOCS } from '../../../access/testing/policies.ts'
import type { Access } from '../../../access/access.ts'
import type { TokenVerifier } from '../../../auth/principal.ts'
import { createDocuments, type Documents } from '../../../documents/documents.ts'
import { memoryRateLimiter, memorySeats } from '../../../drivers/memory-limits.ts'
import { createFeedConsumer } from '../../../feed/feed-consumer.ts'
import { type FeedReader, startFeedReader } from '../../../feed/feed-reader.ts'
import { silentLogger } from '../../../kernel/log.ts'
import { createOwnLinks, type OwnLinks } from '../../../links/own-links.ts'
import { NodeLife } from '../../../nodes/node-life.ts'
import { createDocumentEvents } from '../../gateway/events.ts'
import { createGateway, type Gateway } from '../../gateway/gateway.ts'
import { openRooms, type Rooms } from '../../gateway/rooms.ts'
import type { GatewaySettings } from '../../gateway/session-context.ts'
import type { Incarnation } from '../../ownership.port.ts'
import { serveEdges } from '../../remote/edges.ts'
import { openNodeHomes } from '../../remote/node-homes.ts'
import type { WorkerPool } from '../../worker-pool.port.ts'
import { LightHome } from '../../workers/light-home.ts'
import type { FromWorker } from '../../worker-messages.ts'
import { type Choices, Process, type Schedule } from './schedule.ts'
import type { Sabotage } from './sabotage.ts'
import type { SimSocket, SocketListener } from './sim-client.ts'
import { DatabaseLine, lineOwnership, lineStores, type SimDatabase } from './sim-database.ts'
import type { SimNetwork } from './sim-network.ts'
import type { SimRegistry } from './sim-registry.ts'
import { seenAsDurable, unlookedRows } from './sabotage.ts'
import { openSocket, type ServerSocket } from './sim-socket.ts'

/** The objects that all processes of a simulation share. */
export interface World {
  readonly schedule: Schedule
  readonly choices: Choices
  readonly database: SimDatabase
  readonly registry: SimRegistry
  readonly network: SimNetwork
  readonly sabotage: Sabotage | null
  /** Sends other processes a hint that the feed has a new row, as the bus does when there is one. */
  hint(from: SimNode, workspaceId: string, id: number): void
}

export const WORKSPACE = 'ws'
const HOME = -1
/** The expiry of every token. It is far beyond the end of a simulation. */
const NEVER_SEC = 10_000_000_000
const START_AGAIN_MS = 500
const CLOSING_MS = 1_000

const SETTINGS: GatewaySettings = {
  tenancy: { mode: 'dedicated', workspaceId: WORKSPACE },
  region: '',
  corsOrigins: ['*'],
  authTimeoutMs: 10_000,
  maxUnauthenticatedSockets: 256,
  trustedProxies: [],
  wsBufferBytes: 8 * 1024 * 1024,
  maxPayloadBytes: 262_144,
  maxConnectionsPerWorkspace: null,
  configuredLimits: { storageQuotaBytes: null, maxEditorsPerWorkspace: null, maxDocBytes: null },
  writes: { ratePerSec: null, burst: 0 },
  accessPolicy: OPEN_DOCS,
  nodeId: '',
}

export const ACCESS: Access = {
  sub: 'reader',
  workspaceId: WORKSPACE,
  role: 'owner',
  limits: {
    quotaBytes: null,
    quotaSource: 'config',
    editorLimit: null,
    editorLimitSource: 'config',
    maxDocBytes: null,
    maxDocBytesSource: 'config',
  },
}

/** Accepts any token and uses it as the name of its holder. */
const verifyToken: TokenVerifier = async (token) => ({
  kind: 'verified',
  principal: {
    sub: token,
    jti: token,
    expSec: NEVER_SEC,
    memberships: [{ workspaceId: WORKSPACE, role: 'member', region: undefined, claims: {} }],
  },
})

/**
 * One process of a node. It is composed as in `compose/nodes.ts`, `compose/live.ts` and `compose/feed.ts`. Only the store, the network, the
 * sockets and the time are replaced; everything else is the code of the relay.
 */
export class SimNode {
  readonly name: string
  /** The name of the process. Each start of a node gets a new name. */
  readonly id: string
  readonly process: Process
  readonly line: DatabaseLine
  readonly life: NodeLife
  readonly documents: Documents
  isDraining = false
  readonly #world: World
  readonly #links: OwnLinks
  readonly #gateway: Gateway
  readonly #rooms: Rooms
  readonly #sockets = new Set<ServerSocket>()
  readonly #feedOf: () => Promise<FeedReader>
  #reader: FeedReader | null = null
  #linked: Incarnation | null = null
  #lastInc: Incarnation = 0

  constructor(world: World, name: string, id: string) {
    this.#world = world
    this.name = name
    this.id = id
    const { schedule, choices, database, registry, network, sabotage } = world
    const process = new Process(schedule)
    this.process = process
    const line = new DatabaseLine(database, process, id)
    this.line = line
    const { clock, timers } = process
    const log = silentLogger
    const random = choices.random()
    const inc = (): Incarnation => (this.#lastInc = this.life.inc ?? this.#lastInc)
    const stores = lineStores(database, line, id, inc, sabotage)
    const ownership = lineOwnership(database, line, inc)
    const changed = sabotage === 'since-seen' ? seenAsDurable() : (message: { readonly kind: string }) => message
    const links = createOwnLinks(async (own) => network.open(own, name, process, changed))
    this.#links = links
    this.life = new NodeLife({
      registry: registry.of(process, line),
      node: { nodeId: name, linkUrl: `ws://${name}`, program: 'simulation' },
      links: { peers: () => links.peers(), reachesItself: () => links.reachesItself },
      clock,
      timers,
      log,
      callbacks: {
        onServe: (own) => void (this.#linked !== own && this.#reader !== null && this.#linkUp(own)),
        onRefuse: () => undefined,
        onCutOff: () => {
          database.oracle.note(`${id} is cut off`)
          this.#closeSockets()
          void this.#rooms.departures.release()
        },
        onSuspend: () => {
          database.oracle.note(`${id} is suspended`)
          this.#linked = null
          this.#rooms.departures.suspend()
          this.#closeSockets()
          void links.end()
        },
        onPeers: (peers) => links.setPeers(peers),
        onRobbed: () => void this.#rooms.departures.robbed(),
        onLost: () => this.end(),
      },
    })
    let connections = 0
    const nextConnection = (): number => ++connections
    const homes = openNodeHomes({ local: lightPool({ ...stores, clock, timers, random, log, process }), links })
    const may = { own: () => this.life.phase === 'serving', takeOver: () => this.life.mayTakeOver }
    const remembered = sabotage === 'no-row-check' ? unlookedRows(ownership, stores.documents) : null
    this.#rooms = openRooms({
      workers: homes,
      store: remembered?.store ?? stores.documents,
      clock,
      timers,
      log,
      idleMs: 3_000,
      nodes: { may, ownership: remembered?.ownership ?? ownership, links, homes },
    })
    const rooms = this.#rooms
    serveEdges({ links, rooms: rooms.hosted, timers, nextConnection })
    const kernel = { clock, timers, random, log }
    this.#gateway = createGateway({
      settings: { ...SETTINGS, nodeId: name },
      verifyToken,
      isRevoked: () => false,
      seats: memorySeats(),
      rateLimiter: memoryRateLimiter(clock),
      store: stores.documents,
      rooms,
      nextConnection,
      ...kernel,
    })
    const { sessions } = this.#gateway
    const events = createDocumentEvents({
      ofWorkspace: (workspaceId) => sessions.ofWorkspace(workspaceId),
      outbox: sessions.outbox,
      accessPolicy: OPEN_DOCS,
    })
    this.documents = createDocuments({
      store: stores.documents,
      residents: rooms,
      // Nothing is published here, because a node also gets its own changes from the feed.
      events: { publish: () => undefined },
      bodies: NO_BODIES,
      accessPolicy: OPEN_DOCS,
      metrics: { add: () => undefined },
      ...kernel,
    })
    const consumer = createFeedConsumer({
      rooms: {
        sharingChanged: (head) => rooms.sharingChanged(head),
        bodyChanged: (ref, version) => rooms.bodyChanged(ref, version),
        dropLife: (document) => rooms.news.dropLife(document),
        handedOut: (document, seq) => rooms.news.handedOut(document, seq),
        ownedElsewhere: (ref) => void rooms.departures.lostTo(ref),
        repaired: () => undefined,
      },
      events,
      edited: () => undefined,
      changedElsewhere: () => undefined,
      log,
    })
    this.#feedOf = async () => {
      const place = await stores.changeFeed.begin()
      database.oracle.reads(id, place)
      const tell = (row: Parameters<typeof consumer.tell>[0]): void => {
        database.oracle.told(id, row.id)
        consumer.tell(row)
      }
      return startFeedReader({ name: 'changes', table: stores.changeFeed, place, tell, clock, timers, log })
    }
    line.onTold = (workspaceId, feedId) => {
      this.#reader?.hint(feedId)
      world.hint(this, workspaceId, feedId)
    }
  }

  /** Is true when the node reports to a load balancer that it is ready. */
  get isReady(): boolean {
    return !this.process.hasEnded && !this.isDraining && this.life.phase === 'serving'
  }

  /** Starts the life of the node. Tries again until the database accepts it. */
  async start(): Promise<void> {
    const { timers } = this.process
    for (;;) {
      try {
        this.#reader ??= await this.#feedOf()
        await this.life.start()
        break
      } catch {
        await new Promise<void>((resolve) => void timers.after(START_AGAIN_MS, resolve))
      }
    }
    if (this.life.inc !== null) await this.#linkUp(this.life.inc)
  }

  hint(id: number): void {
    this.#reader?.hint(id)
  }

  accept(listener: SocketListener): SimSocket {
    const { schedule, choices } = this.#world
    const { sessions } = this.#gateway
    const ended = (socket: ServerSocket): void => void this.#sockets.delete(socket)
    const { near, far } = openSocket({ sessions, process: this.process, schedule, choices, listener, ended })
    this.#sockets.add(far)
    return near
  }

  pause(): void {
    this.process.isPaused = true
    if (this.life.inc !== null) this.#world.network.paused(this.life.inc)
  }

  resume(): void {
    if (!this.process.isPaused) return
    this.process.resume()
    if (this.#linked !== null) this.#world.network.resumed(this.#linked)
  }

  /** Ends the process at once. */
  end(): void {
    this.process.hasEnded = true
    if (this.#linked !== null) this.#world.network.close(this.#linked)
    for (const socket of this.#sockets) socket.broken()
  }

  /** Stops the node as SIGTERM does, then ends the process. */
  async drain(): Promise<void> {
    this.isDraining = true
    const { departures } = this.#rooms
    void this.life.drain()
    await departures.handOver()
    await departures.endAgents()
    const closed = this.#gateway.drain(CLOSING_MS)
    await departures.handOverUntil(closed)
    await departures.drain()
    await this.#reader?.[Symbol.asyncDispose]()
    await this.#links.end()
    await this.life[Symbol.asyncDispose]()
    this.end()
  }

  #closeSockets(): void {
    const { sessions } = this.#gateway
    for (const connection of Array.from(sessions.all())) sessions.close(connection, 1012, 'unavailable')
  }

  async #linkUp(inc: Incarnation): Promise<void> {
    if (this.#linked === inc) return
    this.#linked = inc
    await this.#links.become(inc)
    await this.#links.look()
  }
}

/** Throws when it is used. Only PUTs and tools parse bodies, and a simulation makes neither. */
const NO_BODIES = new Proxy({} as Parameters<typeof createDocuments>[0]['bodies'], {
  get() {
    throw new Error('nobody parses bodies here')
  },
})

type LightOptions = Omit<ConstructorParameters<typeof LightHome>[0], 'deliver'>

/** The home of all rooms of a process: its main loop. */
function lightPool({ process, ...given }: LightOptions & { readonly process: Process }): WorkerPool {
  const listeners: ((home: number, message: FromWorker) => void)[] = []
  const home = new LightHome({
    ...given,
    rooms: { saveIdleMs: 1_000, saveLatestMs: 3_000, compactRecords: 15 },
    soon: (work) => void process.after(0, work),
    deliver: (message) => {
      for (const listener of listeners) listener(HOME, message)
    },
  })
  return {
    homeFor: () => HOME,
    keepApart: () => undefined,
    takes: () => true,
    post: (_, message) => home.post(message),
    onMessage: (listener) => void listeners.push(listener),
    onMisplaced: () => undefined,
    onEnded: () => undefined,
  }
}
