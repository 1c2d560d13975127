import type { Write } from './room-edits.ts'
import type { RoomHost } from './room-host.ts'
import type { Member } from './room-members.ts'

/** How long the messages of a connection wait for its step2, which a client sends within a round trip, later on a busy machine. */
const STEP2_MS = 5_000
const EMPTY = Uint8Array.of(0, 0)

interface Waiting {
  /** A step2 up to this ordinal answers a step1 of the former room. */
  readonly through: number
  readonly held: Write[]
  /** Cancels the end of waiting; `null` until the step1 has left. */
  cancel: (() => void) | null
}

/**
 * The connections of a room that was opened again, until each has sent its step2. Their messages may build upon edits of other
 * clients that the log never got, and that those clients send again, perhaps later. The step2 of a connection contains everything
 * that its messages build upon, so the messages wait for it, at most 5 s. [LIFE-6, WS-32]
 */
export class Rejoins {
  readonly #host: Pick<RoomHost, 'after'>
  readonly #take: (member: Member, write: Write) => void
  readonly #waiting = new Map<Member, Waiting>()

  /** `take` accepts a write that waits no longer. */
  constructor(host: Pick<RoomHost, 'after'>, take: (member: Member, write: Write) => void) {
    this.#host = host
    this.#take = take
  }

  /** The connection will be asked for its step2. `through` is the ordinal of the last message that it has sent. */
  began(member: Member, through: number): void {
    this.#waiting.set(member, { through, held: [], cancel: null })
  }

  /** A step1 has left for the connection. Later ones of the same join give it no more time. */
  asked(member: Member): void {
    const waiting = this.#waiting.get(member)
    if (waiting !== undefined) waiting.cancel ??= this.#host.after(STEP2_MS, () => this.end(member))
  }

  /**
   * Takes a write of a connection that is waited for: keeps it, or takes a step2 with the writes that were kept. Returns false
   * for any other connection.
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
    // An acknowledgement of the step2 covers the messages before it, so it comes when they are applied.
    this.#take(member, waiting.held.length > 0 ? { ...write, update: EMPTY } : write)
    return true
  }

  /** Stops waiting for the step2 of a connection, and takes the writes that were kept. */
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

  /** The last ordinal that was kept of each connection. */
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
