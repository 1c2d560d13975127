import type { DocumentStore } from '../../documents/document-store.port.ts'
import { Beats } from '../../kernel/beats.ts'
import type { Clock } from '../../kernel/clock.ts'
import { ownThreadMs } from '../../kernel/processor-time.ts'
import { Pacer } from '../../kernel/pacer.ts'
import type { Random } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import { SCHEDULE, storeGapMs } from '../../kernel/schedule.ts'
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
import { CallTurns } from './call-turns.ts'
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
  /** Processor time of this thread in ms; tests pass their own. */
  readonly processorMs?: () => number
  /** Schedules the remaining turns after other events have been handled; `setImmediate` when absent. */
  readonly soon?: (work: () => void) => void
  /** The number of workers that share the processors, including this one; 1 when absent. */
  readonly workers?: number
  /** The longest time for which a busy home gathers messages and appends; `THREAD_PACE` when absent. */
  readonly pace?: Pace
  /** Timers for gathered appends. These timers may keep the process alive, because somebody waits for each append; `timers` do not. */
  readonly appendTimers?: Timers
  /** How many documents may be loaded at once; 2 when absent. [C8] */
  readonly loadsAtOnce?: number
  /** Receives the messages of one turn. */
  readonly post: (messages: readonly FromWorker[]) => void
}

export interface Pace {
  readonly toMainMs: number
  readonly toStoreMs: number
}

const REPORT_MS = 500
/**
 * Messages to the main thread are gathered, because each message wakes that thread. Appends leave at once, because the main thread has
 * already gathered the edits.
 */
const THREAD_PACE: Pace = { toMainMs: SCHEDULE.toGatewayMs, toStoreMs: 0 }
const LOADS_AT_ONCE = 2

/**
 * Hosts the rooms of one home, which is a worker thread or the main loop. It passes messages to the rooms, gathers their messages and
 * appends during a turn, and sends statistics twice a second. [C2] It does not depend on threads: `compose-worker.ts` runs it in a worker
 * thread, `LightHome` on the main loop, and tests run it directly.
 */
export class DocumentWorker {
  private readonly rooms = new Map<number, Room>()
  private readonly host: RoomHost
  private readonly given: DocumentWorkerOptions
  private outgoing: FromWorker[] = []
  /** True while `outgoing` has messages that wait to be sent. */
  private due = false
  private depth = 0
  private readonly turns: TurnTaker
  /** Running totals since the worker started. */
  private readonly counters: Record<string, number> = {}
  private appendSeconds: number[] = []
  /** Is `null` while the home has no rooms and nothing to report, because each report wakes two threads. */
  private cancelReport: (() => void) | null = null
  private readonly posts: Pacer
  private readonly appends: Pacer
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
    const soon = given.soon ?? setImmediate
    this.turns = new TurnTaker({
      clock,
      timers,
      processorMs,
      workers: given.workers ?? 1,
      sliceMs: options.sliceMs,
      soon,
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
        ...(options.bounds === null ? {} : { hereBytes: Number.POSITIVE_INFINITY }),
      }),
      watch: given.watch ?? noWatch,
      processorMs,
      turns: this.turns,
      calls: new CallTurns({ turns: this.turns, timers }),
      clientIds: new ClientIdBudget(),
      loads: new LoadSlots(given.loadsAtOnce ?? LOADS_AT_ONCE, owesMs),
      undecodable: new Set(),
      beats: new Beats({ clock, timers, run: (work) => this.beat(work) }),
      emit: (message) => {
        this.outgoing.push(message)
        this.due = true
        if (this.depth === 0) this.turn(() => undefined)
      },
      count: (counter, by = 1) => {
        this.counters[counter] = (this.counters[counter] ?? 0) + by
      },
      turn: (work) => this.turn(work),
      after: (delayMs, work) => timers.after(delayMs, () => this.turn(work)),
      // `soon` is called twice, because its first callback still runs before the events that arrived during the work so far.
      letOthers: () => new Promise((resolve) => soon(() => soon(resolve))),
      afterTurns: (room) => this.turns.afterTurns(room),
    }
    const { toMainMs, toStoreMs } = given.pace ?? THREAD_PACE
    this.posts = new Pacer({ widestMs: toMainMs, clock, timers, run: () => this.postAll() })
    this.appends = new Pacer({
      widestMs: toStoreMs,
      gap: storeGapMs,
      clock,
      timers: given.appendTimers ?? timers,
      run: () => queue.flush(),
    })
  }

  /** Handles messages until `untilMs` of the monotonic clock, but at least one, and returns how many it has handled. */
  receive(batch: readonly ToWorker[], untilMs = Number.POSITIVE_INFINITY): number {
    let handled = 0
    this.cancelReport ??= this.reportLater()
    this.turn(() => {
      for (const message of batch) {
        if (handled > 0 && untilMs !== Number.POSITIVE_INFINITY && this.given.clock.monotonicMs() >= untilMs) return
        handled++
        this.handle(message)
      }
    })
    return handled
  }

  /**
   * Runs `work` and then waiting turns. At the end of the outermost turn it requests that appends and messages are sent. A busy worker
   * sends them a little later, in order to gather more.
   */
  private turn(work: () => void): void {
    this.depth++
    try {
      work()
      if (this.depth === 1) this.turns.take()
    } catch (error) {
      this.escaped(error)
    } finally {
      this.depth--
    }
    if (this.depth === 0) this.flush()
  }

  /**
   * Handles an exception that no room has caught. Its room is not known. In a thread the exception ends the document worker, and the
   * rooms are loaded again in the next worker. On the main loop all light rooms are reset. [C6, C10]
   */
  private escaped(error: unknown): void {
    if (this.host.options.bounds === null) throw error
    for (const room of Array.from(this.rooms.values())) room.failed(error)
  }

  private flush(): void {
    const records = this.host.queue.takeNew()
    if (records > 0) this.appends.request(records)
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

  /** Reports the processor time that workspaces have used to the other workers. [G9] */
  private tellSpent(): void {
    const spent = this.turns.takeSpent()
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
      case 'give-up':
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

  private open({ room: id, ...opening }: Extract<ToWorker, { kind: 'open' }>): void {
    // When a room is dropped and opened again, the old room may close after the new one has opened.
    const onClosed = (): void => {
      if (this.rooms.get(id) === room) this.rooms.delete(id)
    }
    const room = new Room({ ...opening, host: this.host, id, onClosed })
    this.rooms.set(id, room)
    void room.open()
  }

  /** Whether a room holds a Y.Doc and not only bytes. */
  isLive(room: number): boolean {
    return this.rooms.get(room)?.isLive ?? false
  }

  /** Materialises and compacts every room. Resolves when each room is done or has failed. [LIFE-28] */
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
      this.cancelReport = this.rooms.size > 0 ? this.reportLater() : null
    })
  }

  private report(): void {
    const now = this.host.clock.monotonicMs()
    this.turns.sweep()
    let cacheBytes = 0
    let oldestUnsavedMs = 0
    const roomBytes = new Float64Array(2 * this.rooms.size)
    let at = 0
    for (const [number, room] of this.rooms) {
      const bytes = room.bytes()
      roomBytes[at++] = number
      roomBytes[at++] = bytes
      cacheBytes += bytes
      oldestUnsavedMs = Math.max(oldestUnsavedMs, room.unsavedMs(now))
    }
    const { appendSeconds } = this
    const counters = { ...this.counters }
    this.appendSeconds = []
    const { size: rooms } = this.rooms
    this.host.emit({ kind: 'report', rooms, cacheBytes, roomBytes, oldestUnsavedMs, counters, appendSeconds })
  }

  /** Discards all rooms at once without storing anything. */
  abandon(): void {
    this.cancelReport?.()
    this.cancelReport = null
    for (const room of Array.from(this.rooms.values())) room.close({ kind: 'evicted' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain()
    this.abandon()
    await this.host.scratch[Symbol.asyncDispose]()
  }
}
