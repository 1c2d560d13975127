import type { DocumentStore } from '../../documents/document-store.port.ts'
import type { Beats } from '../../kernel/beats.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Random } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import { SCHEDULE } from '../../kernel/schedule.ts'
import type { RecoveryStore } from '../../recovery/recovery-store.port.ts'
import type { UpdateGuard } from '../guard/guard.ts'
import type { RoomBounds } from './room-bounds.ts'
import type { AppendQueue } from './room-log.ts'
import type { ScratchPool } from './room-scratch.ts'
import type { UpdateLog } from '../update-log.port.ts'
import type { FromWorker } from '../worker-messages.ts'

/** Times and limits of rooms, which tests shorten. */
export interface RoomOptions {
  /** Materialise this long after the last edit, and at the latest this long after the first edit that the body lacks. [LIFE-10] */
  readonly saveIdleMs: number
  readonly saveLatestMs: number
  /** Compact when the log tail has this many records or bytes. [LIFE-7] */
  readonly compactRecords: number
  readonly compactBytes: number
  /** Longest window in which a busy room gathers edits. */
  readonly windowMs: number
  /** Size limit that counts for `relay_doc_over_cap_snapshots_total` before the first edit; `null`: unlimited. [LIFE-16] */
  readonly maxDocBytes: number | null
  /** A write that may take longer than this is applied in pieces. [G9] */
  readonly cutMs: number
  /** A connection is closed with 1013 when its debt plus the estimated time of its waiting messages exceeds this processor time. [WS-12] */
  readonly debtMs: number
  /** Messages above this size are first tried on a copy of the document. [G10] */
  readonly trialBytes: number
  /** How long a room works before others have their turn, in ms. [WS-12] */
  readonly sliceMs: number
  /** Bounds on the document of a room and on its calls; `null`: none. [C1, C8] */
  readonly bounds: RoomBounds | null
}

export const ROOM_OPTIONS: RoomOptions = {
  saveIdleMs: 2_000,
  saveLatestMs: 10_000,
  compactRecords: 500,
  compactBytes: 1024 * 1024,
  windowMs: SCHEDULE.windowMs,
  maxDocBytes: null,
  cutMs: 8,
  debtMs: 5_000,
  trialBytes: 1024 * 1024,
  sliceMs: SCHEDULE.workerSliceMs,
  bounds: null,
}

/** Reports to the watchdog which operation runs, so that it can distinguish an endless operation from a busy thread. [C5] */
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

/** The document's workspace, and the number by which the watchdog knows the room. */
export interface WatchedRoom {
  readonly id: number
  readonly workspaceId: string
}

/** Runs work on a whole document of about `bytes` under the watchdog and charges its processor time to the workspace. [C5, G9] */
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

/** Work of a room that waits for processor time of its worker. */
export interface RoomTurn {
  readonly workspaceId: string
  readonly connection: number
  /** Processor time that the work is expected to take, in ms. */
  readonly estimateMs: number
  /** Works until about `untilMs`, and asks for another turn when work is left. */
  run(untilMs: number): void
}

/** Schedules the turns of the rooms of one worker; implemented in `turns.ts`. [WS-12, G9] */
export interface RoomTurns {
  ask(turn: RoomTurn): void
  /** Charges work that was done outside a turn. `connection` 0 means no particular connection. */
  charge(workspaceId: string, connection: number, tookMs: number): void
  workspaceOwesMs(workspaceId: string): number
  /** Whether a workspace owes so much that the work of others comes first; false while no other workspace works. */
  isInDebt(workspaceId: string): boolean
  connectionOwesMs(connection: number): number
}

/** PUTs and tool calls, which wait for a turn while their workspace is in debt. [WS-12] */
export interface RoomCalls {
  /** `busy`: the turn did not come in time, and nothing was done. */
  run<T>(workspaceId: string, call: () => Promise<T>): Promise<T | 'busy'>
}

/** What a home, the main loop or a document worker, provides to its rooms. */
export interface RoomHost {
  readonly documents: DocumentStore
  readonly updates: UpdateLog
  readonly recovery: Pick<RecoveryStore, 'capture'>
  readonly queue: AppendQueue
  readonly guard: UpdateGuard
  readonly scratch: ScratchPool
  readonly clock: Clock
  /** Processor time that this thread has used, in ms. Unlike elapsed time it does not grow when the machine is busy with something else. */
  processorMs(): number
  readonly random: Random
  readonly log: Logger
  readonly watch: Watch
  readonly options: RoomOptions
  readonly turns: RoomTurns
  readonly calls: RoomCalls
  readonly clientIds: ClientIdBudget
  /** Timer that ends the windows of several rooms at the same moment. */
  readonly beats: Beats
  /** Queues a message for the gateway; it is sent when this turn flushes. */
  emit(message: FromWorker): void
  count(counter: string, by?: number): void
  /** Runs `work` as a turn of its own and flushes what it emitted. */
  turn(work: () => void): void
  /** Runs `work` as a turn of its own after `delayMs`. Returns a function that cancels it. The timer does not keep the process alive. */
  after(delayMs: number, work: () => void): () => void
  /** Resolves once events that have arrived, such as edits of other documents, are handled. Long work calls this between its steps. */
  letOthers(): Promise<void>
  /** Calls `turnsEnded` after the current round of turns. */
  afterTurns(room: { turnsEnded(): void }): void
  /** Slots for loading documents that are not in memory. [C8] */
  readonly loads: LoadSlots
  /** Keys of documents whose stored state was served undecoded and later failed to decode. Their next load decodes it first. [YDOC-11] */
  readonly undecodable: Set<number>
}

const CLIENT_IDS = 65_536
const CLIENT_IDS_PER_MS = 8_192 / 3_600_000

/** Limits the rate at which client ids new to a room appear, per workspace. [G4] */
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
 * Runs at most `limit` loads or scratch tasks at once. A waiting task of the workspace that owes the least processor time goes first; among
 * equals, the task that has waited longest. [C8, G9]
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
