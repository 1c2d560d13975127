import { manualTime } from '../../kernel/testing/manual-time.ts'
import type { ConnectionMessage } from '../gateway/room-sink.ts'
import type { Hosted, HostedRooms, RoomEdge } from '../gateway/room-edge.ts'
import { opened, type Room, RoomTable } from '../gateway/room-table.ts'
import type { NodeLinks, NodeMessage } from '../node-links.port.ts'
import { serveEdges } from '../remote/edges.ts'
import type { ToEdge, ToOwner } from '../remote/link-messages.ts'
import type { RoomTask, TaskOutcome, ToWorker } from '../worker-messages.ts'

const EDGE = 7

/**
 * Creates an owner that is linked to one edge. Its rooms open when the test calls `opens`, and its tasks end when the test calls `answers`.
 */
export function edgeOwner() {
  const time = manualTime()
  const sent: ToEdge[] = []
  const posted: { readonly room: Room; readonly message: ToWorker }[] = []
  const tasks: { readonly task: RoomTask; readonly answer: (outcome: TaskOutcome) => void }[] = []
  const hosts: { readonly id: string; readonly resolve: (hosted: Hosted) => void }[] = []
  const table = new RoomTable()
  const roomOf = (id: string): Room => {
    const ref = { workspaceId: 'w', id }
    const known = table.of(ref)
    if (known !== undefined) return known
    const room = table.create(ref, 1, 0, { ownerId: 'ann', shares: [] }, 0)
    opened(room)
    return room
  }
  let edge: RoomEdge | null = null
  let isLinked = true
  let connections = 0
  let receive: (peer: number, message: NodeMessage) => void = () => undefined
  let lose: (peer: number) => void = () => undefined
  const links: NodeLinks = {
    peers: () => (isLinked ? [EDGE] : []),
    post: (_, message) => void (isLinked && sent.push(message as ToEdge)),
    onMessage: (listener) => (receive = listener),
    onUp: () => undefined,
    onDown: (listener) => (lose = listener),
    isFull: () => false,
    onDrained: () => undefined,
  }
  const rooms: HostedRooms = {
    serve: () => undefined,
    host: ({ id }) => new Promise((resolve) => void hosts.push({ id, resolve })),
    addEdge: (_, added) => {
      edge = added
      return true
    },
    removeEdge: () => undefined,
    post: (room, message) => void posted.push({ room, message }),
    edgeWatches: () => undefined,
    run: (_, task) => new Promise((answer) => void tasks.push({ task, answer })),
    settleOwned: async () => true,
    dropDeleted: async () => undefined,
  }
  const edges = serveEdges({ links, rooms, timers: time.timers, nextConnection: () => ++connections })
  return {
    time,
    sent,
    tasks,
    tell: (...messages: readonly ToOwner[]) => {
      for (const message of messages) receive(EDGE, message)
    },
    /** Opens all rooms for which the owner has been asked. */
    async opens() {
      for (const { id, resolve } of hosts.splice(0)) resolve({ kind: 'open', room: roomOf(id) })
      await settled()
    },
    /** Returns the edge that was added last. */
    edge: () => edge as RoomEdge,
    answers: async (outcome: TaskOutcome) => {
      tasks.shift()?.answer(outcome)
      await settled()
    },
    linkGoesDown() {
      isLinked = false
      lose(EDGE)
    },
    linkComesUp() {
      isLinked = true
    },
    /**
     * Returns the connections that are joined to a document according to the messages to the home of its room. A connection is a number
     * of the owner.
     */
    members(id = 'doc') {
      const members = new Set<number>()
      for (const { room, message } of posted) {
        if (room.ref.id !== id) continue
        if (message.kind === 'join') members.add(message.connection)
        else if (message.kind === 'leave') members.delete(message.connection)
      }
      return [...members]
    },
    /** Sends a message from the home of a room to a connection. Returns the messages that the edge got. */
    delivers(message: ConnectionMessage) {
      const before = sent.length
      edges.deliver(message)
      return sent.slice(before)
    },
  }
}

/** Returns the message that an edge sends when it opens a room. */
export function opening(room: number, more: Partial<Extract<ToOwner, { kind: 'open' }>> = {}): ToOwner {
  return { kind: 'open', room, ref: { workspaceId: 'w', id: 'doc' }, key: 1, ...more }
}

const settled = () => new Promise<void>((resolve) => void setImmediate(resolve))
