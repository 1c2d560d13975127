import type { Timers } from '../../kernel/timers.ts'
import type { Room } from './room-table.ts'

/** An event waits this long at most. [WS-53] */
export const LONGEST_MS = 2_000

interface Waiter {
  readonly seq: number
  readonly done: () => void
}

/**
 * Remembers how far the log of each open room was given to its members, so that an event of a change can follow the frames of
 * that change, wherever the change was made. [WS-53]
 */
export class HandedOut {
  readonly #timers: Timers
  readonly #seqs = new WeakMap<Room, number>()
  readonly #waiters = new WeakMap<Room, Set<Waiter>>()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** Notes that the members have been given the log through `seq`. */
  note(room: Room, seq: number): void {
    this.#seqs.set(room, seq)
    for (const { seq: wanted, done } of this.#waiters.get(room) ?? []) if (wanted <= seq) done()
  }

  /** Ends all waiting for a room that has ended. */
  ended(room: Room): void {
    for (const { done } of this.#waiters.get(room) ?? []) done()
  }

  /**
   * Resolves when the members have been given the log through `seq`, after 2 s at the latest; `null` when nobody has to wait for
   * that.
   */
  reached(room: Room, seq: number): Promise<void> | null {
    const given = this.#seqs.get(room)
    // Whoever joins a room that is being opened gets its whole state.
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
