import type { Broadcasts } from './room-broadcasts.ts'
import type { Member } from './room-members.ts'
import type { SyncRoom } from './sync-room.ts'

/** The kinds of answers that a room sends to one connection. */
export type Part = 'state' | 'step1' | 'awareness' | 'step2'

/** The order in which one connection gets its waiting answers. [WS-23] */
const ORDER: readonly Part[] = ['state', 'step1', 'awareness', 'step2']

type Held =
  /** `again` makes the answer when the document is no longer in doubt. */
  | { readonly kind: 'asked'; readonly again: () => void }
  /** The answer leaves when the log is durable through `sequence`. */
  | { readonly kind: 'made'; readonly frames: () => readonly Uint8Array[]; readonly sequence: number }

/**
 * Holds back answers to connections while the content in them may still be taken back. Otherwise a client would send this content back as
 * edits of its own at its next join. [LIFE-2, LIFE-3, G9]
 *
 * The document is in doubt while it holds an edit that the store may still refuse, or a part of an update. Then no answer is made. When the
 * document only holds writes of the relay that are not durable yet, the answer is made at once and leaves as soon as they are durable, so
 * that it never waits for later writes. Of each `Part`, only the newest answer waits for a connection.
 */
export class HeldAnswers {
  readonly #room: SyncRoom
  readonly #broadcasts: Broadcasts
  readonly #left: (member: Member, part: Part) => void
  readonly #held = new Map<Member, Map<Part, Held>>()
  #isInDoubt = false

  /** @param left called when an answer has been sent to a connection */
  constructor(room: SyncRoom, broadcasts: Broadcasts, left: (member: Member, part: Part) => void) {
    this.#room = room
    this.#broadcasts = broadcasts
    this.#left = left
  }

  /** Makes no answer until `trust` or until the room closes, because the content of the document may be discarded. */
  doubt(): void {
    this.#isInDoubt = true
  }

  /** Ends the doubt, because the content of the document stays. Makes and sends the answers that waited for the end of the doubt. */
  trust(): void {
    if (!this.#isInDoubt) return
    this.#isInDoubt = false
    for (const [member, parts] of this.#held) {
      for (const part of ORDER) {
        const held = parts.get(part)
        if (held?.kind !== 'asked') continue
        parts.delete(part)
        held.again()
        if (!this.#room.isReady) return
      }
      this.#release(member)
    }
  }

  /** Sends the frames that `make` returns, now or later. While the document is in doubt, waits, and then calls `again` to ask for them anew. */
  send(
    member: Member,
    part: Part,
    make: () => readonly Uint8Array[],
    again: () => void = () => this.send(member, part, make),
  ): void {
    const parts = this.#held.get(member) ?? new Map<Part, Held>()
    this.#held.set(member, parts)
    parts.set(part, this.#isInDoubt ? { kind: 'asked', again } : this.#made(part, make))
    this.#release(member)
  }

  #made(part: Part, make: () => readonly Uint8Array[]): Held {
    // Presence contains no content of the document. It only waits for the step1 before it, and is read at the moment of sending.
    if (part === 'awareness') return { kind: 'made', frames: make, sequence: 0 }
    const frames = make()
    return { kind: 'made', frames: () => frames, sequence: this.#broadcasts.relaySequence }
  }

  logMoved(): void {
    for (const member of this.#held.keys()) this.#release(member)
  }

  #release(member: Member): void {
    const parts = this.#held.get(member)
    if (parts === undefined) return
    const { host, log } = this.#room
    for (const part of ORDER) {
      const held = parts.get(part)
      if (held === undefined) continue
      if (held.kind === 'asked' || held.sequence > log.durable) return
      parts.delete(part)
      const frames = held.frames()
      if (frames.length > 0) host.emit({ kind: 'direct', connection: member.connection, join: member.join, frames })
      this.#left(member, part)
    }
    this.#held.delete(member)
  }

  forget(member: Member): void {
    this.#held.delete(member)
  }
}
