import { splitUpdate } from './room-split.ts'
import type { SyncRoom } from './sync-room.ts'

/** The updates that a room emitted since it last broadcast, in log order. */
export class Broadcasts {
  private readonly room: SyncRoom
  private out: Uint8Array[] = []
  private senders: number[] = []
  /** The log sequence of each update. */
  private sequences: number[] = []
  /** The log sequence of the last write of the relay itself. While the log is not durable so far, the document may lose it in a crash. */
  relaySequence = 0
  /** Updates wait for the log, not for the end of a turn. */
  isHeldBack = false

  constructor(room: SyncRoom) {
    this.room = room
  }

  /**
   * Takes an update that the log has just emitted. What a client wrote may run ahead of its commit, as that client would send it again. What
   * the relay itself wrote may not: clients would bring it back after a crash, and the relay, which writes late words again, would have them
   * twice. `connection`: 0 for an update of the relay. [LIFE-2, AG-110]
   */
  add(update: Uint8Array, connection: number): void {
    const { emitted } = this.room.log
    if (connection === 0) this.relaySequence = emitted
    for (const part of splitUpdate(update)) {
      this.out.push(part)
      this.senders.push(connection)
      this.sequences.push(emitted)
    }
  }

  /** Broadcasts them, up to the first one that waits for the log: those behind it may build upon it. */
  handOut(): void {
    const { host, id, epoch, log } = this.room
    const waits = this.sequences.findIndex((sequence, i) => this.senders[i] === 0 && sequence > log.durable)
    this.isHeldBack = waits >= 0
    const count = waits < 0 ? this.out.length : waits
    if (count === 0) return
    this.sequences.splice(0, count)
    const [updates, senders] = [this.out.splice(0, count), this.senders.splice(0, count)]
    const durable = epoch === null ? {} : { durableSeq: log.durable }
    host.emit({ kind: 'updates', room: id, updates, senders, ...durable })
  }

  /** Discards those that are not durable, because the document that emitted them is being discarded. */
  takeBack(): void {
    const { durable } = this.room.log
    const count = this.sequences.filter((sequence) => sequence <= durable).length
    for (const each of [this.out, this.senders, this.sequences]) each.splice(count)
    this.isHeldBack = false
    this.relaySequence = 0
  }
}
