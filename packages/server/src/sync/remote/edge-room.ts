import type { EdgeEnd, RoomEdge } from '../gateway/room-edge.ts'
import type { Room } from '../gateway/room-table.ts'
import type { Incarnation } from '../ownership.port.ts'
import type { FromWorker } from '../worker-messages.ts'
import type { ToEdge } from './link-messages.ts'

type Updates = Extract<FromWorker, { kind: 'updates' }>

const PART_BYTES = 1024 * 1024
/**
 * When more bytes of updates than this wait for an edge, the waiting updates are dropped. The edge then opens the room again and gets
 * them from the log.
 */
const MOST_WAITING_BYTES = 8 * 1024 * 1024

/** The link to the edge, and the connections of all edges, as an `EdgeRoom` uses them. */
export interface EdgeRoomDeps {
  send(message: ToEdge): void
  /** Returns whether the link is full; see `NodeLinks.isFull`. */
  isFull(): boolean
  /** Returns the number at the edge of a connection that has `number` at this node; 0 when it is not a member of this room. */
  connectionOf(room: EdgeRoom, number: number): number
  /** Called when messages were dropped, because the link was full or too much waited for the edge. */
  stalled(room: EdgeRoom): void
  /** Called when the room has ended for the edge. Nothing is sent after that. */
  closed(room: EdgeRoom): void
}

/**
 * One edge in a room that this node runs. It keeps which connections of the edge are members, and sends the messages of the room to the
 * edge. Each update and each presence frame is sent over the link only once, no matter how many connections the edge has. [LIFE-25]
 */
export class EdgeRoom implements RoomEdge {
  readonly edge: Incarnation
  /** The number of the room at the edge. */
  readonly number: number
  /** Is `null` until the room is open here. */
  room: Room | null = null
  /** The members. The key is the number of a connection at the edge, and the value its number at this node. */
  readonly connections = new Map<number, number>()
  /**
   * The numbers at the edge of the members that have not joined again since the edge opened the room again; `null` when the edge has
   * opened the room only once.
   */
  stale: Set<number> | null = null
  isWatching = false
  /** True once nothing more may be sent: the link is down, the room has ended, or the edge was told to open it again. */
  isSilent = false
  /** True once messages were dropped (see `EdgeRoomDeps.stalled`). The edge has to open the room again. */
  isStalled = false
  /** The updates that wait until the edge has got the updates that it missed; `null` when it misses none. */
  #waiting: { readonly messages: Updates[]; bytes: number } | null = null
  readonly #deps: EdgeRoomDeps

  constructor(edge: Incarnation, number: number, deps: EdgeRoomDeps) {
    this.edge = edge
    this.number = number
    this.#deps = deps
  }

  get members(): number {
    return this.connections.size
  }

  /** Makes updates wait until `caughtUp` is called. */
  catchUp(): void {
    this.#waiting = { messages: [], bytes: 0 }
  }

  /** Sends the updates that the edge missed, and then the updates that waited meanwhile. */
  caughtUp({ throughSeq, updates }: { readonly throughSeq: number; readonly updates: readonly Uint8Array[] }): void {
    const waiting = this.#waiting?.messages ?? []
    this.#waiting = null
    const parts = inParts(updates)
    const last = parts.pop() ?? []
    for (const part of parts) this.updates(missed(part))
    // Only the last part has a `durableSeq`, because the edge has the whole log through `throughSeq` only after this part.
    this.updates({ ...missed(last), durableSeq: throughSeq })
    for (const message of waiting) this.updates(message)
  }

  updates(message: Updates): void {
    if (this.#waiting !== null) this.#wait(this.#waiting, message)
    else if (this.#maySend()) {
      const senders = message.senders.map((sender) => this.#deps.connectionOf(this, sender))
      this.#deps.send({ ...message, room: this.number, senders })
    }
  }

  awareness({ frame, except }: Extract<FromWorker, { kind: 'awareness' }>): void {
    if (!this.#maySend()) return
    this.#deps.send({ kind: 'awareness', room: this.number, frame, except: this.#deps.connectionOf(this, except) })
  }

  changed({ changes }: Extract<FromWorker, { kind: 'changed' }>): void {
    if (this.isWatching && !this.isSilent) this.#deps.send({ kind: 'changed', room: this.number, changes })
  }

  mended(): void {
    if (!this.isSilent) this.#deps.send({ kind: 'mended', room: this.number })
  }

  ended(end: EdgeEnd): void {
    this.#deps.send(this.#told(end))
    this.isSilent = true
    this.#deps.closed(this)
  }

  #told(end: EdgeEnd): ToEdge {
    const room = this.number
    switch (end.kind) {
      case 'reload':
        return { ...end, room, without: this.#deps.connectionOf(this, end.without) }
      case 'reset': {
        const writers = end.writers.map(({ connection, ordinal }) => ({
          connection: this.#deps.connectionOf(this, connection),
          ordinal,
        }))
        return { kind: 'reset', room, writers: writers.filter(({ connection }) => connection > 0) }
      }
      default:
        return { ...end, room }
    }
  }

  #wait(waiting: { readonly messages: Updates[]; bytes: number }, message: Updates): void {
    waiting.bytes += bytesOf(message.updates)
    waiting.messages.push(message)
    if (waiting.bytes <= MOST_WAITING_BYTES) return
    waiting.messages.length = 0
    this.#stall()
  }

  /**
   * Returns whether a message may be sent now. If it may not, the message is dropped: the edge opens the room again and then gets
   * the updates that it missed.
   */
  #maySend(): boolean {
    if (this.isSilent || this.isStalled) return false
    if (!this.#deps.isFull()) return true
    this.#stall()
    return false
  }

  #stall(): void {
    if (this.isStalled) return
    this.isStalled = true
    this.#deps.stalled(this)
  }
}

function missed(updates: readonly Uint8Array[]): Updates {
  return { kind: 'updates', room: 0, updates, senders: updates.map(() => 0) }
}

function bytesOf(updates: readonly Uint8Array[]): number {
  return updates.reduce((bytes, update) => bytes + update.byteLength, 0)
}

/**
 * Splits updates into parts of at most 1 MiB. A larger update is a part of its own. So no message becomes too large for a link, even when
 * the log is long.
 */
function inParts(updates: readonly Uint8Array[]): Uint8Array[][] {
  const parts: Uint8Array[][] = []
  let bytes = PART_BYTES
  for (const update of updates) {
    if (bytes + update.byteLength > PART_BYTES) {
      parts.push([])
      bytes = 0
    }
    parts.at(-1)?.push(update)
    bytes += update.byteLength
  }
  return parts
}
