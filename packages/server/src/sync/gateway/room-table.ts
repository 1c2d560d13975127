import { type Level, reaches, type Sharing } from '../../access/access.ts'
import { readShares } from '../../access/shares.ts'
import type { DocumentHead, DocumentRef } from '../../documents/document-store.port.ts'
import { type Binding, bindingOf, type Connection, type Identity, identityOf } from './connection.ts'
import type { Tenure } from '../ownership.port.ts'
import type { FromWorker, NotLoaded } from '../worker-messages.ts'
import { nodeOfHome } from '../worker-pool.port.ts'
import type { RoomEdge } from './room-edge.ts'
import { NO_RESETS, type RoomResets } from './room-resets.ts'

export type OpenOutcome = Exclude<Extract<FromWorker, { kind: 'opened' }>['outcome'], 'elsewhere' | 'fenced'> | 'unreachable'

/**
 * Why a document is not open here. `unreachable`: this node cannot reach the owner of the document, but other nodes may reach it.
 */
export type NotOpen = NotLoaded | 'unreachable'

/** The facts about a connection that the home of a room needs. */
export interface Joined {
  readonly id: number
  readonly binding: Binding
  readonly identity: Identity
  /** Monotonic time at which the connection left; absent while it is joined. */
  readonly leftMs?: number
}

/**
 * A resident document as the gateway knows it. The phases: `opening`: its home loads it, or its owner is searched for. `evicting`: its
 * home stores and closes it, and a JOIN waits for the outcome. `closed`: the entry is forgotten, and the document must be looked up
 * again.
 */
export interface Room {
  readonly number: number
  readonly ref: DocumentRef
  /** `DocumentHead.key`: the lineage of the document to which this room belongs. */
  readonly key: number
  /** Where the room runs; see `WorkerPool`. `null` while it is not known which node owns the document. */
  home: number | null
  /** The epoch by which this node owns the document; `null` when this node does not own it, and always in a relay of one node. [LIFE-26] */
  epoch: number | null
  /** Counts the searches for the owner of the document. */
  placings: number
  /** The members have the log through this sequence, and the log is durable through this sequence; `null` when it is not known. [LIFE-25] */
  since: number | null
  /** The tenure in which the owner reported `since`; `null` when it is not known. */
  sinceTenure: Tenure | null
  /** The newest tenure of this node; `null` when there was none. [LIFE-26] */
  tenure: Tenure | null
  /** Where the log ended when `tenure` began. */
  fromSeq: number
  /** Nodes with connections or calls in this room, which runs here. */
  readonly edges: RoomEdge[]
  phase: 'opening' | 'open' | 'evicting' | 'closed'
  /** True when the room has to move before it gets another write, because the next write may exceed the bounds of its home. [C8] */
  mustMove: boolean
  sharing: Sharing
  /** The stored version in which the sharing was read. Older news of the sharing is ignored. */
  sharingVersion: number
  /** True when the log of the document has a gap; see `announcedLevel`. */
  hasGap: boolean
  readonly members: Connection[]
  /**
   * Connections that left before their writes were handled or durable. The next home gets their messages and then their leave. [C8]
   */
  left: Joined[]
  /**
   * The presence clocks that others have seen. A home of this node reports them when it closes the room. When another node runs the room,
   * they are read from its frames. [WS-47]
   */
  readonly clocks: Map<number, number>
  /** The connection to which the shown presence of each client id belongs; see `noteShown`. [WS-44] */
  readonly shown: Map<number, number>
  /** How often the log refused a write while everybody stayed joined. [LIFE-6] */
  resets: RoomResets
  idleSinceMs: number
  /** The load or eviction in progress; never rejects. */
  turning: Promise<OpenOutcome>
  settleOpen: (outcome: OpenOutcome) => void
}

/** Rooms by document and by number. */
export class RoomTable {
  readonly #byDocument = new Map<string, Room>()
  readonly #byNumber = new Map<number, Room>()
  #next = 1

  create(ref: DocumentRef, key: number, home: number | null, sharing: Sharing, nowMs: number): Room {
    const room: Room = {
      number: this.#next++,
      ref,
      key,
      home,
      epoch: null,
      placings: 0,
      since: null,
      sinceTenure: null,
      tenure: null,
      fromSeq: 0,
      edges: [],
      phase: 'opening',
      mustMove: false,
      sharing,
      sharingVersion: 0,
      hasGap: false,
      members: [],
      left: [],
      clocks: new Map(),
      shown: new Map(),
      resets: NO_RESETS,
      idleSinceMs: nowMs,
      turning: Promise.resolve('unavailable'),
      settleOpen: () => {},
    }
    beginOpening(room)
    this.#byDocument.set(documentKey(ref), room)
    this.#byNumber.set(room.number, room)
    return room
  }

  of(ref: DocumentRef): Room | undefined {
    return this.#byDocument.get(documentKey(ref))
  }

  get(number: number): Room | undefined {
    return this.#byNumber.get(number)
  }

  /**
   * Removes the room from the look-up by document, so that the next look-up opens the document again. Messages of the home still find the
   * room by its number until `forget`.
   */
  detach(room: Room): void {
    room.phase = 'closed'
    if (this.#byDocument.get(documentKey(room.ref)) === room) this.#byDocument.delete(documentKey(room.ref))
  }

  forget(room: Room): void {
    this.detach(room)
    this.#byNumber.delete(room.number)
  }

  all(): IterableIterator<Room> {
    return this.#byNumber.values()
  }
}

/** Whether another node runs the room. */
export function isElsewhere({ home }: Pick<Room, 'home'>): boolean {
  return home !== null && nodeOfHome(home) !== null
}

/**
 * Whether the document is live in a relay of several nodes. Such a document is loaded again when its owner ends or an append fails,
 * and everybody stays joined.
 */
export function isShared(room: Pick<Room, 'home' | 'epoch'>): boolean {
  return room.epoch !== null || isElsewhere(room)
}

/**
 * Whether `owner` is the tenure in which this node has the room open. The epoch alone is not enough: after a failover of the database
 * another owner may have got the same epoch. [LIFE-26]
 */
export function isHeld({ epoch, tenure }: Pick<Room, 'epoch' | 'tenure'>, owner: Tenure | null): boolean {
  return epoch !== null && owner?.epoch === epoch && owner.owner === tenure?.owner
}

/** Starts an opening. Joins and calls wait until `settleOpen` ends the opening. */
export function beginOpening(room: Room): void {
  room.phase = 'opening'
  room.turning = new Promise((resolve) => {
    room.settleOpen = resolve
  })
}

/**
 * Notes that a room is open in its home. Forgets the connections that have left. Keeps them when the room has to move before their
 * writes are handled, and in a relay of several nodes, where the room may be opened again before their writes are durable.
 */
export function opened(room: Room): void {
  room.phase = 'open'
  if (!room.mustMove && !isShared(room)) room.left = []
}

/** Adds a member at the end. */
export function addMember(room: Room, connection: Connection): void {
  connection.memberAt = room.members.length
  room.members.push(connection)
}

/**
 * Removes a member by moving the last one into its place. A loop from the end stays correct when it removes the current
 * member.
 */
export function removeMember(room: Room, connection: Connection): boolean {
  const at = connection.memberAt
  if (at < 0 || room.members[at] !== connection) return false
  const last = room.members.pop()
  if (last !== undefined && last !== connection) {
    room.members[at] = last
    last.memberAt = at
  }
  connection.memberAt = -1
  return true
}

/** Returns the facts about a connection that a home needs; `null` when the connection is joined to no document. */
export function joinedOf(connection: Connection): Joined | null {
  const binding = bindingOf(connection)
  const identity = identityOf(connection)
  return binding === null || identity === null ? null : { id: connection.id, binding, identity }
}

/** Returns the facts of a head that decide a level. [PERM-1] */
export function sharingOf(head: Pick<DocumentHead, 'ownerId' | 'sharedWith'>): Sharing {
  return { ownerId: head.ownerId, shares: readShares(head.sharedWith) }
}

/**
 * Returns the level to announce to a joined caller. For a document whose log has a gap this is `view`, because nobody may edit it, not
 * even its owner. Writes are still decided by the real level, because the room accepts an update of an editor that closes the gap.
 * [WS-61, LIFE-5]
 */
export function announcedLevel<L extends Level>(room: Pick<Room, 'hasGap'>, level: L): L | 'view' {
  return room.hasGap && reaches(level, 'edit') ? 'view' : level
}

/** Returns a key that is unique for a document across all workspaces. */
export function documentKey(ref: DocumentRef): string {
  return `${ref.workspaceId}\n${ref.id}`
}
