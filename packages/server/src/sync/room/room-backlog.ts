import type { Write } from './room-edits.ts'
import type { RoomHost } from './room-host.ts'
import type { Member } from './room-members.ts'

/** What honest updates take. */
const EXPECTED_MS_PER_BYTE = 0.0003
const LEAST_MS = 0.05
/** Smaller writes say little about what a byte costs. */
const TELLING_BYTES = 4 * 1024
/** What a connection that leaves may leave behind to be applied without it. */
const LEFT_BEHIND_MS = 100

/** The writes that wait in one room, and how long they will take: what writes of this room took lately tells what the next ones will. [WS-12, G9] */
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

  /** Whether a connection, with `moreBytes` behind what waits of it already, owes more than it may. A write alone is always taken. */
  isOver(member: Member, moreBytes = 0): boolean {
    if (member.waitingBytes === 0) return false
    const waitingMs = this.expectedMs(member.waitingBytes + moreBytes)
    return this.host.turns.connectionOwesMs(member.connection) + waitingMs > this.host.options.debtMs
  }

  /** Whether what waits of a connection that leaves is little enough to be applied all the same. */
  mayStay(member: Member): boolean {
    return this.expectedMs(member.waitingBytes) <= LEFT_BEHIND_MS
  }
}
