import { hostname, networkInterfaces } from 'node:os'
import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import type { Storage } from '../drivers/sql/storage.ts'
import { systemTimers } from '../kernel/timers.ts'
import { openNodeLinks } from '../links/node-links.ts'
import { createOwnLinks, type OwnLinks } from '../links/own-links.ts'
import { NodeLife } from '../nodes/node-life.ts'
import { observeNode } from '../nodes/observe-node.ts'
import { ownLinkUrl } from '../nodes/own-address.ts'
import type { NodeDescription } from '../nodes/registry.port.ts'
import { observeLinks } from '../operation/observe.ts'
import type { Gateway } from '../sync/gateway/gateway.ts'
import type { Rooms } from '../sync/gateway/rooms.ts'
import type { RoomNodes } from '../sync/gateway/rooms-deps.ts'
import { serveEdges } from '../sync/remote/edges.ts'
import { openNodeHomes } from '../sync/remote/node-homes.ts'
import { openSettling } from '../sync/remote/settling.ts'
import type { WorkerPool } from '../sync/worker-pool.port.ts'
import type { Base } from './base.ts'

/** A node that could not reach its own link_url tries again after this long. [OPS-2] */
const LOOK_AGAIN_MS = 5_000
const FIRST_HEARTBEAT_MS = 5_000
/** A node that is cut off closes its sockets within this time. */
const CUT_OFF_MS = 1_000
const LOOK_MS = 20

/** The parts that make this relay one of several nodes on its store. [LIFE-25] */
export interface Nodes {
  readonly life: NodeLife
  readonly links: OwnLinks
  /** Returns a new number for a connection: a socket of this node, or a connection on another node that joins a room here. */
  readonly nextConnection: () => number
  /** Returns the homes for rooms: the workers of this process, and other nodes. */
  roomsOver(local: WorkerPool): { readonly workers: WorkerPool; readonly nodes: RoomNodes }
  /**
   * Registers this node, opens its links and serves its rooms to the other nodes.
   *
   * @throws Error with a sentence for the operator
   */
  start(live: { readonly rooms: Rooms; readonly gateway: Gateway }): Promise<void>
}

/**
 * Makes the parts of a node; its `start` registers the node. Returns `null` for a relay that uses the store alone. [LIFE-26,
 * LIFE-27]
 *
 * @param onLost called when another process has taken the place of this one
 * @throws Error with a sentence for the operator
 */
export function openNodes(
  base: Base,
  storage: Storage,
  onLost: (error: Error) => void,
  opened: AsyncDisposableStack,
): Nodes | null {
  const { config, clock, random, log, metrics, release } = base
  if (!base.severalNodes) return null
  const timers = systemTimers
  const node = descriptionOf(config, release.version)
  const links = createOwnLinks((inc) =>
    openNodeLinks({
      own: { inc, nodeId: node.nodeId, program: node.program },
      linkUrl: node.linkUrl,
      port: config.cluster.linkPort,
      secrets: config.cluster.secret,
      random,
      clock,
      timers,
      log,
    }),
  )
  const settling = openSettling(links)
  let live: { readonly rooms: Rooms; readonly gateway: Gateway } | null = null
  /** The incarnation that has links or is opening them. */
  let linked: number | null = null
  let connections = 0
  const nextConnection = (): number => ++connections

  const closeSockets = (): void => {
    const { sessions } = live?.gateway ?? {}
    for (const connection of Array.from(sessions?.all() ?? [])) sessions?.close(connection, 1012, 'unavailable')
  }
  const linkUp = async (inc: number): Promise<void> => {
    if (linked === inc) return
    linked = inc
    await links.become(inc)
    links.setPeers(life.peers)
    void look(inc)
  }
  const look = async (inc: number): Promise<void> => {
    await links.look()
    if (linked === inc && links.reachesItself !== true) timers.after(LOOK_AGAIN_MS, () => void look(inc))
  }
  const life: NodeLife = new NodeLife({
    registry: storage.nodes,
    node,
    links: { peers: () => links.peers(), reachesItself: () => links.reachesItself },
    clock,
    timers,
    log,
    callbacks: {
      // This opens links only after a suspension; `start` opens the links of the first incarnation.
      onServe: (inc) => void (linked !== inc && live !== null && linkUp(inc).catch(onLost)),
      onRefuse: () => undefined,
      onCutOff() {
        // The other nodes are well, and can own the documents as soon as this node releases them.
        void live?.gateway.sendElsewhere(CUT_OFF_MS).then(() => {
          if (life.phase === 'cut-off') void live?.rooms.departures.release()
        })
      },
      onSuspend() {
        linked = null
        live?.rooms.departures.suspend()
        closeSockets()
        void links.end()
      },
      onPeers: (peers) => links.setPeers(peers),
      onRobbed: () => void live?.rooms.departures.robbed(),
      onLost,
    },
  })
  return {
    life,
    links,
    nextConnection,
    roomsOver(local) {
      const workers = openNodeHomes({ local, links })
      const may = {
        own: () => life.phase === 'serving',
        takeOver: () => life.mayTakeOver,
        othersServe: () => life.phase === 'cut-off',
      }
      return { workers, nodes: { may, known: life, ownership: storage.ownership, links, settling, homes: workers } }
    },
    async start(started) {
      serveEdges({ links, rooms: started.rooms.hosted, timers, nextConnection })
      settling.serve(started.rooms.hosted)
      opened.use(links)
      opened.use(life)
      await life.start()
      live = started
      if (life.inc !== null) await linkUp(life.inc)
      await served(life)
      observeNode(metrics, life)
      observeLinks(metrics, links, started.rooms)
    },
  }
}

/** Resolves when the first heartbeat is answered, or after 5 s. Until then the node may not own a document. */
async function served(life: NodeLife): Promise<void> {
  for (let waitedMs = 0; life.phase === 'joining' && waitedMs < FIRST_HEARTBEAT_MS; waitedMs += LOOK_MS)
    await new Promise<void>((resolve) => void systemTimers.after(LOOK_MS, resolve))
}

function descriptionOf({ cluster, storage }: Config, program: string): NodeDescription {
  const linkUrl = cluster.linkUrl ?? ownLinkUrl(networkInterfaces(), cluster.linkPort)
  if (linkUrl === null)
    throw new Error('this machine has no private address: set [cluster].link_url to where the other nodes reach it')
  return { nodeId: cluster.nodeId ?? `${hostname()}:${resolve(storage.dataDir)}`, linkUrl, program }
}
