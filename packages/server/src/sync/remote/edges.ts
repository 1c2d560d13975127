import type { Timers } from '../../kernel/timers.ts'
import { sharedSignal } from '../../kernel/given-up.ts'
import type { EdgeConnections, HostedRooms } from '../gateway/room-edge.ts'
import type { ConnectionMessage } from '../gateway/room-sink.ts'
import type { Room } from '../gateway/room-table.ts'
import type { NodeLinks } from '../node-links.port.ts'
import type { Incarnation } from '../ownership.port.ts'
import type { RoomTask, TaskOutcome, ToWorker } from '../worker-messages.ts'
import { EdgeMembers } from './edge-members.ts'
import { EdgeRoom } from './edge-room.ts'
import type { SentTask, ToEdge, ToOwner } from './link-messages.ts'

export interface EdgesDeps {
  readonly links: NodeLinks
  readonly rooms: HostedRooms
  readonly timers: Timers
  /** Returns a new connection number. Sockets of this node get their numbers from it too. */
  readonly nextConnection: () => number
}

/** When the link to an edge breaks, its members leave the room after this time, unless the edge opens the room again before. [WS-46] */
const LOST_MS = 2_000
/**
 * When messages of a room were dropped and the link is still full after this time, the members of the edge leave the room, and the edge
 * has to open it again.
 */
const STALLED_MS = 5_000

type Open = Extract<ToOwner, { kind: 'open' }>
type Job = Extract<ToOwner, { kind: 'job' }>
type RoomMessage = Exclude<ToOwner, { kind: 'open' | 'give-up' }>

/**
 * Serves the rooms of this node to the nodes that have connections or calls in them. A connection of an edge becomes a member of a room
 * under a number of this node, as a socket of this node does. [LIFE-25]
 */
export function serveEdges(deps: EdgesDeps): EdgeConnections {
  return new Edges(deps)
}

class Edges implements EdgeConnections {
  readonly #deps: EdgesDeps
  /** Rooms by edge, and then by the number that the edge gave to the room. */
  readonly #rooms = new Map<Incarnation, Map<number, EdgeRoom>>()
  /** The messages for rooms that are still being opened, in order. */
  readonly #waiting = new Map<EdgeRoom, RoomMessage[]>()
  readonly #members: EdgeMembers
  /** The controllers of edits whose callers may give up, by edge and job. */
  readonly #callers = new Map<string, AbortController>()

  constructor(deps: EdgesDeps) {
    this.#deps = deps
    this.#members = new EdgeMembers(deps.nextConnection)
    const { links, rooms } = deps
    rooms.serve(this)
    links.onMessage((peer, message) => this.#received(peer, message as ToOwner))
    links.onDown((peer) => this.#lost(peer))
    links.onDrained((peer) => this.#drained(peer))
  }

  owns(connection: number): boolean {
    return this.#members.has(connection)
  }

  deliver(message: ConnectionMessage): boolean {
    const member = this.#members.receiver(message)
    if (member === null) return false
    const { edge, connection, rooms } = member
    for (const [room, join] of rooms) {
      // Only messages that end the connection have no join number.
      if (room.isSilent || ('join' in message && message.join !== join)) continue
      this.#send(edge, { ...message, connection })
      break
    }
    return true
  }

  #received(peer: Incarnation, message: ToOwner): void {
    switch (message.kind) {
      case 'open':
        return this.#open(peer, message)
      case 'give-up':
        return this.#callers.get(callerKey(peer, message.job))?.abort()
      case 'join':
      case 'leave':
      case 'rights':
      case 'sync':
      case 'presence':
      case 'resync':
      case 'watch':
      case 'job':
      case 'close': {
        const edgeRoom = this.#rooms.get(peer)?.get(message.room)
        const waiting = edgeRoom && this.#waiting.get(edgeRoom)
        if (waiting) {
          if (message.kind === 'job') this.#callerOf(peer, message)
          waiting.push(message)
        } else if (edgeRoom !== undefined && !edgeRoom.isSilent && edgeRoom.room !== null)
          this.#handle(edgeRoom, edgeRoom.room, message)
        // A message for a room that has ended needs no answer, because the edge was told of the end. Only a call still needs an answer.
        else if (message.kind === 'job') this.#send(peer, { kind: 'done', job: message.job, outcome: { kind: 'moved' } })
      }
    }
  }

  #open(peer: Incarnation, message: Open): void {
    const before = this.#rooms.get(peer)?.get(message.room)
    const edgeRoom = this.#newRoom(peer, message.room)
    this.#waiting.set(edgeRoom, [])
    if (before !== undefined) {
      this.#dropWaiting(before)
      if (!before.isSilent) this.#silence(before)
    }
    void this.#host(edgeRoom, message, before)
  }

  #newRoom(peer: Incarnation, number: number): EdgeRoom {
    const { links } = this.#deps
    const edgeRoom = new EdgeRoom(peer, number, {
      send: (sent) => this.#send(peer, sent),
      isFull: () => links.isFull(peer),
      connectionOf: (room, member) => this.#members.connectionOf(room, member),
      stalled: (room) => void this.#deps.timers.after(STALLED_MS, () => this.#stalledLong(room)),
      closed: (room) => this.#forget(room),
    })
    const ofPeer = this.#rooms.get(peer) ?? new Map<number, EdgeRoom>()
    this.#rooms.set(peer, ofPeer.set(number, edgeRoom))
    return edgeRoom
  }

  /** Opens a room for an edge. When the edge opens the room again, `before` is the earlier `EdgeRoom`, whose members may still be joined. */
  async #host(edgeRoom: EdgeRoom, message: Open, before: EdgeRoom | undefined): Promise<void> {
    const { rooms } = this.#deps
    const isWanted = (): boolean => this.#waiting.has(edgeRoom)
    for (;;) {
      const hosted = await rooms.host(message.ref, message.key)
      if (!isWanted()) return
      if (hosted.kind !== 'open') {
        this.#send(edgeRoom.edge, { kind: 'opened', room: edgeRoom.number, outcome: hosted.kind })
        this.#forget(edgeRoom)
        if (before !== undefined) this.#dismiss(before)
        return
      }
      if (rooms.addEdge(hosted.room, edgeRoom)) return this.#opened(edgeRoom, hosted.room, message, before)
    }
  }

  #opened(edgeRoom: EdgeRoom, room: Room, open: Open, before: EdgeRoom | undefined): void {
    const { since, clocks = [] } = open
    edgeRoom.room = room
    if (hasLostPart(room, open)) return this.#reset(edgeRoom, room, before)
    if (before !== undefined) this.#adopt(edgeRoom, before)
    if (clocks.length > 0) this.#post(room, { kind: 'clocks', room: room.number, clocks })
    const seq = since === undefined ? (room.since ?? undefined) : undefined
    const tenure = room.tenure ?? undefined
    this.#send(edgeRoom.edge, { kind: 'opened', room: edgeRoom.number, outcome: 'opened', hasGap: room.hasGap, seq, tenure })
    if (since !== undefined) void this.#catchUp(edgeRoom, room, since)
    const waiting = this.#waiting.get(edgeRoom) ?? []
    this.#waiting.delete(edgeRoom)
    for (const message of waiting) if (!edgeRoom.isSilent) this.#handle(edgeRoom, room, message)
  }

  /** Makes all connections of the edge join again, because they have records that the log has lost. Waiting calls are still run. */
  #reset(edgeRoom: EdgeRoom, room: Room, before: EdgeRoom | undefined): void {
    const waiting = this.#waiting.get(edgeRoom) ?? []
    this.#waiting.delete(edgeRoom)
    for (const message of waiting) if (message.kind === 'job') this.#handle(edgeRoom, room, message)
    this.#send(edgeRoom.edge, { kind: 'reset', room: edgeRoom.number, writers: [] })
    if (before !== undefined) this.#dismiss(before)
    this.#dismiss(edgeRoom)
  }

  /**
   * Takes over the members of `before` and keeps their numbers, so that other people see no change. A member that does not join again
   * within `LOST_MS` leaves the room.
   */
  #adopt(edgeRoom: EdgeRoom, before: EdgeRoom): void {
    if (before.room !== edgeRoom.room) return
    this.#members.adopt(edgeRoom, before)
    const stale = new Set(edgeRoom.connections.keys())
    edgeRoom.stale = stale
    this.#dismiss(before)
    this.#deps.timers.after(LOST_MS, () => {
      for (const connection of stale) this.#leave(edgeRoom, connection)
    })
  }

  async #catchUp(edgeRoom: EdgeRoom, room: Room, since: number): Promise<void> {
    edgeRoom.catchUp()
    const outcome = await this.#deps.rooms.run(room, { kind: 'missed', since })
    if (edgeRoom.isSilent) return
    if (outcome.kind === 'missed') edgeRoom.caughtUp(outcome)
    else this.#reload(edgeRoom)
  }

  #handle(edgeRoom: EdgeRoom, room: Room, message: RoomMessage): void {
    switch (message.kind) {
      case 'join': {
        const number = this.#members.join(edgeRoom, message.connection, message.join)
        return this.#post(room, { ...message, room: room.number, connection: number })
      }
      case 'leave':
        return this.#leave(edgeRoom, message.connection)
      case 'rights':
      case 'sync':
      case 'resync': {
        const connection = edgeRoom.connections.get(message.connection)
        if (connection !== undefined) this.#post(room, { ...message, room: room.number, connection })
        return
      }
      case 'presence': {
        const connection = edgeRoom.connections.get(message.connection)
        const { payload } = message
        if (connection !== undefined) this.#post(room, { kind: 'awareness', room: room.number, connection, payload })
        return
      }
      case 'watch':
        edgeRoom.isWatching = message.isOn
        return this.#deps.rooms.edgeWatches(room)
      case 'close':
        return this.#dismiss(edgeRoom)
      case 'job':
        void this.#run(edgeRoom, room, message).then((outcome) =>
          this.#send(edgeRoom.edge, { kind: 'done', job: message.job, outcome }),
        )
    }
  }

  async #run(edgeRoom: EdgeRoom, room: Room, message: Job): Promise<TaskOutcome> {
    const { rooms } = this.#deps
    const { job, task } = message
    if (task.kind === 'drop') {
      await rooms.dropDeleted(room)
      return { kind: 'evicted' }
    }
    const caller = this.#callerOf(edgeRoom.edge, message)
    const outcome = await rooms.run(room, taskOf(task, caller))
    this.#callers.delete(callerKey(edgeRoom.edge, job))
    return outcome
  }

  /**
   * Returns the controller by which the caller of a job gives up, or `null` when the caller cannot give up. The controller is made when
   * the job arrives, because the caller may give up while the room is still being opened. [MCP-15]
   */
  #callerOf(edge: Incarnation, { job, mayGiveUp }: Job): AbortController | null {
    if (mayGiveUp !== true) return null
    const key = callerKey(edge, job)
    const caller = this.#callers.get(key) ?? new AbortController()
    this.#callers.set(key, caller)
    return caller
  }

  /** Forgets the messages that wait until a room is open. Returns false when the room was not being opened. */
  #dropWaiting(edgeRoom: EdgeRoom): boolean {
    for (const message of this.#waiting.get(edgeRoom) ?? [])
      if (message.kind === 'job') this.#callers.delete(callerKey(edgeRoom.edge, message.job))
    return this.#waiting.delete(edgeRoom)
  }

  #leave(edgeRoom: EdgeRoom, connection: number): void {
    const { room } = edgeRoom
    const number = this.#members.leave(edgeRoom, connection)
    if (number !== null && room !== null) this.#post(room, { kind: 'leave', room: room.number, connection: number })
  }

  #lost(peer: Incarnation): void {
    for (const edgeRoom of Array.from(this.#rooms.get(peer)?.values() ?? [])) {
      // A room that was still being opened is forgotten: the edge asks for it again when the link is up.
      if (this.#dropWaiting(edgeRoom)) this.#forget(edgeRoom)
      else this.#silence(edgeRoom)
    }
    this.#deps.timers.after(LOST_MS, () => !this.#deps.links.peers().includes(peer) && this.#members.forgetLeft(peer))
  }

  /** Makes the edge open the room again. Until then its connections stay members, but at most for `LOST_MS`. */
  #reload(edgeRoom: EdgeRoom): void {
    this.#send(edgeRoom.edge, { kind: 'reload', room: edgeRoom.number, without: 0, resumes: false })
    this.#silence(edgeRoom)
  }

  #silence(edgeRoom: EdgeRoom): void {
    edgeRoom.isSilent = true
    this.#deps.timers.after(LOST_MS, () => this.#dismiss(edgeRoom))
  }

  #drained(peer: Incarnation): void {
    for (const edgeRoom of Array.from(this.#rooms.get(peer)?.values() ?? []))
      if (edgeRoom.isStalled && !edgeRoom.isSilent) this.#reload(edgeRoom)
  }

  #stalledLong(edgeRoom: EdgeRoom): void {
    if (edgeRoom.isSilent) return
    this.#send(edgeRoom.edge, { kind: 'reload', room: edgeRoom.number, without: 0, resumes: false })
    this.#dismiss(edgeRoom)
  }

  /** Takes all connections of the edge out of the room and sends the edge nothing more. */
  #dismiss(edgeRoom: EdgeRoom): void {
    edgeRoom.isSilent = true
    for (const connection of Array.from(edgeRoom.connections.keys())) this.#leave(edgeRoom, connection)
    if (edgeRoom.room !== null) this.#deps.rooms.removeEdge(edgeRoom.room, edgeRoom)
    this.#forget(edgeRoom)
  }

  #forget(edgeRoom: EdgeRoom): void {
    this.#dropWaiting(edgeRoom)
    for (const connection of Array.from(edgeRoom.connections.keys())) this.#members.leave(edgeRoom, connection)
    const ofPeer = this.#rooms.get(edgeRoom.edge)
    if (ofPeer?.get(edgeRoom.number) !== edgeRoom) return
    ofPeer.delete(edgeRoom.number)
    if (ofPeer.size === 0) this.#rooms.delete(edgeRoom.edge)
  }

  #post(room: Room, message: ToWorker): void {
    this.#deps.rooms.post(room, message)
  }

  #send(edge: Incarnation, message: ToEdge): void {
    this.#deps.links.post(edge, message)
  }
}

function callerKey(edge: Incarnation, job: number): string {
  return `${edge}:${job}`
}

/**
 * Returns whether a failover of the database has lost records that the edge has. The edge got them in an earlier tenure, and their sequences
 * are after the end that the log had when the tenure of this node began. [LIFE-25]
 */
function hasLostPart(
  { tenure, fromSeq }: Pick<Room, 'tenure' | 'fromSeq'>,
  { since, sinceTenure }: Pick<Open, 'since' | 'sinceTenure'>,
): boolean {
  if (tenure === null || since === undefined || sinceTenure === undefined) return false
  // After such a failover another owner may have the same epoch, so the owner is compared too.
  const isOther = sinceTenure.epoch !== tenure.epoch || sinceTenure.owner !== tenure.owner
  return isOther && since > fromSeq
}

function taskOf(task: SentTask, caller: AbortController | null): RoomTask {
  return task.kind === 'edit' && caller !== null ? { ...task, givenUp: sharedSignal(caller.signal) } : task
}
