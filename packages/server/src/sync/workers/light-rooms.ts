import type { DocumentRef } from '../../documents/document-store.port.ts'
import { Load } from '../../kernel/load.ts'
import type { FromWorker, ToWorker } from '../worker-messages.ts'
import { LeavingRooms } from './leaving-rooms.ts'

/** One light room. */
interface LightRoom {
  readonly ref: DocumentRef
  /** The joined connections. A connection that joins again counts once. */
  readonly members: Set<number>
  readonly recent: Load
}

/** With more messages a second or more connections than this, a room costs the main loop more than it saves in wake-ups. */
const BUSY_PER_SECOND = 400
const MANY_MEMBERS = 48
/** A document that left the main loop is not opened there again for this long. */
const AWAY_MS = 60_000
const AWAY_KEPT = 10_000
/** About how long a message counts as recent. */
const RECENT_MS = 2_000

/** Keeps the rooms on the main loop, how busy each of them is, and the documents that must not be opened there for a while. Pure. [C8] */
export class LightRooms {
  readonly #rooms = new Map<number, LightRoom>()
  /** Until which time a document is not opened on the main loop, in ms of the monotonic clock. The earliest time comes first. */
  readonly #away = new Map<string, number>()
  /** Jobs that may close their room, by job number. */
  readonly #leaving = new LeavingRooms()

  get count(): number {
    return this.#rooms.size
  }

  sent(message: ToWorker, nowMs: number): void {
    switch (message.kind) {
      case 'open':
        this.#rooms.set(message.room, { ref: message.ref, members: new Set(), recent: new Load(RECENT_MS) })
        return
      case 'join':
        return this.#with(message.room, ({ members }) => members.add(message.connection))
      case 'leave':
        return this.#with(message.room, ({ members }) => members.delete(message.connection))
      case 'sync':
        return this.#with(message.room, (room) => room.recent.add(1, nowMs))
      case 'job':
        // A `drop` closes the room in any case, so the room is forgotten without waiting for the answer.
        if (message.task.kind === 'drop') this.#rooms.delete(message.room)
        else this.#leaving.sent(message)
    }
  }

  /** Notes a message of the home. Returns the room that has to move because of this message, or `null`. */
  received(message: FromWorker, nowMs: number): number | null {
    switch (message.kind) {
      case 'heavy':
        this.stayAway(message.room, nowMs)
        return message.room
      case 'opened':
        if (message.outcome === 'elsewhere') this.stayAway(message.room, nowMs)
        if (message.outcome !== 'opened') this.#rooms.delete(message.room)
        return null
      case 'reset':
      case 'reload':
      case 'fenced':
        this.#rooms.delete(message.room)
        return null
      case 'done': {
        const closed = this.#leaving.closedBy(message)
        if (closed !== null) this.#rooms.delete(closed)
      }
    }
    return null
  }

  /** Keeps the document of a room from being opened on the main loop for `AWAY_MS`. */
  stayAway(number: number, nowMs: number): void {
    const room = this.#rooms.get(number)
    if (room === undefined) return
    const name = nameOf(room.ref)
    this.#away.delete(name)
    this.#away.set(name, nowMs + AWAY_MS)
    for (const [oldest, untilMs] of this.#away) {
      if (this.#away.size <= AWAY_KEPT && untilMs > nowMs) break
      this.#away.delete(oldest)
    }
  }

  isAway(ref: DocumentRef, nowMs: number): boolean {
    return (this.#away.get(nameOf(ref)) ?? 0) > nowMs
  }

  /** Returns the busiest room if it is too busy for the main loop, else `null`. With `any`, returns the busiest room in any case. */
  busiest(any: boolean, nowMs: number): number | null {
    let best: number | null = null
    let most = any ? 0 : 1
    for (const [number, { recent, members }] of this.#rooms) {
      const weight = Math.max(recent.perSecond(nowMs) / BUSY_PER_SECOND, members.size / MANY_MEMBERS)
      if (weight <= most) continue
      most = weight
      best = number
    }
    return best
  }

  #with(number: number, change: (room: LightRoom) => void): void {
    const room = this.#rooms.get(number)
    if (room !== undefined) change(room)
  }
}

function nameOf(ref: DocumentRef): string {
  return `${ref.workspaceId}\n${ref.id}`
}
