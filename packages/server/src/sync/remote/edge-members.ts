import type { ConnectionMessage } from '../gateway/room-sink.ts'
import type { Incarnation } from '../ownership.port.ts'
import type { EdgeRoom } from './edge-room.ts'

/** At most this many connections of one edge keep their numbers at this node while they are in no room. */
const NUMBERS_KEPT = 20_000

/** A connection of an edge that is in a room here. */
export interface EdgeMember {
  readonly edge: Incarnation
  /** The number of the connection at the edge. */
  readonly connection: number
  /** The number of the connection at this node. */
  readonly number: number
  /**
   * The rooms that the connection is in, each with the number of the join. There is more than one room only for a moment: when the
   * connection has left one document for another, and the edge repeats its messages to the first document. [C6]
   */
  readonly rooms: Map<EdgeRoom, number>
}

/** The connections of one edge, by their numbers at the edge. */
interface OfEdge {
  readonly members: Map<number, EdgeMember>
  /** The numbers at this node of the connections that are in no room. The connection that left first comes first. */
  readonly left: Map<number, number>
}

/**
 * Keeps which connections of edges are in which rooms, and their numbers at this node. A connection keeps its number while it is in a
 * room. It gets the same number when it joins again, so that its debt of processor time is not lost. [LIFE-25, WS-12]
 *
 * A connection is in a room through only one `EdgeRoom`: the `EdgeRoom` through which it joined last. When a new `EdgeRoom` replaces an
 * older `EdgeRoom` and the older one ends, connections that have joined through the new one stay in the room.
 */
export class EdgeMembers {
  readonly #nextConnection: () => number
  readonly #byNumber = new Map<number, EdgeMember>()
  readonly #edges = new Map<Incarnation, OfEdge>()

  constructor(nextConnection: () => number) {
    this.#nextConnection = nextConnection
  }

  has(number: number): boolean {
    return this.#byNumber.has(number)
  }

  /** Returns the member that this message is for, or `null`. */
  receiver({ connection }: ConnectionMessage): EdgeMember | null {
    return this.#byNumber.get(connection) ?? null
  }

  /** Returns the number at the edge of the member that has `number` at this node. Returns 0 when the member is not in this room. */
  connectionOf(room: EdgeRoom, number: number): number {
    const member = this.#byNumber.get(number)
    return member?.rooms.has(room) === true ? member.connection : 0
  }

  /** Adds a connection to a room and returns its number at this node. */
  join(room: EdgeRoom, connection: number, join: number): number {
    const member = this.#memberOf(room.edge, connection)
    for (const other of Array.from(member.rooms.keys())) {
      if (other !== room && other.room === room.room) remove(member, other)
    }
    member.rooms.set(room, join)
    room.connections.set(connection, member.number)
    room.stale?.delete(connection)
    return member.number
  }

  /** Moves all connections of `before` to `room`, its successor. */
  adopt(room: EdgeRoom, before: EdgeRoom): void {
    for (const [connection, number] of Array.from(before.connections)) {
      const join = this.#byNumber.get(number)?.rooms.get(before)
      if (join !== undefined) this.join(room, connection, join)
    }
  }

  /** Takes a connection out of a room. Returns its number at this node, or `null` when it is not in the room through this `EdgeRoom`. */
  leave(room: EdgeRoom, connection: number): number | null {
    const member = this.#edges.get(room.edge)?.members.get(connection)
    if (member === undefined || !member.rooms.has(room)) return null
    remove(member, room)
    if (member.rooms.size === 0) this.#left(member)
    return member.number
  }

  /** Forgets the numbers of all connections of an edge that are in no room. */
  forgetLeft(edge: Incarnation): void {
    const ofEdge = this.#edges.get(edge)
    ofEdge?.left.clear()
    if (ofEdge?.members.size === 0) this.#edges.delete(edge)
  }

  #memberOf(edge: Incarnation, connection: number): EdgeMember {
    const { members, left } = this.#ofEdge(edge)
    const known = members.get(connection)
    if (known !== undefined) return known
    const number = left.get(connection) ?? this.#nextConnection()
    const member: EdgeMember = { edge, connection, number, rooms: new Map() }
    left.delete(connection)
    members.set(connection, member)
    this.#byNumber.set(number, member)
    return member
  }

  #left({ edge, connection, number }: EdgeMember): void {
    const { members, left } = this.#ofEdge(edge)
    this.#byNumber.delete(number)
    members.delete(connection)
    left.set(connection, number)
    for (const oldest of left.keys()) {
      if (left.size <= NUMBERS_KEPT) break
      left.delete(oldest)
    }
  }

  #ofEdge(edge: Incarnation): OfEdge {
    const ofEdge = this.#edges.get(edge) ?? { members: new Map(), left: new Map() }
    this.#edges.set(edge, ofEdge)
    return ofEdge
  }
}

function remove({ connection, rooms }: EdgeMember, room: EdgeRoom): void {
  rooms.delete(room)
  room.connections.delete(connection)
  room.stale?.delete(connection)
}
