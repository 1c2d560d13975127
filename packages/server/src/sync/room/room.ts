import type { DocumentRef } from '../../documents/document-store.port.ts'
import { RelayError, unreachable } from '../../kernel/errors.ts'
import { AgentPresence } from './awareness-agents.ts'
import { RoomAwareness } from './awareness-room.ts'
import { WaitingCalls } from './room-calls.ts'
import { RoomChanges } from './room-changes.ts'
import { buildLive, type LiveContent, lengthOf, memoryOf, rememberRemovals, type RoomContent } from './room-content.ts'
import { type RoomHost, watched } from './room-host.ts'
import { type LoadOutcome, loadInTurn } from './room-load.ts'
import { drainRoom } from './room-evict.ts'
import { type LogFailure, RoomLog, type RoomLogOwner } from './room-log.ts'
import { type Member, newMember } from './room-members.ts'
import { missedAtOpening } from './room-missed.ts'
import { MOVED, WRITE_LOST } from './room-outcomes.ts'
import { RoomWeight } from './room-weight.ts'
import { tellMended, watchRepair } from './room-repair.ts'
import { RoomSaver, type Writer } from './room-save.ts'
import { RoomSync } from './room-sync.ts'
import { runTask } from './room-tasks.ts'
import type { SyncRoom } from './sync-room.ts'
import type { TaskOutcome, ToWorker } from '../worker-messages.ts'

type Opening = Pick<Extract<ToWorker, { kind: 'open' }>, 'ref' | 'key' | 'clocks' | 'epoch' | 'since'>
type RoomMessage = Exclude<ToWorker, { kind: 'open' | 'spent' | 'drain' | 'give-up' }>

/** State of a room whose document is loaded. */
interface Ready {
  readonly kind: 'ready'
  content: RoomContent
  readonly log: RoomLog
  readonly sync: RoomSync
  readonly saver: RoomSaver
  readonly weight: RoomWeight
}

/** `loading` keeps incoming messages. `closed` only answers jobs, because the home no longer knows the room. */
type Phase =
  | { readonly kind: 'loading'; readonly waiting: RoomMessage[] }
  | Ready
  | { readonly kind: 'closed'; readonly outcome: TaskOutcome }

const UNAVAILABLE: TaskOutcome = { kind: 'failed', code: 'UNAVAILABLE', message: 'the document cannot be loaded' }

/**
 * One resident document in its home. The messages of all its connections arrive here in order. All work on the document goes through this
 * object, one step at a time. [LIFE-8]
 */
export class Room implements SyncRoom, RoomLogOwner {
  readonly id: number
  readonly ref: DocumentRef
  readonly key: number
  /** The epoch of the tenure in which this node owns the document; `null` in a relay of one node. [LIFE-26] */
  readonly epoch: number | null
  readonly host: RoomHost
  readonly members = new Map<number, Member>()
  /** Y clients that wrote in earlier lineages of this document id. [WS-62] */
  formerClients: ReadonlySet<number> = new Set()
  /** True after `opened` has reported that the log lacks content, until `mended` is sent. */
  private isGapAnnounced = false
  readonly calls: WaitingCalls
  private phase: Phase = { kind: 'loading', waiting: [] }
  /** The log sequence through which members already have the document from a former owner; `null` when no member joined at a former owner. */
  private readonly since: number | null
  private readonly awareness: RoomAwareness
  /** The agents shown to the connections. [PRES-1] */
  readonly agents: AgentPresence
  /** Records who changes what, while the main thread watches. [AG-20] */
  readonly changes: RoomChanges
  private readonly onClosed: (room: Room) => void

  constructor(given: Opening & { host: RoomHost; id: number; onClosed: (room: Room) => void }) {
    this.host = given.host
    this.id = given.id
    this.ref = given.ref
    this.key = given.key
    this.epoch = given.epoch ?? null
    this.since = given.since ?? null
    this.onClosed = given.onClosed
    this.calls = new WaitingCalls(given.host, given.ref.workspaceId)
    this.awareness = new RoomAwareness(given.host, this, given.clocks)
    this.agents = new AgentPresence(given.host, this.awareness)
    const nameOf = (connection: number): string | null => this.awareness.nameOf(connection)
    this.changes = new RoomChanges({ host: given.host, id: given.id, nameOf })
  }

  get workspaceId(): string {
    return this.ref.workspaceId
  }

  /** Loads the document, sends `opened` and handles the messages that arrived meanwhile. Never rejects. */
  async open(): Promise<void> {
    const outcome = await loadInTurn(this, this.host.options.bounds)
    const missed = this.since !== null && outcome.kind === 'loaded' ? await missedAtOpening(this, this.since, outcome) : []
    this.host.turn(() => this.opened(outcome, missed))
  }

  private opened(outcome: LoadOutcome, missed: readonly Uint8Array[]): void {
    if (this.phase.kind !== 'loading') return
    const { waiting } = this.phase
    if (outcome.kind === 'loaded') {
      const { lastSeq, tailRecords, tailBytes, stateBytes, content } = outcome
      const { key, epoch } = this
      const log = new RoomLog({ key, epoch, lastSeq, tailRecords, tailBytes, queue: this.host.queue, owner: this })
      const weighed = { id: this.id, content: () => this.content(), sequence: () => log.emitted }
      const weight = new RoomWeight(this.host, weighed, stateBytes)
      const phase: Ready = { kind: 'ready', content, log, weight, sync: undefined as never, saver: undefined as never }
      this.phase = phase
      Object.assign(phase, { sync: new RoomSync(this), saver: new RoomSaver(this, outcome) })
      if (content.kind === 'live') this.listen(content.live)
      const { hasGap } = this
      this.isGapAnnounced = hasGap
      if (hasGap) watchRepair(this)
      const seq = epoch === null ? {} : { seq: lastSeq }
      this.host.emit({ kind: 'opened', room: this.id, outcome: 'opened', heavy: phase.weight.isHeavy(), hasGap, ...seq })
      if (missed.length > 0)
        this.host.emit({ kind: 'updates', room: this.id, updates: missed, senders: missed.map(() => 0), durableSeq: lastSeq })
      phase.saver.opened()
    } else {
      this.host.emit({ kind: 'opened', room: this.id, outcome: outcome.kind })
      this.close(outcome.kind === 'gone' ? { kind: 'gone' } : UNAVAILABLE)
    }
    for (const message of waiting) this.receive(message)
  }

  private get ready(): Ready {
    if (this.phase.kind !== 'ready') throw new Error('the room is not ready')
    return this.phase
  }

  get log(): RoomLog {
    return this.ready.log
  }

  get sync(): RoomSync {
    return this.ready.sync
  }

  get isReady(): boolean {
    return this.phase.kind === 'ready'
  }

  /** Whether the log lacks content: the document is readable, and only writes that supply missing content are accepted. [LIFE-5] */
  get hasGap(): boolean {
    return this.phase.kind === 'ready' && this.phase.content.kind === 'live' && this.phase.content.live.gap !== null
  }

  get isLive(): boolean {
    return this.phase.kind === 'ready' && this.phase.content.kind === 'live'
  }

  content(): RoomContent {
    return this.ready.content
  }

  live(): LiveContent {
    const { ready } = this
    if (ready.content.kind === 'live') return ready.content.live
    const { update, removed } = ready.content
    try {
      const startedMs = this.host.processorMs()
      const live = watched(this.host, this, update.length, () => buildLive([update], this.host.random, removed))
      live.loadCostMs = this.host.processorMs() - startedMs
      this.replaceLive(live)
      this.weighed()
      return live
    } catch (error) {
      // The stored bytes cannot be decoded. The mark makes the next load of this document decode them at once and rebuild or refuse. [YDOC-11]
      this.host.undecodable.add(this.key)
      // Deferred until the current job has ended.
      this.host.after(0, () => this.failed(error))
      throw new RelayError('UNAVAILABLE', 'the document cannot be read now')
    }
  }

  /** Runs work on the whole document under the watchdog. [C5] */
  watched<T>(work: () => T, extraBytes = 0): T {
    return watched(this.host, this, lengthOf(this.content()) + extraBytes, work)
  }

  private listen(live: LiveContent): void {
    this.sync.listen(live)
    rememberRemovals(live, () => this.host.clock.monotonicMs())
    this.changes.follow(live)
  }

  /** Replaces the content by another live document. */
  replaceLive(live: LiveContent): void {
    const { ready } = this
    if (ready.content.kind === 'live') {
      live.late = ready.content.live.late.movedTo(live.doc)
      ready.content.live.doc.destroy()
    }
    this.listen(live)
    ready.content = { kind: 'live', live }
  }

  /** Replaces content that has unstored changes by content that was just loaded from the store. */
  replaceContent(content: RoomContent): void {
    if (content.kind === 'live') {
      this.replaceLive(content.live)
      return
    }
    const { ready } = this
    if (ready.content.kind === 'live') ready.content.live.doc.destroy()
    ready.content = content
  }

  receive(message: RoomMessage): void {
    switch (this.phase.kind) {
      case 'loading':
        this.phase.waiting.push(message)
        return
      case 'closed':
        if (message.kind === 'job') this.host.emit({ kind: 'done', job: message.job, outcome: this.phase.outcome })
        return
      case 'ready':
        try {
          this.handle(this.phase, message)
        } catch (error) {
          this.failed(error)
        }
        return
      default:
        unreachable(this.phase)
    }
  }

  private handle(ready: Ready, message: RoomMessage): void {
    if (message.kind === 'join') return this.join(ready, message)
    if (message.kind === 'watch') return this.changes.watch(message.isOn)
    if (message.kind === 'clocks') return this.awareness.saw(message.clocks)
    if (message.kind === 'job') {
      const { job, task } = message
      const perform = async () => (this.phase.kind === 'closed' ? this.phase.outcome : runTask(this, ready.saver, task))
      void this.calls.run(task, perform).then((outcome) => this.host.turn(() => this.done(job, outcome)))
      return
    }
    const member = this.members.get(message.connection)
    if (member === undefined) return
    switch (message.kind) {
      case 'leave':
        return this.leave(ready, member)
      case 'rights':
        member.canWrite = message.canWrite
        member.maxDocBytes = message.maxDocBytes
        return
      case 'sync':
        if (member.join === message.join) ready.sync.receive(member, message)
        return
      case 'awareness':
        return this.awareness.receive(member, message.payload)
      case 'resync':
        return ready.sync.answers.sendStep1(member)
      default:
        unreachable(message)
    }
  }

  private done(job: number, outcome: TaskOutcome): void {
    // The gateway learns of the move before the caller of the task gets the outcome.
    if (outcome.kind === 'elsewhere') this.outgrown()
    this.changes.tell()
    this.host.emit({ kind: 'done', job, outcome })
  }

  private join(ready: Ready, message: Extract<RoomMessage, { kind: 'join' }>): void {
    ready.sync.flushTurn()
    const earlier = this.members.get(message.connection)
    if (earlier !== undefined) ready.sync.forget(earlier)
    const member = newMember(message)
    this.members.set(message.connection, member)
    if (message.shows !== undefined) this.awareness.introduced(member, message.shows)
    ready.sync.joined(member, message)
    ready.sync.answers.sendPresence(member, () => this.awareness.snapshot())
  }

  private leave(ready: Ready, member: Member): void {
    ready.sync.flushTurn()
    if (!this.isReady) return
    this.changes.tell()
    ready.sync.forget(member)
    this.members.delete(member.connection)
    this.awareness.leave(member)
    if (this.members.size === 0) ready.saver.lastLeft()
  }

  alone(job: () => Promise<void>): Promise<void> {
    return this.ready.saver.exclusive(job)
  }

  weighed(): void {
    this.ready.weight.check()
  }

  /** Asks for a move, because the next step may take longer than this home allows. [C8] */
  outgrown(): void {
    if (this.phase.kind === 'ready') this.phase.weight.outgrown()
  }

  edited(writer: Writer | null, updateBytes: number): void {
    this.ready.saver.edited(writer, updateBytes)
    this.ready.weight.grown(updateBytes)
    this.weighed()
    if (!this.isGapAnnounced || this.hasGap) return
    this.isGapAnnounced = false
    tellMended(this)
  }

  failed(error: unknown): void {
    if (!this.isReady) return
    this.host.count('rooms_broken')
    const fields = { workspace: this.workspaceId, docId: this.ref.id, error: String(error) }
    this.host.log.error('room.failed', 'A live document failed and is loaded again from its log.', fields)
    this.reset()
  }

  logMoved(): void {
    if (this.phase.kind !== 'ready') return
    const { sync, saver } = this.phase
    this.host.turn(() => {
      sync.logMoved()
      saver.logMoved()
    })
  }

  logFailed(reason: LogFailure, error: unknown): void {
    if (reason === 'fenced') return this.host.turn(() => this.fenced())
    const detail = error instanceof Error ? String(error) : JSON.stringify(error)
    const fields = { docId: this.ref.id, reason, error: detail }
    this.host.log.error('room.append_failed', 'Edits of a document could not be stored.', fields)
    this.host.turn(() => (reason === 'gone' ? this.close({ kind: 'gone' }) : this.reset(reason === 'failed')))
  }

  /** Closes the room because another node owns the document. The gateway opens it there and closes no connection. [LIFE-26] */
  fenced(): void {
    if (this.phase.kind !== 'ready') return
    this.host.emit({ kind: 'fenced', room: this.id })
    this.close(MOVED)
  }

  get isFenced(): boolean {
    return this.phase.kind === 'closed' && this.phase.outcome === MOVED
  }

  /** Discards the live document. `mayStay`: connections may stay joined, because their edits are in the log or are sent again. [LIFE-6] */
  reset(mayStay = true): void {
    if (this.phase.kind !== 'ready') return
    const clocks = mayStay && this.epoch !== null ? { clocks: this.awareness.clocks() } : {}
    this.host.emit({ kind: 'reset', room: this.id, writers: this.phase.sync.unsettled(), ...clocks })
    this.close(WRITE_LOST)
  }

  /**
   * Discards the live document. Once no append of it is in flight, opens the document again for the joined connections, except `without`.
   * [C10]
   */
  reload(without: number): void {
    if (this.phase.kind !== 'ready') return
    const { log } = this.phase
    this.close(WRITE_LOST)
    const clocks = this.awareness.clocks()
    void log.quiet().then(() => this.host.emit({ kind: 'reload', room: this.id, without, clocks }))
  }

  /** Closes the room without storing anything. */
  close(outcome: TaskOutcome): void {
    const { phase } = this
    if (phase.kind === 'closed') return
    this.phase = { kind: 'closed', outcome }
    if (phase.kind === 'ready') {
      phase.sync.close()
      phase.saver.close()
      phase.log.close()
      if (phase.content.kind === 'live') phase.content.live.doc.destroy()
    }
    this.agents.end()
    this.awareness.close()
    this.members.clear()
    this.onClosed(this)
  }

  /** Materialises and compacts before the worker stops. [LIFE-28] */
  async drain(): Promise<void> {
    if (this.phase.kind !== 'ready') return
    this.host.turn(() => this.agents.end())
    await drainRoom(this, this.phase.saver)
  }

  /** Returns the age in ms of the oldest edit that the stored body lacks; 0 when the body lacks no edit. */
  unsavedMs(nowMs: number): number {
    return this.phase.kind === 'ready' ? this.phase.saver.unsavedMs(nowMs) : 0
  }

  /** Estimated memory of the document, in bytes. */
  bytes(): number {
    if (this.phase.kind !== 'ready') return 0
    return memoryOf(this.phase.content)
  }
}
