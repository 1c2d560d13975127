import { isWriteBearing, readSync, syncFrame } from '@docrelay/protocol/codec'
import { SYNC } from '@docrelay/protocol/frames'
import { typeRoots } from '../guard/guard-roots.ts'
import { fullState, type LiveContent, type RoomContent, step2Frames, vectorOf } from './room-content.ts'
import { applyWrites, EditWindow, type Refusal, type TurnOwner, type Write } from './room-edits.ts'
import { readStateVector } from './state-vector.ts'
import { type RoomHost, watched } from './room-host.ts'
import type { RoomLog } from './room-log.ts'
import { awaitOrdinal, type Member, settleOrdinals } from './room-members.ts'
import { splitUpdate } from './room-split.ts'
import type { ToWorker } from '../worker-messages.ts'

const RESYNC_EVERY_MS = 1_000
const FULL_STATE_EVERY_MS = 10_000
/** So many gathered writes end a window before its time: waiting for more saves nothing then. */
const MANY_WRITES = 256
/** WS-29 asks again after at most 5 s. */
const LONGEST_DROP_MS = 5_000

/** What syncing needs of its room. */
export interface SyncRoom {
  readonly host: RoomHost
  readonly id: number
  readonly workspaceId: string
  readonly members: ReadonlyMap<number, Member>
  readonly log: RoomLog
  /** Loaded and not closed. */
  readonly isReady: boolean
  content(): RoomContent
  /** The live document, built at its first use. */
  live(): LiveContent
  /** An edit was emitted; the body is behind. */
  edited(sub: string, updateBytes: number): void
  /** An exception where none may be. [C10] */
  failed(error: unknown): void
  /** Throws the room away: its sockets come back with everything they have. [LIFE-6] */
  reset(): void
}

/**
 * SYNC messages of one loaded document: step1 and step2, edits behind the guard in gathered turns, resync after gaps and drops, and which
 * ordinals are settled. [WS-23..WS-41]
 */
export class RoomSync implements TurnOwner {
  readonly host: RoomHost
  readonly id: number
  readonly workspaceId: string
  private readonly room: SyncRoom
  private readonly window: EditWindow
  private turn = new Map<Member, Write[]>()
  /** Writes in `turn`. */
  private gathered = 0
  /** Takes the end of the open window back. */
  private cancelWindow: (() => void) | null = null
  /** How many ask for a pause now. */
  private pauses = 0
  /** What the turn being applied has emitted; logged and handed out once the document is known to be sound. */
  private staged: { update: Uint8Array; origin: unknown }[] | null = null
  /** Writes of connections whose large message is being tried on a copy. [G10] */
  private readonly trials = new Map<Member, { readonly tried: Write; readonly waiting: Write[] }>()
  private out: Uint8Array[] = []
  private senders: number[] = []
  private readonly acking = new Set<Member>()
  private roots = 0

  constructor(room: SyncRoom) {
    this.room = room
    this.host = room.host
    this.id = room.id
    this.workspaceId = room.workspaceId
    this.window = new EditWindow(room.host.options.windowMs)
  }

  /** Follows what the live document emits: it is what is logged and handed out. [D3] */
  listen(live: LiveContent): void {
    this.roots = live.doc.share.size
    live.doc.on('update', (update: Uint8Array, origin: unknown) => this.emitted(live, update, origin))
  }

  receive(member: Member, message: Extract<ToWorker, { kind: 'sync' }>): void {
    const read = readSync(message.payload)
    if (read === null) {
      this.undecodable(member, message)
      return
    }
    if (read.subType === SYNC.step1) {
      this.answerStep1(member, read.payload)
      return
    }
    const readOnly = !member.canWrite
    this.gather(member, {
      ordinal: message.ordinal,
      update: read.payload,
      isStep2: read.subType === SYNC.step2,
      readOnly,
      refusal: null,
    })
  }

  private undecodable(member: Member, { ordinal, payload }: Extract<ToWorker, { kind: 'sync' }>): void {
    const isWrite = isWriteBearing(payload)
    const refusal = { code: isWrite ? 'ERR_BAD_UPDATE' : 'ERR_BAD_FRAME', text: 'the SYNC message cannot be decoded' } as const
    if (ordinal === 0) this.refuse(member, 0, refusal.code, refusal.text)
    else this.gather(member, refusedWrite(ordinal, refusal))
  }

  private gather(member: Member, write: Write): void {
    const trial = this.trials.get(member)
    if (trial !== undefined) {
      trial.waiting.push(write)
      return
    }
    if (!write.readOnly && write.update.length > this.host.options.trialBytes && this.needsTrial(write.update)) {
      this.flushTurn()
      void this.tryWrite(member, write)
      return
    }
    this.enqueue(member, write)
  }

  private enqueue(member: Member, write: Write): void {
    const writes = this.turn.get(member)
    if (writes === undefined) this.turn.set(member, [write])
    else writes.push(write)
    this.gathered++
    const ends = this.cancelWindow === null || this.gathered >= MANY_WRITES
    if (ends && this.pauses === 0) this.host.atTurnEnd(this)
  }

  private needsTrial(update: Uint8Array): boolean {
    this.flushTurn()
    const inspection = watched(this.host, this.id, update.length, () => this.host.guard.inspect(update, this.room.live()))
    return inspection.kind === 'ok' && !inspection.noop
  }

  /** Applies a large message to a copy elsewhere first; what its sender sends meanwhile waits behind it. [G10] */
  private async tryWrite(member: Member, write: Write): Promise<void> {
    const trial = { tried: write, waiting: [] as Write[] }
    this.trials.set(member, trial)
    const passed = await this.host.scratch.trial(fullState(this.room.content(), this.room.log.emitted), write.update)
    this.host.turn(() => {
      if (this.trials.get(member) !== trial) return
      this.trials.delete(member)
      if (passed) this.enqueue(member, write)
      else {
        this.host.count('trials_failed')
        const refusal = { code: 'ERR_BAD_UPDATE', text: 'the update cannot be applied in time' } as const
        this.enqueue(member, refusedWrite(write.ordinal, refusal))
        this.flushTurn()
        this.host.emit({ kind: 'expel', connection: member.connection, code: 1003, reason: 'protocol' })
      }
      for (const next of trial.waiting) this.gather(member, next)
    })
  }

  /** Applies what was gathered, hands out what the document emitted, and opens the next window. */
  flushTurn(): void {
    if (this.turn.size === 0 || this.pauses > 0) return
    try {
      this.applyTurn()
    } catch (error) {
      this.room.failed(error)
    }
  }

  private applyTurn(): void {
    const { turn, gathered } = this
    this.turn = new Map()
    this.gathered = 0
    for (const [member, writes] of turn) if (!this.applyNow(member, writes)) return
    this.openWindow(gathered)
    this.handOut()
  }

  /** False when the document broke and the room is gone. */
  private applyNow(member: Member, writes: readonly Write[]): boolean {
    if (writes.some(({ update, refusal }) => refusal !== null || !isEmptyUpdate(update))) {
      const live = this.room.live()
      this.staged = []
      const sound = applyWrites(this, live, member, writes)
      const { staged } = this
      this.staged = null
      if (!sound) return false
      for (const { update, origin } of staged) this.commit(live, update, origin)
    }
    this.settleAfter(member, (writes[writes.length - 1] as Write).ordinal)
    return true
  }

  private openWindow(writes: number): void {
    this.cancelWindow?.()
    const windowMs = this.window.next(writes, this.host.clock.monotonicMs())
    this.cancelWindow = windowMs === 0 ? null : this.host.beats.after(windowMs, () => this.windowEnded())
  }

  private windowEnded(): void {
    this.cancelWindow = null
    this.flushTurn()
  }

  /** Keeps edits gathered and emitted updates in, while a write decides whether the live document stays. */
  pause(): void {
    this.flushTurn()
    this.pauses++
  }

  /** For what has to meet a document that stands still, whatever becomes of it. [LIFE-22] */
  pauseFor(ms: number): void {
    this.pause()
    this.host.after(ms, () => this.room.isReady && this.resume())
  }

  /** Ends one pause; each is ended once. */
  resume(): void {
    this.pauses--
    this.handOut()
    this.flushTurn()
  }

  /** Forgets what a document emitted that is thrown away. */
  takeBack(): void {
    this.out = []
    this.senders = []
  }

  private emitted(live: LiveContent, update: Uint8Array, origin: unknown): void {
    if (this.staged === null) this.commit(live, update, origin)
    else this.staged.push({ update, origin })
  }

  private commit(live: LiveContent, update: Uint8Array, origin: unknown): void {
    const member = typeof origin === 'object' && origin !== null ? (origin as Member) : null
    for (const part of splitUpdate(update)) {
      this.out.push(part)
      this.senders.push(member?.connection ?? 0)
    }
    const sub = member?.sub ?? 'system'
    this.room.log.emit(update, sub, this.host.clock.nowMs())
    if (live.doc.share.size !== this.roots) {
      typeRoots(live.doc)
      this.roots = live.doc.share.size
    }
    this.room.edited(sub, update.length)
  }

  /** Broadcast may precede the commit; nothing else does. [LIFE-2] */
  handOut(): void {
    if (this.out.length === 0 || this.pauses > 0) return
    this.host.emit({ kind: 'updates', room: this.id, updates: this.out, senders: this.senders })
    this.out = []
    this.senders = []
  }

  private answerStep1(member: Member, encoded: Uint8Array): void {
    const vector = readStateVector(encoded)
    if (vector === null) {
      this.refuse(member, 0, 'ERR_BAD_FRAME', 'the state vector cannot be decoded')
      return
    }
    this.flushTurn()
    this.direct(member, step2Frames(this.room.content(), vector, encoded, this.room.log.emitted))
  }

  sendStep1(member: Member): void {
    this.direct(member, [syncFrame(SYNC.step1, vectorOf(this.room.content()))])
  }

  direct(member: Member, frames: readonly Uint8Array[]): void {
    this.host.emit({ kind: 'direct', connection: member.connection, join: member.join, frames })
  }

  refuse(member: Member, ordinal: number, code: Refusal, text: string): void {
    const violation = code === 'ERR_BAD_UPDATE' || code === 'ERR_BAD_FRAME'
    this.host.emit({ kind: 'refused', connection: member.connection, join: member.join, ordinal, code, text, violation })
  }

  /** Asks for what is missing; a client whose own content is pending first gets the whole state, which clears it. [WS-32, 3.4] */
  gap(member: Member, ownPending: boolean): void {
    this.host.count('sync_gaps')
    const now = this.host.clock.monotonicMs()
    if (ownPending && now - member.fullStateAtMs >= FULL_STATE_EVERY_MS) {
      member.fullStateAtMs = now
      this.direct(member, [syncFrame(SYNC.update, fullState(this.room.content(), this.room.log.emitted))])
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

  private resync(member: Member): void {
    member.resyncAtMs = this.host.clock.monotonicMs()
    this.sendStep1(member)
  }

  broken(member: Member, error: unknown): void {
    this.host.count('rooms_broken')
    this.host.log.error('room.broken', 'Applying an accepted update failed; the room reloads from its log.', {
      sub: member.sub,
      error: String(error),
    })
    this.host.emit({ kind: 'expel', connection: member.connection, code: 1003, reason: 'protocol' })
    this.room.reset()
  }

  /** Everything up to `ordinal` is handled, and true once what the room emitted so far is durable. [WS-40] */
  private settleAfter(member: Member, ordinal: number): void {
    if (ordinal === 0) return
    awaitOrdinal(member, ordinal, this.room.log.emitted)
    this.acking.add(member)
    this.settle(member)
  }

  private settle(member: Member): void {
    const ordinal = settleOrdinals(member, this.room.log.durable)
    if (ordinal > 0) {
      const settled = { kind: 'settled', connection: member.connection, join: member.join, ordinal } as const
      // The updates that leave when the window ends take it along, which saves a post and a write to the socket.
      if (this.cancelWindow === null) this.host.emit(settled)
      else this.host.emitByBeat(settled)
    }
    if (member.waiting.length === 0) this.acking.delete(member)
  }

  /** The log is durable further than before. */
  logMoved(): void {
    for (const member of this.acking) this.settle(member)
  }

  /** Who waits for an ack, and up to which ordinal; gathered writes included. */
  unsettled(): { connection: number; ordinal: number }[] {
    const waiting = new Map<number, number>()
    for (const member of this.acking) waiting.set(member.connection, member.waiting[member.waiting.length - 2] as number)
    for (const [member, { tried, waiting: behind }] of this.trials)
      waiting.set(member.connection, (behind.at(-1) ?? tried).ordinal)
    for (const [member, writes] of this.turn) waiting.set(member.connection, (writes[writes.length - 1] as Write).ordinal)
    return [...waiting].map(([connection, ordinal]) => ({ connection, ordinal }))
  }

  forget(member: Member): void {
    this.acking.delete(member)
    this.trials.delete(member)
    if (member.resyncTimer !== null) clearTimeout(member.resyncTimer)
  }

  close(): void {
    this.cancelWindow?.()
    for (const member of this.room.members.values()) this.forget(member)
  }
}

function refusedWrite(ordinal: number, refusal: NonNullable<Write['refusal']>): Write {
  return { ordinal, update: new Uint8Array(), isStep2: false, readOnly: false, refusal }
}

/** What a client sends as its step2 when it has nothing to say. */
function isEmptyUpdate(update: Uint8Array): boolean {
  return update.length === 2 && update[0] === 0 && update[1] === 0
}
