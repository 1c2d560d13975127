import type { Broadcasts } from './room-broadcasts.ts'
import type { Member } from './room-members.ts'
import type { SyncRoom } from './sync-room.ts'

/** What a room sends to one connection of its own accord or because it was asked. */
export type Part = 'state' | 'step1' | 'awareness' | 'step2'

/** The order in which one connection gets what has waited. [WS-23] */
const ORDER: readonly Part[] = ['state', 'step1', 'awareness', 'step2']

type Held =
  /** To be made when the document is no longer in doubt. */
  | { readonly kind: 'asked'; readonly again: () => void }
  /** Leaves when the log is durable through `sequence`. */
  | { readonly kind: 'made'; readonly frames: () => readonly Uint8Array[]; readonly sequence: number }

/**
 * What tells a connection about content, held back while that content may still be taken back: a client would bring it back at its next
 * join as edits of its own. There are two reasons. While the document is in doubt, because it holds an edit that the store may still
 * refuse or a part of an update, nothing is made. When it only holds writes of the relay that are not durable yet, the answer is made at
 * once and leaves when they are, so that it never waits for later writes. A connection has at most one of each part waiting, the newest.
 * [LIFE-2, LIFE-3, G9]
 */
export class HeldAnswers {
  readonly #room: SyncRoom
  readonly #broadcasts: Broadcasts
  readonly #left: (member: Member, part: Part) => void
  readonly #held = new Map<Member, Map<Part, Held>>()
  #isInDoubt = false

  /** `left` is called when a part of an answer has been sent to a connection. */
  constructor(room: SyncRoom, broadcasts: Broadcasts, left: (member: Member, part: Part) => void) {
    this.#room = room
    this.#broadcasts = broadcasts
    this.#left = left
  }

  /** From now on the document may be thrown away with what it contains, until `trust` or until the room closes. */
  doubt(): void {
    this.#isInDoubt = true
  }

  /** What the document contains now stays. */
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

  /** Sends what `make` returns, now or later. `again` is called instead when the document was in doubt: it asks for the same anew. */
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
    // Presence says nothing about content. It only waits for the step1 before it, and is then told as it is.
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
