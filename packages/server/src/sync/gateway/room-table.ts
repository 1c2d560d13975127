import type { Sharing } from '../../access/access.ts'
import { readShares } from '../../access/shares.ts'
import type { DocumentHead, DocumentRef } from '../../documents/document-store.port.ts'
import type { Connection } from './connection.ts'
import type { FromWorker } from '../worker-messages.ts'

export type OpenOutcome = Extract<FromWorker, { kind: 'opened' }>['outcome']

/**
 * A resident document as the main thread knows it.
 * `opening`: its worker loads it. `evicting`: a JOIN waits for the outcome. `closed`: forgotten, a new look-up is needed.
 */
export interface Room {
  readonly number: number
  readonly ref: DocumentRef
  /** `DocumentHead.key`: the life of the document this room belongs to. */
  readonly key: number
  worker: number
  phase: 'opening' | 'open' | 'evicting' | 'closed'
  sharing: Sharing
  readonly members: Connection[]
  idleSinceMs: number
  /** The present load or eviction; it never rejects. */
  turning: Promise<OpenOutcome>
  settleOpen: (outcome: OpenOutcome) => void
}

/** Rooms by document and by number. */
export class RoomTable {
  readonly #byDocument = new Map<string, Room>()
  readonly #byNumber = new Map<number, Room>()
  #next = 1

  create(ref: DocumentRef, key: number, worker: number, sharing: Sharing, nowMs: number): Room {
    const room: Room = {
      number: this.#next++,
      ref,
      key,
      worker,
      phase: 'opening',
      sharing,
      members: [],
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

  /** Forgets the document at once, so that the next look-up starts anew; messages of the room still find it until `forget`. */
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

/** Makes everyone who asks wait for the next `opened`. */
export function beginOpening(room: Room): void {
  room.phase = 'opening'
  room.turning = new Promise((resolve) => {
    room.settleOpen = resolve
  })
}

/** Adds a member at the end. */
export function addMember(room: Room, connection: Connection): void {
  connection.memberAt = room.members.length
  room.members.push(connection)
}

/** Takes a member out by moving the last one into its place; a loop from the end stays right when its own member goes. */
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

/** What deciding a level needs of a head. [PERM-1] */
export function sharingOf(head: Pick<DocumentHead, 'ownerId' | 'sharedWith'>): Sharing {
  return { ownerId: head.ownerId, shares: readShares(head.sharedWith) }
}

function documentKey(ref: DocumentRef): string {
  return `${ref.workspaceId}\n${ref.id}`
}
