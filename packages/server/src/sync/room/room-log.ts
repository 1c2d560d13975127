import type { LiveWrite } from '../../documents/document-store.port.ts'
import { epochMember } from './room-fence.ts'
import { type AppendOutcome, type AppendRecord, removalsMember, type UpdateLog } from '../update-log.port.ts'

/** Returns held records in the form in which a write of `actor` appends them. */
export function recordsBy(actor: string, records: readonly AppendRecord[]): LiveWrite['append'] {
  return records.map(({ update, removals }) => ({ actor, update, ...removalsMember(removals) }))
}

export type LogFailure = 'failed' | 'gone' | 'conflict' | 'fenced'

/** Notified about the appends of one room's records. */
export interface RoomLogOwner {
  /** `durable` has increased. */
  logMoved(): void
  /**
   * The append failed, another process appended first, or another node owns the document. Records that are not durable yet never
   * will be. [LIFE-6, LIFE-26]
   */
  logFailed(reason: LogFailure, error: unknown): void
}

/**
 * The end of one document's log as its room writes it: the last emitted sequence, the last durable sequence, and the records in flight.
 * [LIFE-4] While `hold` is on, emitted records stay here, so that a body can be stored together with exactly the records it contains.
 */
export class RoomLog {
  emitted: number
  durable: number
  /** Number of records since the newest snapshot, and their bytes. [LIFE-7] */
  tailRecords: number
  tailBytes: number
  private inFlight = 0
  private broken = false
  private holding = false
  private held: AppendRecord[] = []
  /** True after the log has failed. Then `quiet` no longer waits for the appends in flight. */
  private lost = false
  private readonly quietWaiters: (() => void)[] = []
  private readonly idleWaiters: (() => void)[] = []
  private readonly durableWaiters: { readonly sequence: number; readonly done: (reached: boolean) => void }[] = []
  private readonly key: number
  private readonly epoch: number | null
  private readonly queue: AppendQueue
  private readonly owner: RoomLogOwner

  constructor(given: {
    key: number
    /** `null` in a relay of one node. */
    epoch: number | null
    lastSeq: number
    tailRecords: number
    tailBytes: number
    queue: AppendQueue
    owner: RoomLogOwner
  }) {
    this.key = given.key
    this.epoch = given.epoch
    this.emitted = given.lastSeq
    this.durable = given.lastSeq
    this.tailRecords = given.tailRecords
    this.tailBytes = given.tailBytes
    this.queue = given.queue
    this.owner = given.owner
  }

  /** Set when the next record takes in the cold write of `version`. That record is appended only if the stored version is still `version`. */
  catchingUp: { readonly version: number } | null = null

  /** New records get a later date than this, so that the last record of a stored version can be found by the date of the version. */
  versionedAtMs = Number.NEGATIVE_INFINITY

  /** Appends an update. `removals`: the room's notes about removed blocks since the last record, for `AppendRecord.removals`. [AG-110] */
  emit(update: Uint8Array, actor: string, nowMs: number, removals: string | null): void {
    const atMs = Math.max(nowMs, this.versionedAtMs + 1)
    const afterSeq = this.emitted++
    this.tailRecords++
    this.tailBytes += update.length
    const record: AppendRecord = {
      key: this.key,
      afterSeq,
      actor,
      atMs,
      update,
      ...(this.catchingUp === null ? {} : { catchUp: this.catchingUp }),
      ...epochMember(this.epoch),
      ...removalsMember(removals),
    }
    if (this.holding) {
      this.held.push(record)
      return
    }
    this.inFlight++
    this.queue.push(this, record)
  }

  /** Keeps new records back and resolves when no append is in flight; false when the log has failed. */
  async hold(): Promise<boolean> {
    this.holding = true
    while (this.inFlight > 0 && !this.broken) await new Promise<void>((resolve) => this.idleWaiters.push(resolve))
    return !this.broken
  }

  /** Takes the records kept back so far, for a write that appends them itself. */
  takeHeld(): readonly AppendRecord[] {
    const taken = this.held
    this.held = []
    return taken
  }

  /** Puts records back that were taken for a write which did not store them. */
  putBack(records: readonly AppendRecord[]): void {
    this.held = [...records, ...this.held]
  }

  /** Notes that a write has stored the `count` records that it took. */
  stored(count: number): void {
    this.durable += count
    this.moved()
  }

  /** Discards records that were taken and will not be stored. The live document with their changes is discarded too. */
  forget(records: readonly AppendRecord[]): void {
    this.emitted -= records.length
    this.tailRecords -= records.length
    for (const record of records) this.tailBytes -= record.update.length
  }

  release(): void {
    this.holding = false
    if (this.broken) return
    for (const record of this.takeHeld()) {
      this.inFlight++
      this.queue.push(this, record)
    }
  }

  /** Resolves to true once the log is durable through `sequence`, and to false when the log fails or is closed before. */
  reach(sequence: number): Promise<boolean> {
    if (this.durable >= sequence) return Promise.resolve(true)
    if (this.broken) return Promise.resolve(false)
    return new Promise((done) => this.durableWaiters.push({ sequence, done }))
  }

  /** Notes that a snapshot was stored and that these records came after it. */
  compacted(records: number, bytes: number): void {
    this.tailRecords = records
    this.tailBytes = bytes
  }

  /** Resolves once no append is in flight, even after the log has ended. */
  quiet(): Promise<void> {
    if (this.inFlight === 0 || this.lost) return Promise.resolve()
    return new Promise((done) => this.quietWaiters.push(done))
  }

  private tellQuiet(): void {
    if (this.inFlight === 0 || this.lost) for (const done of this.quietWaiters.splice(0)) done()
  }

  appended(outcome: AppendOutcome): void {
    this.inFlight--
    this.tellQuiet()
    if (this.broken) return
    if (outcome.kind === 'appended' && outcome.seq === this.durable + 1) this.durable = outcome.seq
    else this.fail(outcome.kind === 'appended' ? 'conflict' : outcome.kind, outcome)
  }

  fail(reason: LogFailure, error: unknown): void {
    this.lost = true
    this.tellQuiet()
    if (this.broken) return
    this.broken = true
    this.wake()
    this.owner.logFailed(reason, error)
  }

  /** Ends the log without notifying its owner. */
  close(): void {
    this.broken = true
    this.wake()
  }

  moved(): void {
    this.wake()
    if (!this.broken) this.owner.logMoved()
  }

  private wake(): void {
    if (this.inFlight === 0 || this.broken) for (const waiter of this.idleWaiters.splice(0)) waiter()
    for (let i = 0; i < this.durableWaiters.length; ) {
      const waiter = this.durableWaiters[i] as (typeof this.durableWaiters)[number]
      if (!this.broken && waiter.sequence > this.durable) i++
      else {
        this.durableWaiters.splice(i, 1)
        waiter.done(!this.broken)
      }
    }
  }
}

/** Gathers the records that the rooms of a worker emit during a turn into one append. [LIFE-4] */
export class AppendQueue {
  private logs: RoomLog[] = []
  private records: AppendRecord[] = []
  private newRecords = 0
  private readonly updates: UpdateLog
  private readonly onSeconds: (seconds: number) => void
  private readonly monotonicMs: () => number

  constructor(given: { updates: UpdateLog; monotonicMs: () => number; onSeconds: (seconds: number) => void }) {
    this.updates = given.updates
    this.monotonicMs = given.monotonicMs
    this.onSeconds = given.onSeconds
  }

  push(log: RoomLog, record: AppendRecord): void {
    this.logs.push(log)
    this.records.push(record)
    this.newRecords++
  }

  /** Returns how many records were pushed since the last call. */
  takeNew(): number {
    const count = this.newRecords
    this.newRecords = 0
    return count
  }

  flush(): void {
    if (this.records.length === 0) return
    const { logs, records } = this
    this.logs = []
    this.records = []
    const startedAt = this.monotonicMs()
    this.updates.append(records).then(
      (outcomes) => {
        this.onSeconds((this.monotonicMs() - startedAt) / 1000)
        for (let i = 0; i < logs.length; i++) (logs[i] as RoomLog).appended(outcomes[i] as AppendOutcome)
        for (const log of new Set(logs)) log.moved()
      },
      (error: unknown) => {
        for (const log of new Set(logs)) log.fail('failed', error)
      },
    )
  }
}
