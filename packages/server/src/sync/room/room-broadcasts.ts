import { splitUpdate } from './room-split.ts'
import type { SyncRoom } from './sync-room.ts'

/** The updates that a room emitted since it last broadcast, in log order. */
export class Broadcasts {
  private readonly room: SyncRoom
  private out: Uint8Array[] = []
  private senders: number[] = []
  /** The log sequence of each update. */
  private sequences: number[] = []
  /** The log sequence of the last write of the relay itself. Until the log is durable through it, a crash may lose this write. */
  relaySequence = 0
  /** True while updates wait until the log is durable, and not for the end of a turn. */
  isHeldBack = false

  constructor(room: SyncRoom) {
    this.room = room
  }

  /**
   * Adds the update that the log has just emitted. `connection` is its writer, 0 for the relay itself. [LIFE-2, AG-110]
   *
   * An update of a client may be broadcast before its commit, because after a crash that client sends the update again. An update of the relay
   * may not. After a crash, clients would send that update back, the relay would write the same late words again, and the words would be
   * there twice.
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

  /** Broadcasts the updates before the first update that waits for the log. Later updates may depend on that update, so they wait too. */
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

  /** Discards the updates that are not durable, because the document that emitted them is being discarded. */
  takeBack(): void {
    const { durable } = this.room.log
    const count = this.sequences.filter((sequence) => sequence <= durable).length
    for (const each of [this.out, this.senders, this.sequences]) each.splice(count)
    this.isHeldBack = false
    this.relaySequence = 0
  }
}
