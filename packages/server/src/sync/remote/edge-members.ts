import type { ConnectionMessage } from '../gateway/room-sink.ts'
import type { Incarnation } from '../ownership.port.ts'
import type { EdgeRoom } from './edge-room.ts'

/** How many connections of one edge that are in no room keep their numbers at this node. */
const NUMBERS_KEPT = 20_000

/** A connection of an edge that is in a room here. */
export interface EdgeMember {
  readonly edge: Incarnation
  /** Its number at the edge. */
  readonly connection: number
  /** Its number at this node. */
  readonly number: number
  /**
   * Its entries, with the join by which it is in each. More than one only while the edge repeats what it sent to a document that it
   * has left for another one: then it is in both for a moment. [C6]
   */
  readonly rooms: Map<EdgeRoom, number>
}

/** The connections of one edge, by their numbers at the edge. */
interface OfEdge {
  readonly members: Map<number, EdgeMember>
  /** Numbers at this node of connections that are in no room, the earliest to leave first. */
  readonly left: Map<number, number>
}

/**
 * Which connections of edges are in which rooms, and under which numbers of this node. A connection has one number for as long as
 * it is in a room, and gets the same one when it joins again, and with it the processor time that it owes. [LIFE-25, WS-12]
 *
 * A room has a connection through one entry only, the one through which it joined last. So an entry that has been replaced, and
 * ends later, takes nobody out of the room who has joined again through its successor.
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

  /** Returns the member to whom this message is; `null` when it is to none. */
  receiver({ connection }: ConnectionMessage): EdgeMember | null {
    return this.#byNumber.get(connection) ?? null
  }

  /** Returns the number at the edge of the member with this number; 0 when it is not in this room. */
  connectionOf(room: EdgeRoom, number: number): number {
    const member = this.#byNumber.get(number)
    return member?.rooms.has(room) === true ? member.connection : 0
  }

  /** Adds a connection to a room and returns its number. */
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

  /** Moves all connections of an entry to its successor. */
  adopt(room: EdgeRoom, before: EdgeRoom): void {
    for (const [connection, number] of Array.from(before.connections)) {
      const join = this.#byNumber.get(number)?.rooms.get(before)
      if (join !== undefined) this.join(room, connection, join)
    }
  }

  /** Takes a connection out of a room. Returns its number; `null` when it is not in the room through this entry. */
  leave(room: EdgeRoom, connection: number): number | null {
    const member = this.#edges.get(room.edge)?.members.get(connection)
    if (member === undefined || !member.rooms.has(room)) return null
    remove(member, room)
    if (member.rooms.size === 0) this.#left(member)
    return member.number
  }

  /** Forgets the numbers of connections of an edge that are in no room. */
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
