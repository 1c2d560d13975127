import type { DocumentStore } from '../../documents/document-store.port.ts'
import { Beats } from '../../kernel/beats.ts'
import type { Clock } from '../../kernel/clock.ts'
import { ownThreadMs } from '../../kernel/processor-time.ts'
import { Pacer } from '../../kernel/pacer.ts'
import type { Random } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { RecoveryStore } from '../../recovery/recovery-store.port.ts'
import { UpdateGuard } from '../guard/guard.ts'
import { Room } from '../room/room.ts'
import {
  ClientIdBudget,
  LoadSlots,
  noWatch,
  ROOM_OPTIONS,
  type RoomHost,
  type RoomOptions,
  type Watch,
} from '../room/room-host.ts'
import { AppendQueue } from '../room/room-log.ts'
import { openScratchPool } from '../room/room-scratch.ts'
import type { UpdateLog } from '../update-log.port.ts'
import type { FromWorker, ToWorker } from '../worker-messages.ts'
import { TurnTaker } from './turn-taker.ts'

export interface DocumentWorkerOptions {
  readonly documents: DocumentStore
  readonly updates: UpdateLog
  readonly recovery: Pick<RecoveryStore, 'capture'>
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly log: Logger
  readonly watch?: Watch
  readonly rooms?: Partial<RoomOptions>
  /** Processor time of this thread; a test may give its own. */
  readonly processorMs?: () => number
  /** Runs what is left of the turns after other events were handled; `setImmediate` when absent. */
  readonly soon?: (work: () => void) => void
  /** Workers that share the processors, this one included; 1 when absent. */
  readonly workers?: number
  /** Gets the messages of one turn. */
  readonly post: (messages: readonly FromWorker[]) => void
}

const REPORT_MS = 500
/** How long a busy worker gathers what goes to the main thread. */
const POST_WIDEST_MS = 4
const LOADS_AT_ONCE = 2
/** Other workers are told of what a workspace used once it comes to this much. */
const TELL_SPENT_MS = 5

/**
 * Hosts the rooms of one worker: hands messages to them, gathers what they emit and append during a turn, and reports twice a second. [C2]
 * Knows no thread: `compose-worker.ts` puts it into one, tests run it as it is.
 */
export class DocumentWorker {
  private readonly rooms = new Map<number, Room>()
  private readonly host: RoomHost
  private readonly given: DocumentWorkerOptions
  private outgoing: FromWorker[] = []
  /** Something of it must not wait for the next beat. */
  private due = false
  private depth = 0
  private readonly turns: TurnTaker
  /** Running totals since the worker started. */
  private readonly counters: Record<string, number> = {}
  private appendSeconds: number[] = []
  private cancelReport: () => void
  private readonly posts: Pacer
  private draining: Promise<void> | null = null

  constructor(given: DocumentWorkerOptions) {
    this.given = given
    const { clock, timers } = given
    const options = { ...ROOM_OPTIONS, ...given.rooms }
    const queue = new AppendQueue({
      updates: given.updates,
      monotonicMs: () => clock.monotonicMs(),
      onSeconds: (seconds) => this.appendSeconds.push(seconds),
    })
    const processorMs = given.processorMs ?? ownThreadMs
    this.turns = new TurnTaker({
      clock,
      timers,
      processorMs,
      workers: given.workers ?? 1,
      soon: given.soon ?? setImmediate,
      isBetween: () => this.depth === 0,
      again: () => this.turn(() => undefined),
      flush: () => this.flush(),
    })
    const owesMs = (workspaceId: string): number => this.turns.workspaceOwesMs(workspaceId)
    this.host = {
      ...given,
      options,
      queue,
      guard: new UpdateGuard(),
      scratch: openScratchPool({
        slots: new LoadSlots(1, owesMs),
        clock,
        charge: (workspaceId, tookMs) => this.turns.charge(workspaceId, 0, tookMs),
      }),
      watch: given.watch ?? noWatch,
      processorMs,
      turns: this.turns,
      clientIds: new ClientIdBudget(),
      loads: new LoadSlots(LOADS_AT_ONCE, owesMs),
      undecodable: new Set(),
      beats: new Beats({ clock, timers, run: (work) => this.beat(work) }),
      emit: (message) => {
        this.outgoing.push(message)
        this.due = true
        if (this.depth === 0) this.turn(() => undefined)
      },
      emitByBeat: (message) => this.outgoing.push(message),
      count: (counter, by = 1) => {
        this.counters[counter] = (this.counters[counter] ?? 0) + by
      },
      turn: (work) => this.turn(work),
      after: (delayMs, work) => timers.after(delayMs, () => this.turn(work)),
      afterTurns: (room) => this.turns.afterTurns(room),
    }
    this.posts = new Pacer({ widestMs: POST_WIDEST_MS, clock, timers, run: () => this.postAll() })
    this.cancelReport = this.reportLater()
  }

  receive(batch: readonly ToWorker[]): void {
    this.turn(() => {
      for (const message of batch) this.handle(message)
    })
  }

  /** Runs `work`, then what waited for the end of the turn; what came out leaves with what comes out in the next moment of a busy worker. */
  private turn(work: () => void): void {
    this.depth++
    try {
      work()
      if (this.depth === 1) this.turns.take()
    } finally {
      this.depth--
    }
    if (this.depth === 0) this.flush()
  }

  private flush(): void {
    this.host.queue.flush()
    if (this.due) this.posts.request()
  }

  private beat(work: () => void): void {
    this.due ||= this.outgoing.length > 0
    this.turn(work)
  }

  private postAll(): void {
    this.tellSpent()
    const messages = this.outgoing
    this.outgoing = []
    this.due = false
    if (messages.length > 0) this.given.post(messages)
  }

  /** Smaller amounts are added up here and sent together, since each message costs time itself. */
  private tellSpent(): void {
    const spent = this.turns.takeSpent(TELL_SPENT_MS)
    if (spent.length > 0) this.outgoing.push({ kind: 'spent', workspaces: spent })
  }

  private handle(message: ToWorker): void {
    switch (message.kind) {
      case 'spent':
        this.turns.spentElsewhere(message.workspaces)
        return
      case 'open':
        this.open(message)
        return
      case 'drain':
        void this.drain().then(() => this.host.emit({ kind: 'drained' }))
        return
      default: {
        const room = this.rooms.get(message.room)
        if (room !== undefined) room.receive(message)
        else if (message.kind === 'job') {
          const outcome = { kind: 'failed', code: 'UNAVAILABLE', message: 'the document is not open' } as const
          this.host.emit({ kind: 'done', job: message.job, outcome })
        }
      }
    }
  }

  private open({ room: id, ref, key }: Extract<ToWorker, { kind: 'open' }>): void {
    const room = new Room({ host: this.host, id, ref, key, onClosed: () => this.rooms.delete(id) })
    this.rooms.set(id, room)
    void room.open()
  }

  /** Whether a room has a live document and not only bytes. */
  isLive(room: number): boolean {
    return this.rooms.get(room)?.isLive ?? false
  }

  /** Materialises and compacts every room. Resolves when all are done or have failed. [LIFE-28] */
  drain(): Promise<void> {
    this.draining ??= Promise.all([...this.rooms.values()].map((room) => room.drain())).then(() => {
      this.report()
      this.draining = null
    })
    return this.draining
  }

  private reportLater(): () => void {
    return this.given.timers.after(REPORT_MS, () => {
      this.report()
      this.cancelReport = this.reportLater()
    })
  }

  private report(): void {
    const now = this.host.clock.monotonicMs()
    this.turns.sweep()
    let cacheBytes = 0
    let oldestUnsavedMs = 0
    for (const room of this.rooms.values()) {
      cacheBytes += room.bytes()
      oldestUnsavedMs = Math.max(oldestUnsavedMs, room.unsavedMs(now))
    }
    const { appendSeconds } = this
    const counters = { ...this.counters }
    this.appendSeconds = []
    this.host.emit({ kind: 'report', cacheBytes, oldestUnsavedMs, counters, appendSeconds })
  }

  /** Forgets everything at once, storing nothing. */
  abandon(): void {
    this.cancelReport()
    for (const room of Array.from(this.rooms.values())) room.close({ kind: 'evicted' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain()
    this.abandon()
    await this.host.scratch[Symbol.asyncDispose]()
  }
}
