import type { Write } from './room-edits.ts'
import type { RoomHost } from './room-host.ts'
import type { Member } from './room-members.ts'

/** How long the messages of a connection wait for its step2. A client sends it within a round trip, but later when its machine is busy. */
const STEP2_MS = 5_000
const EMPTY = Uint8Array.of(0, 0)

interface Waiting {
  /** The last ordinal that was sent before the room was opened again. An earlier step2 answers a step1 of the former room. */
  readonly through: number
  readonly held: Write[]
  /** Cancels the timer that ends the waiting; `null` until the step1 has left. */
  cancel: (() => void) | null
}

/**
 * Holds the messages of a connection whose room was opened again, until the connection has sent its step2. The messages may depend on edits
 * of other clients that the log never got. Those clients send these edits again, but perhaps later. The step2 contains all content on which
 * the messages depend. So the messages wait for the step2, at most 5 s. [LIFE-6, WS-32]
 */
export class Rejoins {
  readonly #host: Pick<RoomHost, 'after'>
  readonly #take: (member: Member, write: Write) => void
  readonly #waiting = new Map<Member, Waiting>()

  /** @param take called with each write that no longer waits */
  constructor(host: Pick<RoomHost, 'after'>, take: (member: Member, write: Write) => void) {
    this.#host = host
    this.#take = take
  }

  /** Begins to wait for the step2 of a connection. `through` is the ordinal of the last message that the connection has sent. */
  began(member: Member, through: number): void {
    this.#waiting.set(member, { through, held: [], cancel: null })
  }

  /** Starts the 5 s when a step1 was sent to the connection. A later step1 of the same join does not restart the 5 s. */
  asked(member: Member): void {
    const waiting = this.#waiting.get(member)
    if (waiting !== undefined) waiting.cancel ??= this.#host.after(STEP2_MS, () => this.end(member))
  }

  /**
   * Keeps a write of a connection whose step2 is awaited. When the write is this step2, passes it on together with the kept writes.
   * Returns false, and does nothing, for any other connection.
   */
  takes(member: Member, write: Write): boolean {
    const waiting = this.#waiting.get(member)
    if (waiting === undefined) return false
    if (!write.isStep2 || write.ordinal <= waiting.through) {
      waiting.held.push(write)
      return true
    }
    if (waiting.held.length > 0) this.#take(member, { ...write, settles: 0 })
    this.end(member)
    // The step2 was applied first, without settling its ordinal. An acknowledgement of this ordinal also covers the kept messages, so the
    // ordinal is settled after these messages.
    this.#take(member, waiting.held.length > 0 ? { ...write, update: EMPTY } : write)
    return true
  }

  /** Stops waiting for the step2 of a connection, and passes on the writes that were kept. */
  end(member: Member): void {
    const waiting = this.#waiting.get(member)
    if (waiting === undefined) return
    this.#remove(member, waiting)
    for (const write of waiting.held) this.#take(member, write)
  }

  /** Discards the writes that were kept. */
  forget(member: Member): void {
    const waiting = this.#waiting.get(member)
    if (waiting !== undefined) this.#remove(member, waiting)
  }

  /** The highest kept ordinal of each connection. */
  ordinals(): (readonly [Member, number])[] {
    return [...this.#waiting].flatMap(([member, { held }]) => held.slice(-1).map(({ ordinal }) => [member, ordinal] as const))
  }

  close(): void {
    for (const { cancel } of this.#waiting.values()) cancel?.()
    this.#waiting.clear()
  }

  #remove(member: Member, { cancel }: Waiting): void {
    cancel?.()
    this.#waiting.delete(member)
  }
}
