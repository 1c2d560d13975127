import type { DocumentStore } from '../../documents/document-store.port.ts'
import { Beats } from '../../kernel/beats.ts'
import type { Clock } from '../../kernel/clock.ts'
import { Pacer } from '../../kernel/pacer.ts'
import type { Random } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import type { RecoveryStore } from '../../recovery/recovery-store.port.ts'
import { UpdateGuard } from '../guard/guard.ts'
import { Room } from '../room/room.ts'
import {
  ClientIdBudget,
  CpuBudget,
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

export interface DocumentWorkerOptions {
  readonly documents: DocumentStore
  readonly updates: UpdateLog
  readonly recovery: Pick<RecoveryStore, 'capture'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly watch?: Watch
  readonly rooms?: Partial<RoomOptions>
  /** Gets the messages of one turn. */
  readonly post: (messages: readonly FromWorker[]) => void
}

const REPORT_MS = 500
/** How long a busy worker gathers what goes to the main thread. */
const POST_WIDEST_MS = 4
const LOADS_AT_ONCE = 2

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
  private readonly turning = new Set<{ flushTurn(): void }>()
  /** Running totals since the worker started. */
  private readonly counters: Record<string, number> = {}
  private appendSeconds: number[] = []
  private readonly reportTimer: NodeJS.Timeout
  private readonly posts: Pacer
  private draining: Promise<void> | null = null

  constructor(given: DocumentWorkerOptions) {
    this.given = given
    const { clock } = given
    const options = { ...ROOM_OPTIONS, ...given.rooms }
    const queue = new AppendQueue({
      updates: given.updates,
      monotonicMs: () => clock.monotonicMs(),
      onSeconds: (seconds) => this.appendSeconds.push(seconds),
    })
    this.host = {
      ...given,
      options,
      queue,
      guard: new UpdateGuard(),
      scratch: openScratchPool(),
      watch: given.watch ?? noWatch,
      cpu: new CpuBudget(options),
      clientIds: new ClientIdBudget(),
      loads: new LoadSlots(LOADS_AT_ONCE),
      undecodable: new Set(),
      beats: new Beats({ clock, run: (work) => this.beat(work) }),
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
      after: (delayMs, work) => setTimeout(() => this.turn(work), delayMs).unref(),
      atTurnEnd: (room) => this.turning.add(room),
    }
    this.posts = new Pacer({ widestMs: POST_WIDEST_MS, clock, run: () => this.postAll() })
    this.reportTimer = setInterval(() => this.report(), REPORT_MS).unref()
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
      if (this.depth === 1) {
        for (const room of this.turning) room.flushTurn()
        this.turning.clear()
      }
    } finally {
      this.depth--
    }
    if (this.depth > 0) return
    this.host.queue.flush()
    if (this.due) this.posts.request()
  }

  private beat(work: () => void): void {
    this.due ||= this.outgoing.length > 0
    this.turn(work)
  }

  private postAll(): void {
    const messages = this.outgoing
    this.outgoing = []
    this.due = false
    if (messages.length > 0) this.given.post(messages)
  }

  private handle(message: ToWorker): void {
    switch (message.kind) {
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

  private report(): void {
    const now = this.host.clock.monotonicMs()
    this.host.cpu.sweep(now)
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
    clearInterval(this.reportTimer)
    for (const room of Array.from(this.rooms.values())) room.close({ kind: 'evicted' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain()
    this.abandon()
    await this.host.scratch[Symbol.asyncDispose]()
  }
}
