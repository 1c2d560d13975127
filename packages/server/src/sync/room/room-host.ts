import type { DocumentStore } from '../../documents/document-store.port.ts'
import type { Beats } from '../../kernel/beats.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Random } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import type { RecoveryStore } from '../../recovery/recovery-store.port.ts'
import type { UpdateGuard } from '../guard/guard.ts'
import type { AppendQueue } from './room-log.ts'
import type { ScratchPool } from './room-scratch.ts'
import type { UpdateLog } from '../update-log.port.ts'
import type { FromWorker } from '../worker-messages.ts'

/** Times and limits of rooms, which tests shorten. */
export interface RoomOptions {
  /** Materialise so long after the last edit, and at most so long after the first one not yet in the body. [LIFE-10] */
  readonly saveIdleMs: number
  readonly saveLatestMs: number
  /** Compact at so many records or bytes. [LIFE-7] */
  readonly compactRecords: number
  readonly compactBytes: number
  /** Widest window in which the edits of a busy room are gathered. */
  readonly windowMs: number
  /** For `relay_doc_over_cap_snapshots_total`; `null`: unlimited. [LIFE-16] */
  readonly maxDocBytes: number | null
  /** Processor time of one connection: refilled per second, and at most. [G9] */
  readonly cpuMsPerSecond: number
  readonly cpuBurstMs: number
  /** Messages above this are tried on a copy first. [G10] */
  readonly trialBytes: number
}

export const ROOM_OPTIONS: RoomOptions = {
  saveIdleMs: 2_000,
  saveLatestMs: 10_000,
  compactRecords: 500,
  compactBytes: 1024 * 1024,
  windowMs: 32,
  maxDocBytes: null,
  cpuMsPerSecond: 200,
  cpuBurstMs: 1_000,
  trialBytes: 1024 * 1024,
}

/** Says to the watchdog what is running, so that an endless operation can be told from a busy thread. [C5] */
export interface Watch {
  begin(what: {
    readonly room: number
    readonly connection: number
    readonly join: number
    readonly ordinal: number
    readonly bytes: number
  }): void
  end(): void
}

export const noWatch: Watch = { begin() {}, end() {} }

/** Runs work on a whole document of about `bytes` under the watchdog. [C5] */
export function watched<T>(host: Pick<RoomHost, 'watch'>, room: number, bytes: number, work: () => T): T {
  host.watch.begin({ room, connection: 0, join: 0, ordinal: 0, bytes })
  try {
    return work()
  } finally {
    host.watch.end()
  }
}

/** What a worker gives to its rooms. */
export interface RoomHost {
  readonly documents: DocumentStore
  readonly updates: UpdateLog
  readonly recovery: Pick<RecoveryStore, 'capture'>
  readonly queue: AppendQueue
  readonly guard: UpdateGuard
  readonly scratch: ScratchPool
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly watch: Watch
  readonly options: RoomOptions
  readonly cpu: CpuBudget
  readonly clientIds: ClientIdBudget
  /** Ends the windows of rooms together. */
  readonly beats: Beats
  /** Queues a message for the main thread; it leaves with the flush of this turn. */
  emit(message: FromWorker): void
  /** The same for what may wait for the next end of a window. */
  emitByBeat(message: FromWorker): void
  count(counter: string, by?: number): void
  /** Runs `work` as a turn of its own and flushes what it emitted. */
  turn(work: () => void): void
  /** Runs `work` as a turn of its own after a while. The timer keeps no process alive. */
  after(delayMs: number, work: () => void): NodeJS.Timeout
  /** Calls `flushTurn` when the messages of this turn are handled. */
  atTurnEnd(room: { flushTurn(): void }): void
  /** Slots for loading documents that are not in memory. [C8] */
  readonly loads: LoadSlots
  /** Keys of documents whose stored state was taken as it is and then could not be decoded; they are decoded when they are loaded. [YDOC-11] */
  readonly undecodable: Set<number>
}

/** Token bucket per connection over measured processor time. [G9] */
export class CpuBudget {
  private readonly spent = new Map<number, { debtMs: number; atMs: number }>()
  private readonly perMs: number
  private readonly burstMs: number

  constructor(options: Pick<RoomOptions, 'cpuMsPerSecond' | 'cpuBurstMs'>) {
    this.perMs = options.cpuMsPerSecond / 1000
    this.burstMs = options.cpuBurstMs
  }

  /** Time until the connection may go on, 0 when it may now. */
  waitMs(connection: number, nowMs: number): number {
    const entry = this.spent.get(connection)
    if (entry === undefined) return 0
    const debt = entry.debtMs - (nowMs - entry.atMs) * this.perMs
    if (debt <= 0) this.spent.delete(connection)
    return debt < this.burstMs ? 0 : Math.ceil((debt - this.burstMs) / this.perMs) + 1
  }

  charge(connection: number, ms: number, nowMs: number): void {
    const entry = this.spent.get(connection)
    if (entry === undefined) {
      this.spent.set(connection, { debtMs: ms, atMs: nowMs })
      return
    }
    entry.debtMs = Math.max(0, entry.debtMs - (nowMs - entry.atMs) * this.perMs) + ms
    entry.atMs = nowMs
  }

  /** Forgets connections that owe nothing any more. */
  sweep(nowMs: number): void {
    for (const [connection, entry] of this.spent)
      if (entry.debtMs <= (nowMs - entry.atMs) * this.perMs) this.spent.delete(connection)
  }
}

const CLIENT_IDS = 65_536
const CLIENT_IDS_PER_MS = 8_192 / 3_600_000

/** Paces client ids that are new to a room, per workspace. [G4] */
export class ClientIdBudget {
  private readonly used = new Map<string, { count: number; atMs: number }>()

  take(workspaceId: string, ids: number, nowMs: number): boolean {
    const entry = this.used.get(workspaceId) ?? { count: 0, atMs: nowMs }
    const count = Math.max(0, entry.count - (nowMs - entry.atMs) * CLIENT_IDS_PER_MS)
    if (count + ids > CLIENT_IDS) return false
    this.used.set(workspaceId, { count: count + ids, atMs: nowMs })
    return true
  }
}

/** At most `limit` loads at once; the others wait in order. [C8] */
export class LoadSlots {
  private free: number
  private readonly waiting: (() => void)[] = []

  constructor(limit: number) {
    this.free = limit
  }

  async run<T>(load: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--
    else await new Promise<void>((resolve) => this.waiting.push(resolve))
    try {
      return await load()
    } finally {
      const next = this.waiting.shift()
      if (next === undefined) this.free++
      else next()
    }
  }
}
