import type { EdgeEnd, RoomEdge } from '../gateway/room-edge.ts'
import type { Room } from '../gateway/room-table.ts'
import type { Incarnation } from '../ownership.port.ts'
import type { FromWorker } from '../worker-messages.ts'
import type { ToEdge } from './link-messages.ts'

type Updates = Extract<FromWorker, { kind: 'updates' }>

const PART_BYTES = 1024 * 1024
/** An edge for which more than this waits opens the room again: the log has it, and memory need not. */
const MOST_WAITING_BYTES = 8 * 1024 * 1024

/** What an edge's room needs of the link, and of the connections of all edges. */
export interface EdgeRoomDeps {
  send(message: ToEdge): void
  /** Whether the link can take no more now. */
  isFull(): boolean
  /** The connection of this edge that has this number here; 0 for any other. */
  connectionOf(room: EdgeRoom, number: number): number
  /** Something was not sent because the link was full. */
  stalled(room: EdgeRoom): void
  /** Nothing more is sent for the room. */
  closed(room: EdgeRoom): void
}

/**
 * A room of this node as one edge has it: which connections of the edge are members, and what is sent to the edge. Updates and presence go once
 * over the link, however many connections there are. [LIFE-25]
 */
export class EdgeRoom implements RoomEdge {
  readonly edge: Incarnation
  /** The number of the room at the edge. */
  readonly number: number
  /** `null` until the room is open here. */
  room: Room | null = null
  /** The numbers here of the connections that are members, by their numbers at the edge. */
  readonly connections = new Map<number, number>()
  /** Connections that the edge had before its link was down, and did not name again yet; `null`: none. */
  stale: Set<number> | null = null
  isWatching = false
  /** The link is down, or the edge was told to open the room again: nothing is sent any more. */
  isSilent = false
  /** Something was not sent because the link was full: the edge has to open the room again. */
  isStalled = false
  /** Updates that wait until the edge has got what it missed; `null` when it lacks nothing. */
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

  /** From now on updates wait for `caughtUp`. */
  catchUp(): void {
    this.#waiting = { messages: [], bytes: 0 }
  }

  /** Sends what the edge missed, and then what came meanwhile. */
  caughtUp({ throughSeq, updates }: { readonly throughSeq: number; readonly updates: readonly Uint8Array[] }): void {
    const waiting = this.#waiting?.messages ?? []
    this.#waiting = null
    const parts = inParts(updates)
    const last = parts.pop() ?? []
    for (const part of parts) this.updates(missed(part))
    // Only with the last part does the edge have everything up to there.
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

  /** What is skipped is not sent later: the edge opens the room again and gets what it missed. */
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

/** Parts of a mebibyte or of one update, so that what an edge missed is no message that a link refuses, however long the log is. */
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
