import type { Seen } from '@docrelay/model/seen/seen'
import type * as Y from 'yjs'
import type { Who } from '../../documents/change-record.ts'
import { LOST_ON, TYPED_BY } from '../late-words/late-words.ts'
import type { LiveChange } from '../worker-messages.ts'
import { type LiveContent, RELAY } from './room-content.ts'
import type { RoomHost } from './room-host.ts'
import type { Member } from './room-members.ts'
import { TouchedBlocks } from './touched-blocks.ts'

/** Changes are reported this long after the first one, or earlier when a caller gets an answer. */
export const TELL_MS = 500

/** The part of a room that `RoomChanges` needs. */
interface Owner {
  readonly id: number
  readonly host: RoomHost
  /** Returns the user name in the awareness states of a connection; `null` when there is no name. */
  nameOf(connection: number): string | null
}

/**
 * Records who changes what in a live document and reports the changes to the main thread, while the main thread watches. Costs nothing
 * otherwise. [AG-20, AG-21]
 */
export class RoomChanges {
  readonly #owner: Owner
  #touched: TouchedBlocks<Member> | null = null
  #live: LiveContent | null = null
  #cancelTell: (() => void) | null = null

  constructor(owner: Owner) {
    this.#owner = owner
  }

  /** Starts or stops recording. Reports the recorded changes before it stops. */
  watch(isOn: boolean): void {
    if (!isOn) this.tell()
    this.#touched = isOn ? (this.#touched ?? new TouchedBlocks()) : null
  }

  /** Follows another copy of the document. First reports the recorded changes of the former copy. */
  follow(live: LiveContent): void {
    if (this.#live !== null) {
      this.tell()
      if (this.#touched !== null) this.#touched = new TouchedBlocks()
    }
    this.#live = live
    live.doc.on('afterTransaction', (transaction: Y.Transaction) => {
      if (this.#touched !== null && this.#live === live) this.#note(this.#touched, transaction)
    })
  }

  /** Returns what a caller has seen, with the changes that people have made in this room until now. */
  seenAlso(seen: Seen | undefined): Seen | undefined {
    if (seen === undefined || this.#touched === null) return seen
    const changes = [...this.#touched.all()].map(({ by, ...change }) => ({ ...change, who: this.#whoIs(by) }))
    // The marks of this room come first, because they are newer than other changes of the same block: a mark is forgotten when the relay
    // changes its block.
    return changes.length === 0 ? seen : { ...seen, changes: [...changes, ...seen.changes] }
  }

  #note(touched: TouchedBlocks<Member>, transaction: Y.Transaction): void {
    // Late words are written by the relay, but their author is the person who typed them. [AG-110]
    const by = memberOf(transaction.meta.get(TYPED_BY)) ?? memberOf(transaction.origin)
    if (by === null) return touched.forget(transaction)
    touched.note(transaction, by)
    for (const pageId of (transaction.meta.get(LOST_ON) as ReadonlySet<string> | undefined) ?? []) touched.noteLost(pageId, by)
    if (this.#cancelTell === null && touched.hasNews) this.#cancelTell = this.#owner.host.after(TELL_MS, () => this.tell())
  }

  /** Reports to the main thread the changes since the last report. */
  tell(): void {
    this.#cancelTell?.()
    this.#cancelTell = null
    const { host, id } = this.#owner
    const touched = this.#touched?.take() ?? []
    if (touched.length === 0) return
    const names = new Map<Member, Who>()
    const changes = touched.map(({ by, ...change }): LiveChange => {
      let who = names.get(by)
      if (who === undefined) names.set(by, (who = this.#whoIs(by)))
      return { ...change, who }
    })
    host.emit({ kind: 'changed', room: id, changes })
  }

  #whoIs({ connection, sub }: Member): Who {
    const name = this.#owner.nameOf(connection)
    return { id: sub, kind: 'person', ...(name !== null && { name }) }
  }
}

function memberOf(origin: unknown): Member | null {
  return origin !== RELAY && typeof origin === 'object' && origin !== null && 'connection' in origin ? (origin as Member) : null
}
