import type { DocumentRef } from '../../documents/document-store.port.ts'
import { RelayError, unreachable } from '../../kernel/errors.ts'
import { AgentPresence } from './awareness-agents.ts'
import { RoomAwareness } from './awareness-room.ts'
import { buildLive, isHeavy, type LiveContent, lengthOf, memoryOf, type RoomContent } from './room-content.ts'
import { awarenessFrame } from '@docrelay/protocol/codec'
import { type RoomHost, watched } from './room-host.ts'
import { type LoadOutcome, loadRoom } from './room-load.ts'
import { drainRoom } from './room-evict.ts'
import { RoomLog, type RoomLogOwner } from './room-log.ts'
import { type Member, newMember } from './room-members.ts'
import { WRITE_LOST } from './room-outcomes.ts'
import { RoomSaver } from './room-save.ts'
import { RoomSync, type SyncRoom } from './room-sync.ts'
import type { TaskOutcome, ToWorker } from '../worker-messages.ts'

type RoomMessage = Exclude<ToWorker, { kind: 'open' | 'drain' }>

/** What a loaded document works with. */
interface Ready {
  readonly kind: 'ready'
  content: RoomContent
  readonly log: RoomLog
  readonly sync: RoomSync
  readonly saver: RoomSaver
}

/** `loading` keeps what arrives; `closed` answers nothing but jobs, as its worker has forgotten it. */
type Phase =
  | { readonly kind: 'loading'; readonly waiting: RoomMessage[] }
  | Ready
  | { readonly kind: 'closed'; readonly outcome: TaskOutcome }

const UNAVAILABLE: TaskOutcome = { kind: 'failed', code: 'UNAVAILABLE', message: 'the document cannot be loaded' }

/**
 * One resident document in its worker. Messages of all its connections arrive here in order; everything that happens to the document
 * happens through this object, one thing at a time. [LIFE-8]
 */
export class Room implements SyncRoom, RoomLogOwner {
  readonly id: number
  readonly ref: DocumentRef
  readonly key: number
  readonly host: RoomHost
  readonly members = new Map<number, Member>()
  private phase: Phase = { kind: 'loading', waiting: [] }
  private readonly awareness: RoomAwareness
  /** The agents that are shown to the connections. [PRES-1] */
  readonly agents: AgentPresence
  private readonly onClosed: (room: Room) => void

  constructor(given: { host: RoomHost; id: number; ref: DocumentRef; key: number; onClosed: (room: Room) => void }) {
    this.host = given.host
    this.id = given.id
    this.ref = given.ref
    this.key = given.key
    this.onClosed = given.onClosed
    this.awareness = new RoomAwareness(given.host, given.id)
    this.agents = new AgentPresence(given.host, this.awareness)
  }

  get workspaceId(): string {
    return this.ref.workspaceId
  }

  /** Loads the document, answers `opened` and handles what came meanwhile. Never rejects. */
  async open(): Promise<void> {
    const outcome = await this.load()
    this.host.turn(() => this.opened(outcome))
  }

  /** Reads body, snapshot and log; a fault is `unavailable`. */
  async load(): Promise<LoadOutcome> {
    try {
      return await this.host.loads.run(() => loadRoom(this.host, this))
    } catch (error) {
      this.host.log.warn('room.load_failed', 'A document could not be loaded.', {
        workspace: this.workspaceId,
        docId: this.ref.id,
        error: String(error),
      })
      return { kind: 'unavailable', detail: String(error) }
    }
  }

  private opened(outcome: LoadOutcome): void {
    if (this.phase.kind !== 'loading') return
    const { waiting } = this.phase
    if (outcome.kind === 'loaded') {
      const { lastSeq, tailRecords, tailBytes, toldSeq, content, head } = outcome
      const log = new RoomLog({ key: this.key, lastSeq, tailRecords, tailBytes, queue: this.host.queue, owner: this })
      const phase: Ready = { kind: 'ready', content, log, sync: undefined as never, saver: undefined as never }
      this.phase = phase
      Object.assign(phase, { sync: new RoomSync(this), saver: new RoomSaver(this, head, toldSeq) })
      if (content.kind === 'live') phase.sync.listen(content.live)
      this.host.emit({ kind: 'opened', room: this.id, outcome: 'opened', heavy: isHeavy(content) })
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

  get isLive(): boolean {
    return this.phase.kind === 'ready' && this.phase.content.kind === 'live'
  }

  content(): RoomContent {
    return this.ready.content
  }

  live(): LiveContent {
    const { ready } = this
    if (ready.content.kind === 'live') return ready.content.live
    const { update } = ready.content
    try {
      const live = watched(this.host, this.id, update.length, () => buildLive([update], this.host.random))
      this.replaceLive(live)
      return live
    } catch (error) {
      // Read from the store once more, it would fail here again: the next load decodes it and decides what is to be done. [YDOC-11]
      this.host.undecodable.add(this.key)
      // Not before the job that asked has ended.
      this.host.after(0, () => this.failed(error))
      throw new RelayError('UNAVAILABLE', 'the document cannot be read now')
    }
  }

  /** Runs work on the whole document under the watchdog. [C5] */
  watched<T>(work: () => T, extraBytes = 0): T {
    return watched(this.host, this.id, lengthOf(this.content()) + extraBytes, work)
  }

  /** Puts another live document in the place of the content. */
  replaceLive(live: LiveContent): void {
    const { ready } = this
    if (ready.content.kind === 'live') ready.content.live.doc.destroy()
    ready.sync.listen(live)
    ready.content = { kind: 'live', live }
  }

  /** Puts the document as it was loaded anew in the place of one that holds what will not be stored. */
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
    if (message.kind === 'job') {
      void ready.saver
        .run(message.task)
        .then((outcome) => this.host.turn(() => this.host.emit({ kind: 'done', job: message.job, outcome })))
      return
    }
    const member = this.members.get(message.connection)
    if (member === undefined) return
    switch (message.kind) {
      case 'leave':
        return this.leave(ready, member)
      case 'rights':
        member.canWrite = message.canWrite
        return
      case 'sync':
        if (member.join === message.join) ready.sync.receive(member, message)
        return
      case 'awareness':
        return this.awareness.receive(member, message.payload)
      case 'resync':
        return ready.sync.sendStep1(member)
      default:
        unreachable(message)
    }
  }

  private join(ready: Ready, message: Extract<RoomMessage, { kind: 'join' }>): void {
    ready.sync.flushTurn()
    const earlier = this.members.get(message.connection)
    if (earlier !== undefined) ready.sync.forget(earlier)
    const member = newMember(message)
    this.members.set(message.connection, member)
    ready.sync.sendStep1(member)
    const others = this.awareness.snapshot()
    if (others !== null) ready.sync.direct(member, [awarenessFrame(others)])
  }

  private leave(ready: Ready, member: Member): void {
    ready.sync.flushTurn()
    if (!this.isReady) return
    ready.sync.forget(member)
    this.members.delete(member.connection)
    this.awareness.leave(member.connection)
    if (this.members.size === 0) ready.saver.lastLeft()
  }

  edited(sub: string, updateBytes: number): void {
    this.ready.saver.edited(sub, updateBytes)
  }

  failed(error: unknown): void {
    if (!this.isReady) return
    this.host.count('rooms_broken')
    const fields = { workspace: this.workspaceId, docId: this.ref.id, error: String(error) }
    this.host.log.error('room.failed', 'A room failed and reloads from its log.', fields)
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

  logFailed(reason: 'failed' | 'gone' | 'conflict', error: unknown): void {
    this.host.log.error('room.append_failed', 'Edits of a document could not be stored.', {
      docId: this.ref.id,
      reason,
      error: String(error),
    })
    this.host.turn(() => (reason === 'gone' ? this.close({ kind: 'gone' }) : this.reset()))
  }

  /** Says that nothing unsettled will be stored, and forgets the live copy. [LIFE-6] */
  reset(): void {
    if (this.phase.kind !== 'ready') return
    this.host.emit({ kind: 'reset', room: this.id, writers: this.phase.sync.unsettled() })
    this.close(WRITE_LOST)
  }

  /** Forgets the document without storing anything. */
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

  /** Age of the oldest edit that the body lacks. */
  unsavedMs(nowMs: number): number {
    return this.phase.kind === 'ready' ? this.phase.saver.unsavedMs(nowMs) : 0
  }

  /** About how much memory the document takes. */
  bytes(): number {
    if (this.phase.kind !== 'ready') return 0
    return memoryOf(this.phase.content)
  }
}
