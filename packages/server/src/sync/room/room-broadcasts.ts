import { splitUpdate } from './room-split.ts'
import type { SyncRoom } from './sync-room.ts'

/** The updates that a room emitted since it last broadcast. */
export class Broadcasts {
  private readonly room: SyncRoom
  private out: Uint8Array[] = []
  private senders: number[] = []
  /** The log must be durable up to here before they leave. */
  private durableFirst = 0
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
    if (connection === 0) this.durableFirst = this.room.log.emitted
    for (const part of splitUpdate(update)) {
      this.out.push(part)
      this.senders.push(connection)
    }
  }

  /** Broadcasts them, unless they wait for the log. */
  handOut(): void {
    if (this.out.length === 0) return
    this.isHeldBack = this.room.log.durable < this.durableFirst
    if (this.isHeldBack) return
    const { host, id, epoch, log } = this.room
    const durable = epoch === null ? {} : { durableSeq: log.durable }
    host.emit({ kind: 'updates', room: id, updates: this.out, senders: this.senders, ...durable })
    this.takeBack()
  }

  /** Discards them. */
  takeBack(): void {
    this.out = []
    this.senders = []
    this.isHeldBack = false
    this.durableFirst = 0
  }
}
