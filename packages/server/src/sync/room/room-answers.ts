import { awarenessFrame, syncFrame } from '@docrelay/protocol/codec'
import { SYNC } from '@docrelay/protocol/frames'
import type { Broadcasts } from './room-broadcasts.ts'
import { fullState, lengthOf, step2Frames, vectorOf } from './room-content.ts'
import { HeldAnswers } from './room-held-answers.ts'
import type { RoomHost } from './room-host.ts'
import type { Member } from './room-members.ts'
import { readStateVector } from './state-vector.ts'
import type { SyncRoom } from './sync-room.ts'

const RESYNC_EVERY_MS = 1_000
const FULL_STATE_EVERY_MS = 10_000
/** A client whose message was dropped is asked for the content again after at most this long. [WS-29] */
const LONGEST_DROP_MS = 5_000
/** A step1 waits for a turn when the document is larger than this, because the answer may have to encode the whole document. */
const QUICK_STEP1_BYTES = 64 * 1024
const ENCODE_MS_PER_BYTE = 30e-6

/**
 * Sends the sync messages of one room that go to a single connection: the room's step1, answers to a step1 of the connection, and requests
 * to send content again. [WS-23..WS-32]
 */
export class RoomAnswers {
  private readonly room: SyncRoom
  private readonly host: RoomHost
  /** Answers that wait until the content in them can no longer be taken back. */
  readonly held: HeldAnswers

  /** @param asked called when a step1 has been sent to a connection */
  constructor(room: SyncRoom, broadcasts: Broadcasts, asked: (member: Member) => void) {
    this.room = room
    this.host = room.host
    this.held = new HeldAnswers(room, broadcasts, (member, part) => {
      if (part === 'step1') asked(member)
    })
  }

  /**
   * Answers a step1 after calling `flush`, which applies the gathered writes. Returns false when the state vector cannot be decoded.
   * [WS-25]
   */
  answerStep1(member: Member, encoded: Uint8Array, flush: () => void): boolean {
    const vector = readStateVector(encoded)
    if (vector === null) return false
    const answer = (): void => {
      flush()
      if (!this.room.isReady) return
      const frames = () => step2Frames(this.room.content(), vector, encoded, this.room.log.emitted)
      this.held.send(member, 'step2', frames, () => this.answerStep1(member, encoded, flush))
    }
    const bytes = lengthOf(this.room.content())
    if (bytes <= QUICK_STEP1_BYTES) {
      answer()
      return true
    }
    this.host.turns.ask({
      workspaceId: this.room.workspaceId,
      connection: member.connection,
      estimateMs: bytes * ENCODE_MS_PER_BYTE,
      run: () => {
        if (this.room.isReady && this.room.members.get(member.connection) === member) answer()
      },
    })
    return true
  }

  sendStep1(member: Member): void {
    this.held.send(member, 'step1', () => [syncFrame(SYNC.step1, vectorOf(this.room.content()))])
  }

  /** Sends the presence of other connections, after a step1 that still waits. `snapshot` returns `null` when there is no presence. [WS-23] */
  sendPresence(member: Member, snapshot: () => Uint8Array | null): void {
    this.held.send(member, 'awareness', () => {
      const others = snapshot()
      return others === null ? [] : [awarenessFrame(others)]
    })
  }

  /** Discards the answers and the resync that wait for a connection that left. */
  forget(member: Member): void {
    this.held.forget(member)
    member.resyncTimer?.()
  }

  /**
   * Asks a client for missing content. A client whose own document has pending content is first sent the whole state, which resolves it.
   * [WS-32, 3.4]
   */
  gap(member: Member, ownPending: boolean): void {
    this.host.count('sync_gaps')
    const now = this.host.clock.monotonicMs()
    if (ownPending && now - member.fullStateAtMs >= FULL_STATE_EVERY_MS) {
      member.fullStateAtMs = now
      this.held.send(member, 'state', () => [syncFrame(SYNC.update, fullState(this.room.content(), this.room.log.emitted))])
    }
    this.resyncIn(member, Math.max(0, member.resyncAtMs + RESYNC_EVERY_MS - now))
  }

  dropped(member: Member, waitMs: number): void {
    this.host.count('sync_dropped')
    this.resyncIn(member, Math.min(waitMs, LONGEST_DROP_MS))
  }

  private resyncIn(member: Member, delayMs: number): void {
    if (member.resyncTimer !== null) return
    if (delayMs <= 0) {
      this.resync(member)
      return
    }
    member.resyncTimer = this.host.after(delayMs, () => {
      member.resyncTimer = null
      if (this.room.members.get(member.connection) === member) this.resync(member)
    })
  }

  /** Sends a resync request, which is a step1, at once if one is delayed. */
  resyncNow(member: Member): void {
    if (member.resyncTimer === null) return
    member.resyncTimer()
    member.resyncTimer = null
    this.resync(member)
  }

  private resync(member: Member): void {
    member.resyncAtMs = this.host.clock.monotonicMs()
    this.sendStep1(member)
  }

  former(member: Member, ordinal: number): void {
    member.former = true
    this.host.count('former_lineages_refused')
    this.host.emit({ kind: 'former', connection: member.connection, join: member.join, ordinal })
  }

  broken(member: Member, error: unknown): void {
    this.host.count('rooms_broken')
    this.host.log.error(
      'room.broken',
      'An update broke the live copy or took too long; nothing of it is stored, and the room reloads from its log.',
      {
        sub: member.sub,
        error: String(error),
      },
    )
    this.host.emit({ kind: 'expel', connection: member.connection, code: 1003, word: 'protocol' })
    this.room.reload(member.connection)
  }
}
