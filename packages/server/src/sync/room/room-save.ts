import type { DocumentBody } from '@docrelay/model/body'
import { readStoredBody } from '@docrelay/model/body-parse'
import type { DocumentHead, DocumentRecord, DocumentState, WriteOutcome } from '../../documents/document-store.port.ts'
import { RelayError, unreachable } from '../../kernel/errors.ts'
import { refuseStaleTitle } from '../binding/binding.ts'
import { ProjectionCache } from '../binding/binding-cache.ts'
import { project } from '../binding/binding-project.ts'
import type { Hints } from '../binding/binding-prose.ts'
import type { Room } from './room.ts'
import { type LeaveCapture, leaveCapture } from './room-capture.ts'
import { compactRoom } from './room-compact.ts'
import { editInRoom } from './room-edit.ts'
import { encodeRoom } from './room-encode.ts'
import { evictRoom } from './room-evict.ts'
import { type OverCap, overCap } from './room-over-cap.ts'
import { RELAY } from './room-load.ts'
import { putIntoRoom } from './room-put.ts'
import { failed, LOST, type SaveOutcome } from './room-outcomes.ts'
import { type Base, materialised, saveLatestMs } from './room-body.ts'
import { mergeColdWrite } from './room-merge.ts'
import type { RoomTask, TaskOutcome } from '../worker-messages.ts'

const ATTEMPTS = 5
const RETRY_MS = 1_000
const COMPACT_PAUSE_MS = 100
const LARGE_BYTES = 64 * 1024
const LARGE_WITHIN_MS = 30_000

/** Who wrote into a live document last. */
export interface Writer {
  readonly sub: string
  /** The ceiling of this writer; `null`: unlimited. [LIFE-16] */
  readonly maxDocBytes: number | null
}

/**
 * Keeps the stored body up with the live document, and runs what else must not overlap with that: PUT, merging what others stored,
 * compaction, eviction. Jobs run one after another. [LIFE-8..LIFE-12]
 */
export class RoomSaver {
  /** `null` until the first save reads it. */
  base: Base | null = null
  /** The stored body contains the log through here; -1 when it holds something else too. */
  covered: number
  /** The stored version stands for the log through here though the stored body lacks some of it; -1 when it does not. [LIFE-12] */
  private told: number
  /** Of the last edit not yet in the body. */
  lastWriter: Writer | null = null
  private readonly cache = new ProjectionCache()
  private readonly leaving: LeaveCapture
  private readonly room: Room
  private readonly loadedVersion: number
  /** A compaction that came to nothing is not repeated at every edit. */
  private compactNotBeforeMs = Number.NEGATIVE_INFINITY
  private firstEditMs: number | null = null
  private lastEditMs = 0
  private timer: (() => void) | null = null
  private chain: Promise<unknown> = Promise.resolve()
  private largeTimer: (() => void) | null = null
  private compacting = false
  private saving = false
  private readonly overCap: OverCap

  constructor(room: Room, head: DocumentHead, told: number) {
    this.room = room
    this.leaving = leaveCapture(room)
    this.overCap = overCap(room)
    this.covered = head.bodyAhead ? -1 : head.coveredSeq
    this.loadedVersion = head.version
    this.told = told
    room.log.versionedAtMs = head.updatedAtMs
  }

  /** A body that was left behind is brought up soon. */
  opened(): void {
    if (this.isBehind()) this.edited(null)
    this.logMoved()
  }

  isBehind(): boolean {
    return this.room.log.emitted !== this.covered
  }

  /** The stored version stands for exactly what the live document says. [CONC-7] */
  isTold(): boolean {
    return !this.isBehind() || this.told === this.room.log.emitted
  }

  /** The stored version stands for something that the stored body lacks. */
  owesBody(): boolean {
    return this.isBehind() && this.told > this.covered
  }

  edited(writer: Writer | null, updateBytes = 0): void {
    if (updateBytes > LARGE_BYTES) this.largeTimer ??= this.room.host.after(LARGE_WITHIN_MS, () => this.compactLarge())
    const now = this.room.host.clock.monotonicMs()
    this.firstEditMs ??= now
    this.lastEditMs = now
    if (writer !== null) this.lastWriter = writer
    if (this.timer === null) this.arm(this.room.host.options.saveIdleMs)
  }

  /** A large update is soon proven to be readable from a snapshot. [G10] */
  private compactLarge(): void {
    this.largeTimer = null
    if (this.room.isReady && this.room.log.tailRecords > 0) this.compactSoon()
  }

  private arm(delayMs: number): void {
    this.timer = this.room.host.after(delayMs, () => {
      this.timer = null
      this.due()
    })
  }

  /** 2 s after the last edit, 10 s after the first one. [LIFE-10] */
  private due(): void {
    if (this.firstEditMs === null) return
    const { options, clock } = this.room.host
    const dueMs = Math.min(this.lastEditMs + options.saveIdleMs, this.firstEditMs + saveLatestMs(options, this.room.id))
    const waitMs = dueMs - clock.monotonicMs()
    if (waitMs > 1) this.arm(waitMs)
    else this.saveSoon()
  }

  lastLeft(): void {
    this.leaving.left()
    this.saveSoon()
    this.inBackground(() => this.captureLeft())
  }

  /** Keeps what the last participant left behind once the body holds all of it. [LIFE-19] */
  async captureLeft(): Promise<void> {
    if (!this.isBehind()) await this.leaving.run(this.version)
  }

  /** At most one save runs and at most one waits. [LIFE-8] */
  private saveSoon(): void {
    if (this.saving) return
    this.saving = true
    this.inBackground(async () => {
      this.saving = false
      if ((await this.save()) === 'behind') throw new Error('the store refused the body')
    })
  }

  /** A job that nobody waits for: what goes wrong is logged, and the body is tried again. */
  private inBackground(job: () => Promise<void>): void {
    const failed = (error: unknown): void => {
      this.room.host.log.warn('room.job_failed', 'A background job on a live document failed.', {
        docId: this.room.ref.id,
        error: String(error),
      })
      if (this.room.isReady && this.timer === null && this.firstEditMs !== null) this.arm(RETRY_MS)
    }
    this.exclusive(async () => (this.room.isReady ? job() : undefined)).catch(failed)
  }

  unsavedMs(nowMs: number): number {
    return this.firstEditMs === null ? 0 : nowMs - this.firstEditMs
  }

  /** Compacts when the log behind the snapshot has grown long. [LIFE-7] */
  logMoved(): void {
    const { log, host } = this.room
    if (this.compacting || (log.tailRecords < host.options.compactRecords && log.tailBytes < host.options.compactBytes)) return
    this.compactSoon()
  }

  private compactSoon(): void {
    const now = this.room.host.clock.monotonicMs()
    if (this.compacting || now < this.compactNotBeforeMs) return
    this.compacting = true
    this.compactNotBeforeMs = now + COMPACT_PAUSE_MS
    this.inBackground(() =>
      compactRoom(this.room).finally(() => {
        this.compacting = false
      }),
    )
  }

  /** One job after another; a job that throws does not stop the next. */
  exclusive<T>(job: () => Promise<T>): Promise<T> {
    const run = this.chain.then(job)
    this.chain = run.catch(() => undefined)
    return run
  }

  async run(task: RoomTask): Promise<TaskOutcome> {
    try {
      return await this.exclusive(() => (this.room.isReady ? this.perform(task) : Promise.resolve(LOST)))
    } catch (error) {
      if (error instanceof RelayError && (error.code === 'UNAVAILABLE' || error.code === 'NOT_PERSISTED')) {
        return { kind: 'failed', code: error.code, message: error.message }
      }
      this.room.host.log.error('room.job_failed', 'A job on a live document failed.', {
        docId: this.room.ref.id,
        job: task.kind,
        error: String(error),
      })
      return { kind: 'failed', code: 'INTERNAL', message: 'the job failed' }
    }
  }

  private async perform(task: RoomTask): Promise<TaskOutcome> {
    switch (task.kind) {
      case 'settle':
        return this.settle(task.quietMs)
      case 'put':
        return putIntoRoom(this.room, this, task.request)
      case 'edit':
        return editInRoom(this.room, this, task)
      case 'body-changed':
        return this.bodyChanged(task.version)
      case 'encode':
        return encodeRoom(this.room, this)
      case 'evict':
        return evictRoom(this.room, this)
      case 'end-agents':
        this.room.host.turn(() => this.room.agents.end())
        return { kind: 'settled', version: this.version }
      case 'drop':
        this.room.host.turn(() => this.room.close({ kind: 'gone' }))
        return { kind: 'evicted' }
      default:
        return unreachable(task)
    }
  }

  /** The stored version as far as this room knows it. */
  private get version(): number {
    return this.base?.head.version ?? this.loadedVersion
  }

  /** Stores everything applied before the call. Must run inside `exclusive`. [LIFE-11] */
  async settle(quietMs = 0): Promise<TaskOutcome> {
    this.room.host.turn(() => this.room.sync.flushTurn())
    if (!this.room.isReady) return LOST
    if (quietMs > 0) this.room.sync.pauseFor(quietMs)
    const outcome = await this.save()
    if (outcome !== 'saved') return failed(outcome)
    return { kind: 'settled', version: this.version }
  }

  private async bodyChanged(version: number): Promise<TaskOutcome> {
    if (this.base !== null && this.base.head.version >= version) return { kind: 'settled', version: this.base.head.version }
    const merged = await this.mergeStored()
    if (merged !== 'merged') return failed(merged)
    if (!this.room.isReady) return LOST
    const outcome = this.isBehind() ? await this.save() : 'saved'
    return outcome === 'saved' ? { kind: 'settled', version: this.version } : failed(outcome)
  }

  /**
   * Stores the body of the live document as a compare-and-set, together with the log records that it contains; merges what others stored
   * and tries again. [LIFE-9, LIFE-12] Must run inside `exclusive`. `behind` leaves everything as it was.
   */
  async save(): Promise<SaveOutcome> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (!this.room.isReady) return 'lost'
      if (!this.isBehind()) {
        this.firstEditMs = null
        return (await this.room.log.reach(this.room.log.emitted)) ? 'saved' : 'lost'
      }
      const base = await this.knownBase()
      if (base === null) return 'gone'
      const outcome = await this.writeBody(base)
      if (typeof outcome === 'string') return outcome
      if (outcome.kind === 'written') return 'saved'
      if (outcome.kind !== 'conflict') throw new Error(`a materialisation was answered ${outcome.kind}`)
      const merged = await this.mergeStored(outcome.current)
      if (merged !== 'merged') return merged
    }
    return 'behind'
  }

  private async writeBody(base: Base): Promise<WriteOutcome | 'lost' | 'behind'> {
    const { room } = this
    const { log, host } = room
    if (!(await log.hold())) return 'lost'
    let held: ReturnType<typeof log.takeHeld> = []
    const firstEditMs = this.firstEditMs
    try {
      refuseStaleTitle(room.live().doc, base.body, base.head.titleChangedAtMs, RELAY)
      held = log.takeHeld()
      const sequence = log.emitted
      this.firstEditMs = null
      const made = materialised(
        { body: base.body, facts: base.head.facts },
        this.project(base.body),
        host.clock.nowMs(),
        this.lastWriter?.sub ?? 'system',
      )
      const append = held.map(({ actor, update }) => ({ actor, update }))
      const live = { kind: 'live', lastSeq: sequence - held.length, append } as const
      const outcome = await host.documents.write({
        ref: room.ref,
        expect: { kind: 'document', key: room.key, version: base.head.version },
        set: made.changed ? { body: { bytes: made.bytes, facts: made.facts, blobReferences: made.blobReferences } } : {},
        // The version was given with the edit that it stands for.
        bump: made.changed && this.told !== sequence,
        nowMs: host.clock.nowMs(),
        quotaBytes: null,
        log: room.hasGap ? { ...live, coversNoMore: true } : live,
        ...(made.zeroing ? { capture: { reason: 'zeroing' as const } } : {}),
      })
      if (outcome.kind === 'written') this.wrote(outcome.head, made.body, sequence, held.length)
      else this.undo(firstEditMs, held)
      return outcome
    } catch (error) {
      this.undo(firstEditMs, held)
      // Whether the records are stored is not known: only the log can tell.
      if (held.length > 0 && error instanceof RelayError && error.code === 'NOT_PERSISTED') log.fail('failed', error)
      host.log.warn('room.save_failed', 'The body of a live document could not be stored; its log has every edit.', {
        docId: room.ref.id,
        error: String(error),
      })
      return room.isReady ? 'behind' : 'lost'
    } finally {
      host.turn(() => {
        log.release()
        if (room.isReady) room.sync.handOut()
      })
    }
  }

  private undo(firstEditMs: number | null, held: Parameters<typeof this.room.log.putBack>[0]): void {
    this.firstEditMs = firstEditMs ?? this.firstEditMs
    this.room.log.putBack(held)
  }

  /** Notes that the stored body is the live document's as of `sequence`. */
  wrote(head: DocumentHead, body: DocumentBody, sequence: number, appended: number): void {
    this.base = { head, body }
    this.covered = sequence
    if (!this.isBehind()) this.firstEditMs = null
    this.told = -1
    if (appended > 0 && this.room.isReady) this.room.log.stored(appended)
    this.overCap.note(head.sizeBytes, this.lastWriter)
  }

  /** Notes that the stored version is the live document's as of now, and that its body is still to be stored. */
  toldVersion(base: Base, head: DocumentHead, appended: number): void {
    this.base = { head, body: base.body }
    this.told = this.room.log.emitted
    this.room.log.versionedAtMs = head.updatedAtMs
    if (this.room.isReady) this.room.log.stored(appended)
  }

  /** After the live document was replaced: what was known of it no longer holds. */
  forgetBase(): void {
    this.base = null
  }

  /** What an edit of what `project` answered goes by: the blocks that it moved, and what is remembered of the document. */
  hints(moved: readonly string[] = []): Hints {
    return { moved: new Set(moved), cache: this.cache }
  }

  /** The body that the live document says over `base`. */
  project(base: DocumentBody): DocumentBody {
    const { doc } = this.room.live()
    return this.room.watched(() => project(doc, base, this.cache))
  }

  async knownBase(): Promise<Base | null> {
    if (this.base === null) {
      const record = await this.read()
      if (record === null) return null
      // What was stored since the document was loaded is merged first.
      if (record.head.bodyAhead) return (await this.mergeStored()) === 'merged' ? this.base : null
      this.base = { head: record.head, body: readStoredBody(record.body) }
    }
    return this.base
  }

  private async read(): Promise<DocumentRecord | null> {
    const record = await this.room.host.documents.read(this.room.ref)
    return record?.head.key === this.room.key ? record : null
  }

  /** Takes in what another writer stored: its head, and its body as edits on the live document. [LIFE-13] */
  async mergeStored(current?: DocumentState): Promise<'merged' | 'gone' | 'lost'> {
    if (current !== undefined && current.kind !== 'document') return 'gone'
    const record = await this.read()
    if (record === null) return 'gone'
    if (!this.room.isReady) return 'lost'
    if (record.head.bodyAhead) return mergeColdWrite(this.room, this, record)
    // Another writer's version: nobody has been shown a body of it yet.
    if (record.head.version !== this.base?.head.version) this.told = -1
    this.base = { head: record.head, body: readStoredBody(record.body) }
    return 'merged'
  }

  close(): void {
    this.timer?.()
    this.largeTimer?.()
    this.cache[Symbol.dispose]()
  }
}
