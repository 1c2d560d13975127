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
  /** A write that may take longer is applied in pieces. [G9] */
  readonly cutMs: number
  /** A connection whose debt and waiting messages come to more processor time is closed 1013. [WS-12] */
  readonly debtMs: number
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
  cutMs: 8,
  debtMs: 5_000,
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

/** Whose document it is, and under which number the watchdog knows it. */
export interface WatchedRoom {
  readonly id: number
  readonly workspaceId: string
}

/** Runs work on a whole document of about `bytes` under the watchdog, and charges its workspace. [C5, G9] */
export function watched<T>(
  { watch, processorMs, turns }: Pick<RoomHost, 'watch' | 'processorMs' | 'turns'>,
  { id, workspaceId }: WatchedRoom,
  bytes: number,
  work: () => T,
): T {
  const startedMs = processorMs()
  watch.begin({ room: id, connection: 0, join: 0, ordinal: 0, bytes })
  try {
    return work()
  } finally {
    watch.end()
    turns.charge(workspaceId, 0, processorMs() - startedMs)
  }
}

/** Work of a room that waits for the processor of its worker. */
export interface RoomTurn {
  readonly workspaceId: string
  readonly connection: number
  /** Processor time that it is expected to take. */
  readonly estimateMs: number
  /** Works until about `untilMs`, and asks again for what is left. */
  run(untilMs: number): void
}

/** Who may use the processor of a worker next; `turns.ts` decides. [WS-12, G9] */
export interface RoomTurns {
  ask(turn: RoomTurn): void
  /** Charges work done outside a turn; `connection` 0 is that of nobody in particular. */
  charge(workspaceId: string, connection: number, tookMs: number): void
  workspaceOwesMs(workspaceId: string): number
  connectionOwesMs(connection: number): number
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
  /** Processor time that this thread has had, in ms: what a step took of it does not grow with what else the machine does. */
  processorMs(): number
  readonly random: Random
  readonly log: Logger
  readonly watch: Watch
  readonly options: RoomOptions
  readonly turns: RoomTurns
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
  after(delayMs: number, work: () => void): () => void
  /** Calls `turnsEnded` when the turns that are taken now are over. */
  afterTurns(room: { turnsEnded(): void }): void
  /** Slots for loading documents that are not in memory. [C8] */
  readonly loads: LoadSlots
  /** Keys of documents whose stored state was taken as it is and then could not be decoded; they are decoded when they are loaded. [YDOC-11] */
  readonly undecodable: Set<number>
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

/**
 * At most `limit` loads, or tasks of the scratch thread, at once; of the others, those of the workspace that owes the least come first, and between
 * equals the oldest. [C8, G9]
 */
export class LoadSlots {
  private free: number
  private readonly owesMs: (workspaceId: string) => number
  private readonly waiting: { readonly workspaceId: string; readonly begin: () => void }[] = []

  constructor(limit: number, owesMs: (workspaceId: string) => number) {
    this.free = limit
    this.owesMs = owesMs
  }

  async run<T>(workspaceId: string, load: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--
    else await new Promise<void>((begin) => this.waiting.push({ workspaceId, begin }))
    try {
      return await load()
    } finally {
      const next = this.takeNext()
      if (next === undefined) this.free++
      else next.begin()
    }
  }

  private takeNext(): (typeof this.waiting)[number] | undefined {
    let best = 0
    for (let i = 1; i < this.waiting.length; i++) if (this.owes(i) < this.owes(best)) best = i
    return this.waiting.splice(best, 1)[0]
  }

  private owes(i: number): number {
    return this.owesMs(this.waiting[i]?.workspaceId ?? '')
  }
}
