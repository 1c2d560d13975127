import type { DocumentBody } from '@docrelay/model/body'
import { readStoredBody } from '@docrelay/model/body-parse'
import type { DocumentHead, DocumentRecord, DocumentState, WriteOutcome } from '../../documents/document-store.port.ts'
import { RelayError } from '../../kernel/errors.ts'
import { retryCas } from '../../kernel/retry-cas.ts'
import { refuseStaleTitle } from '../binding/binding.ts'
import { ProjectionCache } from '../binding/binding-cache.ts'
import { project } from '../binding/binding-project.ts'
import type { Hints } from '../binding/binding-prose.ts'
import type { Room } from './room.ts'
import { RELAY } from './room-content.ts'
import { type LeaveCapture, leaveCapture } from './room-capture.ts'
import { Elsewhere, keepWithin } from './room-bounds.ts'
import { compactRoom } from './room-compact.ts'
import { epochMember } from './room-fence.ts'
import { type OverCap, overCap } from './room-over-cap.ts'
import type { LoadedRoom } from './room-load.ts'
import { failed, LOST, type SaveOutcome } from './room-outcomes.ts'
import { type Base, materialised, saveLatestMs } from './room-body.ts'
import { mergeColdWrite } from './room-merge.ts'
import { removalsMember } from '../update-log.port.ts'
import type { TaskOutcome } from '../worker-messages.ts'

const RETRY_MS = 1_000
const COMPACT_PAUSE_MS = 100
const LARGE_BYTES = 64 * 1024
const LARGE_WITHIN_MS = 30_000

/** The last writer of a live document. */
export interface Writer {
  readonly sub: string
  /** Size limit of this writer's documents in bytes; `null`: unlimited. [LIFE-16] */
  readonly maxDocBytes: number | null
}

/**
 * Saves the live document's body, and runs the other jobs that must not overlap with a save: PUT, edits by tools, merging cold writes,
 * compaction, eviction. Jobs run one after another. [LIFE-8..LIFE-12]
 */
export class RoomSaver {
  /** The head and the body of the stored version; `null` until the next job reads them. */
  base: Base | null = null
  /** The stored body contains the log through this sequence; -1 when the body also contains a cold write that the log lacks. */
  covered: number
  /**
   * The log sequence through which the stored version counts all edits, although the stored body lacks some of them; -1 when there is no
   * such sequence. [LIFE-12]
   */
  private versionSeq: number
  lastWriter: Writer | null = null
  private readonly cache = new ProjectionCache()
  private readonly leaving: LeaveCapture
  private readonly room: Room
  private readonly loadedVersion: number
  /** No compaction begins before this time, so that a failed compaction is not repeated at every edit. */
  private compactNotBeforeMs = Number.NEGATIVE_INFINITY
  private firstEditMs: number | null = null
  private lastEditMs = 0
  private timer: (() => void) | null = null
  private chain: Promise<unknown> = Promise.resolve()
  private largeTimer: (() => void) | null = null
  private compacting = false
  private saving = false
  private readonly overCap: OverCap

  constructor(room: Room, { head, versionSeq, lastWriter }: Pick<LoadedRoom, 'head' | 'versionSeq' | 'lastWriter'>) {
    this.room = room
    this.leaving = leaveCapture(room)
    this.overCap = overCap(room)
    this.covered = head.bodyAhead ? -1 : head.coveredSeq
    this.loadedVersion = head.version
    this.versionSeq = versionSeq
    // This home may save edits that another home has applied, for example after a move. The writer of these edits stays the last writer.
    if (lastWriter !== null) this.lastWriter = { sub: lastWriter, maxDocBytes: room.host.options.maxDocBytes }
    room.log.versionedAtMs = head.updatedAtMs
  }

  /** If the stored body is older than the log, schedules a save. */
  opened(): void {
    if (this.isBehind()) this.edited(null)
    this.logMoved()
  }

  isBehind(): boolean {
    return this.room.log.emitted !== this.covered
  }

  /** Whether the stored version corresponds exactly to the live document. [CONC-7] */
  isVersionCurrent(): boolean {
    return !this.isBehind() || this.versionSeq === this.room.log.emitted
  }

  /** Whether the stored version includes edits that the stored body lacks. */
  owesBody(): boolean {
    return this.isBehind() && this.versionSeq > this.covered
  }

  edited(writer: Writer | null, updateBytes = 0): void {
    if (updateBytes > LARGE_BYTES) this.largeTimer ??= this.room.host.after(LARGE_WITHIN_MS, () => this.compactLarge())
    const now = this.room.host.clock.monotonicMs()
    this.firstEditMs ??= now
    this.lastEditMs = now
    if (writer !== null) this.lastWriter = writer
    if (this.timer === null) this.arm(this.room.host.options.saveIdleMs)
  }

  /** After a large update, compacts soon, which proves that the document can be loaded from a snapshot. [G10] */
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

  /** Saves 2 s after the last edit, and at the latest 10 s after the first one. [LIFE-10] */
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

  /** Captures the document as the last participant left it, provided that the stored body contains every edit. [LIFE-19] */
  async captureLeft(): Promise<void> {
    if (!this.isBehind()) await this.leaving.run(this.version)
  }

  /** Queues a save unless a save already waits. So at most one save runs and at most one waits. [LIFE-8] */
  private saveSoon(): void {
    if (this.saving) return
    this.saving = true
    this.inBackground(async () => {
      this.saving = false
      if ((await this.save()) === 'behind') throw new Error('the store refused the body')
    })
  }

  /** Runs a job that nobody awaits. A failure is logged, and saving is scheduled again. */
  private inBackground(job: () => Promise<void>): void {
    const failed = (error: unknown): void => {
      if (error instanceof Elsewhere) return this.room.outgrown()
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

  /** Compacts when the log since the snapshot has grown long. [LIFE-7] */
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

  /** Runs jobs one after another. A job that throws does not stop the next one. */
  exclusive<T>(job: () => Promise<T>): Promise<T> {
    const run = this.chain.then(job)
    this.chain = run.catch(() => undefined)
    return run
  }

  get version(): number {
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

  /** Merges the body that another writer has stored as `version`. Must run inside `exclusive`. */
  async bodyChanged(version: number): Promise<TaskOutcome> {
    if (this.base !== null && this.base.head.version >= version) return { kind: 'settled', version: this.base.head.version }
    const merged = await this.mergeStored()
    if (merged !== 'merged') return failed(merged)
    if (!this.room.isReady) return LOST
    const outcome = this.isBehind() ? await this.save() : 'saved'
    return outcome === 'saved' ? { kind: 'settled', version: this.version } : failed(outcome)
  }

  /**
   * Stores the body of the live document with a compare-and-set, together with the log records it contains. After a lost race, merges the
   * body that another writer stored and tries again. [LIFE-9, LIFE-12] Must run inside `exclusive`. With `behind`, nothing was stored.
   */
  save(): Promise<SaveOutcome> {
    const trySave = async (): Promise<SaveOutcome | 'again'> => {
      if (!this.room.isReady) return 'lost'
      if (!this.isBehind()) {
        this.firstEditMs = null
        return (await this.room.log.reach(this.room.log.emitted)) ? 'saved' : 'lost'
      }
      const base = await this.knownBase()
      if (base === null) return 'gone'
      // Another node may have taken the document while the body was read. [LIFE-26]
      if (!this.room.isReady) return 'lost'
      const outcome = await this.writeBody(base)
      if (typeof outcome === 'string') return outcome
      if (outcome.kind === 'written') return 'saved'
      if (outcome.kind === 'fenced') return 'lost'
      if (outcome.kind !== 'conflict') throw new Error(`a materialisation was answered ${outcome.kind}`)
      const merged = await this.mergeStored(outcome.current)
      return merged === 'merged' ? 'again' : merged
    }
    return retryCas<SaveOutcome>(trySave, () => 'behind')
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
      const append = held.map(({ actor, update, removals }) => ({ actor, update, ...removalsMember(removals) }))
      const live = { kind: 'live', lastSeq: sequence - held.length, append, ...epochMember(room.epoch) } as const
      const outcome = await host.documents.write({
        ref: room.ref,
        expect: { kind: 'document', key: room.key, version: base.head.version },
        set: made.changed ? { body: { bytes: made.bytes, facts: made.facts, blobReferences: made.blobReferences } } : {},
        // If the edit already raised the version, storing its body must not raise it again.
        bump: made.changed && this.versionSeq !== sequence,
        nowMs: host.clock.nowMs(),
        quotaBytes: null,
        log: room.hasGap ? { ...live, coversNoMore: true } : live,
        told: { actor: this.lastWriter?.sub ?? '', isMaterialisation: true },
        ...(made.zeroing ? { capture: { reason: 'zeroing' as const } } : {}),
      })
      if (outcome.kind === 'written') this.wrote(outcome.head, made.body, sequence, held.length)
      else this.undo(firstEditMs, held)
      if (outcome.kind === 'fenced') host.turn(() => room.fenced())
      return outcome
    } catch (error) {
      this.undo(firstEditMs, held)
      // It is unknown whether the records were stored: only the log is reliable now.
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
    // The timer may have run out during the write, when nothing seemed to be unsaved.
    if (this.timer === null && this.firstEditMs !== null && this.room.isReady) this.arm(RETRY_MS)
  }

  /** Notes that the stored body matches the live document as of `sequence`. */
  wrote(head: DocumentHead, body: DocumentBody, sequence: number, appended: number): void {
    this.base = { head, body }
    this.covered = sequence
    if (!this.isBehind()) this.firstEditMs = null
    this.versionSeq = -1
    if (appended > 0 && this.room.isReady) this.room.log.stored(appended)
    this.overCap.note(head.sizeBytes, this.lastWriter)
  }

  /** Notes that the stored version matches the live document now and that its body is still to be stored. */
  wroteVersion(base: Base, head: DocumentHead, appended: number): void {
    this.base = { head, body: base.body }
    this.versionSeq = this.room.log.emitted
    this.room.log.versionedAtMs = head.updatedAtMs
    if (this.room.isReady) this.room.log.stored(appended)
  }

  /** Returns hints for `reconcile` about an edit of a projected body: what the edit knows of its own change, and the projection cache. */
  hints(known: Omit<Hints, 'cache'>): Hints {
    return { ...known, cache: this.cache }
  }

  /** Projects the live document over `base`. */
  project(base: DocumentBody): DocumentBody {
    const { doc } = this.room.live()
    return this.room.watched(() => project(doc, base, this.cache))
  }

  async knownBase(): Promise<Base | null> {
    if (this.base === null) {
      const record = await this.read()
      if (record === null) return null
      // First merges a body that was stored since the document was loaded.
      if (record.head.bodyAhead) return (await this.mergeStored()) === 'merged' ? this.base : null
      this.base = { head: record.head, body: readStoredBody(record.body) }
    }
    return this.base
  }

  private async read(): Promise<DocumentRecord | null> {
    const { room } = this
    const { durable } = room.log
    const record = await room.host.documents.read(room.ref)
    if (record?.head.key !== room.key) return null
    // The store has lost records that it had confirmed. The joined clients have them and send them again when they rejoin. [LIFE-6]
    if (room.isReady && record.head.lastSeq < durable)
      room.host.turn(() => room.log.fail('conflict', 'the end of the log is lost'))
    keepWithin(room.host.options.bounds, record)
    return record
  }

  /** Takes over the head that another writer has stored, and merges its body into the live document as edits. [LIFE-13] */
  async mergeStored(current?: DocumentState): Promise<'merged' | 'gone' | 'lost'> {
    if (current !== undefined && current.kind !== 'document') return 'gone'
    const record = await this.read()
    if (record === null) return 'gone'
    if (!this.room.isReady) return 'lost'
    if (record.head.bodyAhead) return mergeColdWrite(this.room, this, record)
    // Another writer raised the version, so this room's note about its own version no longer applies.
    if (record.head.version !== this.base?.head.version) this.versionSeq = -1
    this.base = { head: record.head, body: readStoredBody(record.body) }
    return 'merged'
  }

  close(): void {
    this.timer?.()
    this.largeTimer?.()
    this.cache[Symbol.dispose]()
  }
}
