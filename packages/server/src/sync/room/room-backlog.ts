import type { Write } from './room-edits.ts'
import type { RoomHost } from './room-host.ts'
import type { Member } from './room-members.ts'

/** The cost of ordinary updates. The estimate of a room starts at this value and never falls below it. */
const EXPECTED_MS_PER_BYTE = 0.0003
const LEAST_MS = 0.05
/** Smaller writes are not measured, because they say little about the cost per byte. */
const TELLING_BYTES = 4 * 1024
/** A leaving connection's waiting writes are still applied when they are expected to take at most this long. */
const LEFT_BEHIND_MS = 100

/**
 * Tracks the writes that wait in one room and estimates how long they will take, from the measured cost of the room's recent writes.
 * [WS-12, G9]
 */
export class Backlog {
  private readonly host: Pick<RoomHost, 'turns' | 'options'>
  private msPerByte = EXPECTED_MS_PER_BYTE

  constructor(host: Pick<RoomHost, 'turns' | 'options'>) {
    this.host = host
  }

  add(member: Member, { update }: Write): void {
    member.waitingBytes += update.length
  }

  remove(member: Member, { update }: Write): void {
    member.waitingBytes = Math.max(0, member.waitingBytes - update.length)
  }

  learn(bytes: number, tookMs: number): void {
    if (bytes < TELLING_BYTES) return
    this.msPerByte = Math.max(EXPECTED_MS_PER_BYTE, (this.msPerByte + tookMs / bytes) / 2)
  }

  expectedMs(bytes: number): number {
    return Math.max(LEAST_MS, bytes * this.msPerByte)
  }

  /**
   * Whether a connection would owe more processor time than `debtMs` if `moreBytes` were added to its waiting writes. A connection without
   * waiting writes is never over, so a single write is always accepted.
   */
  isOver(member: Member, moreBytes = 0): boolean {
    if (member.waitingBytes === 0) return false
    const waitingMs = this.expectedMs(member.waitingBytes + moreBytes)
    return this.host.turns.connectionOwesMs(member.connection) + waitingMs > this.host.options.debtMs
  }

  /** Whether the waiting writes of a leaving connection are few enough to be applied anyway. */
  mayStay(member: Member): boolean {
    return this.expectedMs(member.waitingBytes) <= LEFT_BEHIND_MS
  }
}
