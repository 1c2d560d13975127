import { awarenessFrame, readAwareness } from '@docrelay/protocol/codec'
import {
  applyAwarenessUpdate,
  type Awareness,
  encodeAwarenessUpdate,
  modifyAwarenessUpdate,
  removeAwarenessStates,
} from 'y-protocols/awareness'
import { guardState } from './awareness-guard.ts'
import type { SyncConnection } from './sync-connection.ts'

/** Exchanges awareness states over one connection: sends this client's own, and applies those of others. */
export class Presence {
  readonly #awareness: Awareness
  readonly #connection: Pick<SyncConnection, 'canSend' | 'send'>

  constructor(awareness: Awareness, connection: Pick<SyncConnection, 'canSend' | 'send'>) {
    this.#awareness = awareness
    this.#connection = connection
    awareness.on('update', this.#updated)
  }

  joined(): void {
    if (this.#awareness.getLocalState() !== null) this.#send([this.#awareness.clientID])
  }

  /** Applies the awareness states of others, without values that would make editors throw. [WS-65] */
  received(message: Uint8Array): void {
    const update = readAwareness(message)
    if (update) applyAwarenessUpdate(this.#awareness, modifyAwarenessUpdate(update, guardState), this)
  }

  /** Announces to others that this client leaves, before the relay notices the closed socket. */
  goodbye(): void {
    this.#send([this.#awareness.clientID], new Map())
  }

  /**
   * Forgets the states and clocks of all others. After the next join the relay shows them under the same clocks as before, and known clocks would
   * make awareness ignore them as old. [WS-45]
   */
  left(): void {
    const isOther = (id: number): boolean => id !== this.#awareness.clientID
    removeAwarenessStates(this.#awareness, [...this.#awareness.getStates().keys()].filter(isOther), this)
    for (const id of [...this.#awareness.meta.keys()].filter(isOther)) this.#awareness.meta.delete(id)
  }

  destroy(): void {
    this.#awareness.off('update', this.#updated)
  }

  readonly #updated = (change: { added: number[]; updated: number[]; removed: number[] }, origin: unknown): void => {
    const own = this.#awareness.clientID
    // When others announce this client as gone, its state stays here under a newer clock, and it shows itself again.
    const ids = origin !== this ? Object.values(change).flat() : this.#awareness.getLocalState() ? change.removed : []
    this.#send(ids.filter((id) => id === own))
  }

  #send(ids: number[], states?: Map<number, { [member: string]: unknown }>): void {
    if (ids.length === 0 || !this.#connection.canSend || !this.#awareness.meta.has(this.#awareness.clientID)) return
    this.#connection.send(awarenessFrame(encodeAwarenessUpdate(this.#awareness, ids, states)))
  }
}
