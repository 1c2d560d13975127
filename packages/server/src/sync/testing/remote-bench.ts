import { systemTimers } from '../../kernel/timers.ts'
import { openRooms, type Rooms } from '../gateway/rooms.ts'
import type { RoomsDeps } from '../gateway/rooms-deps.ts'
import type { NodeLinks } from '../node-links.port.ts'
import type { Ownership } from '../ownership.port.ts'
import { serveEdges } from '../remote/edges.ts'
import { openNodeHomes } from '../remote/node-homes.ts'
import type { WorkerPool } from '../worker-pool.port.ts'
import { createMemoryNetwork } from './memory-links.ts'
import { MemoryOwnership } from './memory-ownership.ts'

const EDGE = 1

/** The node to which the workers belong. */
export const OWNER = 2

/**
 * Opens the rooms of an edge. The owner of every document is another node in the same process, which runs its rooms in `deps.workers`.
 * `owned` is the port of this owner, for tests in which the store compares owners.
 */
export function openRemoteRooms(deps: RoomsDeps, owned?: Ownership): Rooms {
  const network = createMemoryNetwork()
  const ownership = owned ?? new MemoryOwnership({ clock: deps.clock }).of(OWNER)
  let isScheduled = false
  const linksOf = (inc: number): NodeLinks => {
    const links = network.join(inc)
    return {
      ...links,
      post(peer, message) {
        links.post(peer, message)
        if (isScheduled) return
        isScheduled = true
        setImmediate(() => {
          isScheduled = false
          network.deliverAll()
        })
      },
    }
  }
  const [edgeLinks, ownerLinks] = [linksOf(EDGE), linksOf(OWNER)]
  const ownerHomes = openNodeHomes({ local: deps.workers, links: ownerLinks })
  const owner = openRooms({
    ...deps,
    workers: ownerHomes,
    nodes: { ownership, links: ownerLinks, homes: ownerHomes },
  })
  let connections = 1_000
  serveEdges({ links: ownerLinks, rooms: owner.hosted, timers: systemTimers, nextConnection: () => ++connections })
  const homes = openNodeHomes({ local: nowhere, links: edgeLinks })
  const edge = openRooms({
    ...deps,
    workers: homes,
    nodes: {
      ownership: {
        ...ownership,
        acquire: () => Promise.resolve({ kind: 'owned', by: { owner: OWNER, epoch: 1 } }),
      },
      links: edgeLinks,
      homes,
    },
  })
  // A test drains the edge. The edge stores nothing itself, so the owner is drained afterwards.
  const drain = edge.departures.drain.bind(edge.departures)
  edge.departures.drain = async () => {
    await drain()
    while (network.pending().length > 0) await new Promise((resolve) => void setImmediate(resolve))
    await owner.departures.drain()
  }
  const dispose = edge[Symbol.asyncDispose].bind(edge)
  return Object.assign(edge, {
    [Symbol.asyncDispose]: async () => {
      await dispose()
      await owner[Symbol.asyncDispose]()
    },
  })
}

const nowhere: WorkerPool = {
  homeFor() {
    throw new Error('a room was opened at the edge')
  },
  keepApart() {},
  takes: () => true,
  post() {},
  onMessage() {},
  onMisplaced() {},
  onEnded() {},
}
