import { isWriteBearing, readSync } from '@docrelay/protocol/codec'
import { SYNC } from '@docrelay/protocol/frames'
import type { FullDocument } from '../guard/guard-full.ts'
import { typeRoots } from '../guard/guard-roots.ts'
import { AckWaiters } from './ack-waiters.ts'
import { OpenWindow } from './edit-window.ts'
import { RoomAnswers } from './room-answers.ts'
import { Backlog } from './room-backlog.ts'
import type { LiveContent } from './room-content.ts'
import { Broadcasts } from './room-broadcasts.ts'
import type { Emitted } from './room-cut.ts'
import { applyWrites, type Handled, isEmptyUpdate, type Refusal, refusedWrite, type Write } from './room-edits.ts'
import type { RoomHost } from './room-host.ts'
import { awaitOrdinal, type Member, settleOrdinals } from './room-members.ts'
import { Rejoins } from './room-rejoins.ts'
import { type TrialOwner, WriteTrials } from './room-trials.ts'
import type { SyncRoom } from './sync-room.ts'
import type { ToWorker } from '../worker-messages.ts'

const NOBODY: ReadonlySet<number> = new Set()
/** At this many gathered writes the window ends early, because waiting longer saves nothing. */
const MANY_WRITES = 256

/** Handles the SYNC messages of one loaded document: step1 and step2, edits in turns behind the guard, resyncs, acks. [WS-23..WS-41] */
export class RoomSync implements TrialOwner {
  readonly host: RoomHost
  readonly id: number
  readonly workspaceId: string
  private readonly room: SyncRoom
  private readonly window: OpenWindow
  private readonly turn = new Map<Member, Write[]>()
  private gathered = 0
  readonly backlog: Backlog
  readonly answers: RoomAnswers
  /** Number of writes applied since the last broadcast. */
  private applied = 0
  /** Number of pauses in force. */
  private pauses = 0
  /** Updates emitted by the turn in progress. They are logged and broadcast once the document is known to be sound. */
  private staged: Emitted[] | null = null
  private readonly trials: WriteTrials
  private readonly rejoins: Rejoins
  private readonly broadcasts: Broadcasts
  private readonly ackWaiters = new AckWaiters()
  private roots = 0

  constructor(room: SyncRoom) {
    this.room = room
    this.host = room.host
    this.id = room.id
    this.workspaceId = room.workspaceId
    this.window = new OpenWindow(room.host, () => this.askAll())
    this.backlog = new Backlog(room.host)
    this.broadcasts = new Broadcasts(room)
    this.answers = new RoomAnswers(room, this.broadcasts, (member) => this.rejoins.asked(member))
    this.trials = new WriteTrials(this, room)
    this.rejoins = new Rejoins(room.host, (member, write) => this.take(member, write))
  }

  get isReady(): boolean {
    return this.room.isReady
  }

  get sequence(): number {
    return this.room.log.emitted
  }

  live(): LiveContent {
    return this.room.live()
  }

  /** Listens to the live document's update event. Exactly the updates that the document emits are logged and broadcast. [D3] */
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
      const isDecoded = this.answers.answerStep1(member, read.payload, () => this.flushTurn())
      if (!isDecoded) this.refuse(member, 0, 'ERR_BAD_FRAME', 'the state vector cannot be decoded')
      return
    }
    const { payload: update } = read
    const isStep2 = read.subType === SYNC.step2
    this.gather(member, { ordinal: message.ordinal, update, isStep2, readOnly: !member.canWrite, refusal: null })
  }

  private undecodable(member: Member, { ordinal, payload }: Extract<ToWorker, { kind: 'sync' }>): void {
    const code = isWriteBearing(payload) ? 'ERR_BAD_UPDATE' : 'ERR_BAD_FRAME'
    const text = 'the SYNC message cannot be decoded'
    if (ordinal === 0) this.refuse(member, 0, code, text)
    else this.gather(member, refusedWrite(ordinal, { code, text }))
  }

  private gather(member: Member, write: Write): void {
    if (member.isExpelled || member.former) return
    if (this.backlog.isOver(member, write.update.length)) return this.expelBusy(member)
    this.backlog.add(member, write)
    if (!this.rejoins.takes(member, write)) this.take(member, write)
  }

  take(member: Member, write: Write): void {
    if (!member.former && !this.trials.takes(member, write)) this.enqueue(member, write)
  }

  enqueue(member: Member, write: Write): void {
    // A write before this one may have shown that the member's copy is of an earlier lineage.
    if (member.former) return
    const writes = this.turn.get(member)
    if (writes === undefined) this.turn.set(member, [write])
    else writes.push(write)
    this.gathered++
    if (!this.window.isOpen) this.ask(member)
    else if (this.gathered >= MANY_WRITES) this.askAll()
  }

  private askAll(): void {
    for (const member of this.turn.keys()) this.ask(member)
  }

  /** Asks for a turn to apply a connection's writes. [WS-12] */
  private ask(member: Member): void {
    if (this.pauses > 0 || member.hasAsked) return
    member.hasAsked = true
    this.host.turns.ask({
      workspaceId: this.workspaceId,
      connection: member.connection,
      estimateMs: this.backlog.expectedMs(member.waitingBytes),
      run: (untilMs) => {
        member.hasAsked = false
        if (!this.room.isReady || this.pauses > 0) return
        this.guarded(() => this.applyOf(member, untilMs))
        this.host.afterTurns(this)
      },
    })
  }

  /** Updates the estimate of the cost per byte; closes the connection if its waiting writes are now too many. */
  learn(member: Member, bytes: number, tookMs: number): void {
    this.backlog.learn(bytes, tookMs)
    if (!member.isExpelled && this.backlog.isOver(member)) this.expelBusy(member)
  }

  /** Closes a connection whose waiting writes exceed what it may owe. The client sends these writes again when it reconnects. [WS-12] */
  private expelBusy(member: Member): void {
    this.discard(member)
    member.isExpelled = true
    this.host.count('busy_closes')
    this.host.emit({ kind: 'expel', connection: member.connection, code: 1013, word: 'busy' })
  }

  /** Applies gathered writes for at most `sliceMs` and broadcasts what the document emitted. The other writes wait for their turn. */
  flushTurn(): void {
    if (this.turn.size === 0 || this.pauses > 0) return
    const untilMs = this.host.clock.monotonicMs() + this.host.options.sliceMs
    this.guarded(() => {
      for (const member of [...this.turn.keys()]) {
        const startedMs = this.host.processorMs()
        if (this.host.clock.monotonicMs() >= untilMs) this.ask(member)
        else if (!this.applyOf(member, untilMs)) return
        this.host.turns.charge(this.workspaceId, member.connection, this.host.processorMs() - startedMs)
      }
      this.turnsEnded()
    })
  }

  /** Broadcasts the updates that were emitted since the last broadcast, and opens the next window. */
  turnsEnded(): void {
    if (this.applied === 0 || !this.room.isReady) return
    const { applied } = this
    this.applied = 0
    this.window.next(applied)
    this.handOut()
  }

  private guarded(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.room.failed(error)
    }
  }

  /** Applies one connection's writes until `untilMs`. Returns false when the document broke and the room is gone. */
  private applyOf(member: Member, untilMs: number): boolean {
    const writes = this.turn.get(member)
    if (writes === undefined) return true
    const startedMs = this.host.processorMs()
    this.turn.delete(member)
    const handled = this.applyNow(member, writes, untilMs)
    if (handled === 'broken') return false
    const { count, costly } = handled
    const bytesBefore = member.waitingBytes
    for (const write of writes.slice(0, count)) this.backlog.remove(member, write)
    this.gathered -= writes.length
    this.applied += count
    this.wait(member, writes.slice(count), costly)
    this.learn(member, bytesBefore - member.waitingBytes, this.host.processorMs() - startedMs)
    return true
  }

  /** Queues the remaining writes of a connection for another turn. `costly`: the first of these writes has to be applied in pieces. */
  private wait(member: Member, [next, ...behind]: readonly Write[], costly: boolean): void {
    if (next === undefined || member.former) return
    if (costly) {
      this.backlog.remove(member, next)
      this.trials.cut(member, next, behind)
      return
    }
    this.turn.set(member, [next, ...behind])
    this.gathered += behind.length + 1
    this.ask(member)
  }

  private applyNow(member: Member, writes: readonly Write[], untilMs: number): Handled {
    if (writes.every(({ update, refusal }) => refusal === null && isEmptyUpdate(update))) {
      this.settleAfter(member, writes[writes.length - 1] as Write)
      return { count: writes.length, costly: false }
    }
    const live = this.room.live()
    const { result: handled, emitted } = this.collect(() => applyWrites(this, live, member, writes, untilMs))
    if (handled === 'broken') return handled
    for (const { update, origin } of emitted) this.commit(live, update, origin)
    const last = writes[handled.count - 1]
    if (last !== undefined) this.settleAfter(member, last)
    return handled
  }

  collect<T>(work: () => T): { readonly result: T; readonly emitted: readonly Emitted[] } {
    const staged: Emitted[] = []
    this.staged = staged
    try {
      return { result: work(), emitted: staged }
    } finally {
      this.staged = null
    }
  }

  /**
   * Applies gathered writes for at most `sliceMs`, then holds back other writes and all broadcasts until `resume`. Used while a write may
   * still cause the live document to be discarded.
   */
  pause(): void {
    this.flushTurn()
    this.pauses++
  }

  /** Pauses for `ms`, for a caller that needs an unchanging document; the pause ends by itself. [LIFE-22] */
  pauseFor(ms: number): void {
    this.pause()
    this.host.after(ms, () => this.room.isReady && this.resume())
  }

  /** Ends one pause; call it once per pause. */
  resume(): void {
    this.pauses--
    this.handOut()
    this.flushTurn()
  }

  /** Discards updates that are not durable, because their document is being discarded. */
  takeBack(): void {
    this.broadcasts.takeBack()
  }

  private emitted(live: LiveContent, update: Uint8Array, origin: unknown): void {
    if (this.staged === null) this.commit(live, update, origin)
    else this.staged.push({ update, origin })
  }

  commit(live: LiveContent, update: Uint8Array, origin: unknown): void {
    const member = typeof origin === 'object' && origin !== null ? (origin as Member) : null
    this.room.log.emit(update, member?.sub ?? 'system', this.host.clock.nowMs(), live.late.takeNotes())
    this.broadcasts.add(update, member?.connection ?? 0)
    if (live.doc.share.size !== this.roots) {
      typeRoots(live.doc)
      this.roots = live.doc.share.size
    }
    this.room.edited(member, update.length)
  }

  /** Broadcasts emitted updates, unless the room is paused. A broadcast may precede the commit; an acknowledgement may not. [LIFE-2] */
  handOut(): void {
    if (this.pauses === 0) this.broadcasts.handOut()
  }

  /** Broadcasts the remaining updates although the room is paused. All of them are durable, and the room is about to close. */
  lastBroadcast(): void {
    this.broadcasts.handOut()
  }

  refuse(member: Member, ordinal: number, code: Refusal, text: string, full?: FullDocument): void {
    const violation = code === 'ERR_BAD_UPDATE' || code === 'ERR_BAD_FRAME'
    this.host.emit({ kind: 'refused', connection: member.connection, join: member.join, ordinal, code, text, violation, full })
  }

  formerClients(member: Member): ReadonlySet<number> {
    return member.knowsLineage ? NOBODY : this.room.formerClients
  }

  /** Unbinds a member whose copy is of an earlier lineage. Discards its waiting writes, which would wait for ever. [WS-62, LIFE-17] */
  former(member: Member, ordinal: number): void {
    this.answers.former(member, ordinal)
    this.discard(member)
  }

  gap(member: Member, ownPending: boolean): void {
    this.answers.gap(member, ownPending)
  }

  dropped(member: Member, waitMs: number): void {
    this.answers.dropped(member, waitMs)
  }

  broken(member: Member, error: unknown): void {
    this.answers.broken(member, error)
  }

  /** Notes that every message up to this write is handled. They are acknowledged once all updates emitted so far are durable. [WS-40] */
  settleAfter(member: Member, { ordinal: own, settles: ordinal = own }: Write): void {
    if (ordinal === 0) return
    awaitOrdinal(member, ordinal, this.room.log.emitted)
    this.ackWaiters.add(member)
    this.settle(member)
  }

  private settle(member: Member): void {
    const ordinal = settleOrdinals(member, this.room.log.durable)
    if (ordinal > 0) this.host.emit({ kind: 'settled', connection: member.connection, join: member.join, ordinal })
  }

  logMoved(): void {
    this.ackWaiters.settleAll((member) => this.settle(member))
    this.answers.held.logMoved()
    if (this.broadcasts.isHeldBack) this.handOut()
  }

  /** Returns the connections that wait for an ack, each with its highest ordinal. Gathered writes count too. */
  unsettled(): { connection: number; ordinal: number }[] {
    const waiting = new Map<number, number>()
    const waits = ({ connection }: Member, ordinal: number): void =>
      void waiting.set(connection, Math.max(ordinal, waiting.get(connection) ?? 0))
    for (const [member, ordinal] of [...this.ackWaiters.ordinals(), ...this.trials.ordinals(), ...this.rejoins.ordinals()])
      waits(member, ordinal)
    // A later write of the connection may be on trial while an earlier one waits for its turn.
    for (const [member, writes] of this.turn) waits(member, (writes[writes.length - 1] as Write).ordinal)
    return [...waiting].map(([connection, ordinal]) => ({ connection, ordinal }))
  }

  /** Whether writes wait for their turn. */
  get hasWaiting(): boolean {
    return this.turn.size > 0 || !this.trials.isEmpty
  }

  /** Whether writes of connections that have left wait for their turn. */
  get owesThoseWhoLeft(): boolean {
    const waiting = [...this.turn.keys(), ...this.trials.ordinals().map(([member]) => member)]
    return waiting.some((member) => this.room.members.get(member.connection) !== member)
  }

  /** Asks a new connection for its edits. With `resumes` it does not ask: the room moved here with all messages of the connection. */
  joined(member: Member, { resumes, again }: Pick<Extract<ToWorker, { kind: 'join' }>, 'resumes' | 'again'>): void {
    if (resumes === true) return
    if (again !== undefined) this.rejoins.began(member, again)
    this.answers.sendStep1(member)
  }

  /** Forgets a connection that left. If few of its writes wait, they are still applied, so that the user's last edits are not lost. */
  forget(member: Member): void {
    this.rejoins.end(member)
    this.ackWaiters.forget(member)
    if (!this.backlog.mayStay(member)) this.discard(member)
    this.answers.forget(member)
  }

  /** Discards all writes of a connection that are not applied yet. */
  private discard(member: Member): void {
    this.rejoins.forget(member)
    this.gathered -= this.turn.get(member)?.length ?? 0
    this.turn.delete(member)
    this.trials.forget(member)
    member.waitingBytes = 0
  }

  close(): void {
    this.window.close()
    this.rejoins.close()
    for (const member of this.room.members.values()) this.forget(member)
    this.turn.clear()
    this.trials.close()
  }
}
