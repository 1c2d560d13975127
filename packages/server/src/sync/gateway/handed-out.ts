import type { Timers } from '../../kernel/timers.ts'
import type { Room } from './room-table.ts'

/** An event waits at most this long. [WS-53] */
export const LONGEST_MS = 2_000

interface Waiter {
  readonly seq: number
  readonly done: () => void
}

/**
 * Remembers, for each open room, through which sequence its members have got the log. So the event of a change can be sent after
 * the frames of the change, even if another node made the change. [WS-53]
 */
export class HandedOut {
  readonly #timers: Timers
  readonly #seqs = new WeakMap<Room, number>()
  readonly #waiters = new WeakMap<Room, Set<Waiter>>()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** Notes that the members have got the log through `seq`. */
  note(room: Room, seq: number): void {
    this.#seqs.set(room, seq)
    for (const { seq: wanted, done } of this.#waiters.get(room) ?? []) if (wanted <= seq) done()
  }

  /** Resolves everything that waits for a room that has ended. */
  ended(room: Room): void {
    for (const { done } of this.#waiters.get(room) ?? []) done()
  }

  /**
   * Resolves when the members have got the log through `seq`, after 2 s at the latest. Returns `null` when there is nothing to wait
   * for.
   */
  reached(room: Room, seq: number): Promise<void> | null {
    const given = this.#seqs.get(room)
    // The members of a room that is being opened get its whole state anyway.
    if (room.phase !== 'open' || room.members.length === 0 || given === undefined || given >= seq) return null
    const waiters = this.#waiters.get(room) ?? new Set()
    this.#waiters.set(room, waiters)
    return new Promise((resolve) => {
      const waiter: Waiter = {
        seq,
        done: () => {
          cancel()
          waiters.delete(waiter)
          resolve()
        },
      }
      const cancel = this.#timers.after(LONGEST_MS, waiter.done)
      waiters.add(waiter)
    })
  }
}
