import { setImmediate } from 'node:timers'
import { type MessagePort, Worker } from 'node:worker_threads'
import type { DocumentRef } from '../../documents/document-store.port.ts'
import { type Clock, systemClock } from '../../kernel/clock.ts'
import { systemTimers, type Timers } from '../../kernel/timers.ts'
import type { Logger } from '../../kernel/log.ts'
import { Pacer } from '../../kernel/pacer.ts'
import { SCHEDULE } from '../../kernel/schedule.ts'
import { threadCpuMs } from '../../kernel/processor-time.ts'
import { type Batch, unpackFromWorker } from './document-batch.ts'
import { HeavyDocuments, Quarantine } from './document-quarantine.ts'
import type { RoomOptions } from '../room/room-host.ts'
import { Turns } from '../turns.ts'
import { LeavingRooms } from './leaving-rooms.ts'
import { MisplacedRooms } from './misplaced-rooms.ts'
import { type Running, Watchdog, watchedMemory } from './watchdog.ts'
import { emptySlot, flushSlot, hasRested, noteShare, type WorkerSlot } from './worker-slot.ts'
import { YoungHeap } from './young-heap.ts'
import type { FromWorker, ToWorker } from '../worker-messages.ts'
import type { MoveReason, WorkerPool } from '../worker-pool.port.ts'

export interface DocumentWorkersOptions {
  readonly rooms?: Partial<RoomOptions>
  /** How many workers start at once; all when absent. Another worker starts when all running workers are busy. */
  readonly first?: number
  /** The heap limit of one worker in MiB. A worker that exceeds it ends and is replaced, as a stuck worker is. [C8] */
  readonly heapMiB?: number
  readonly clock?: Clock
  readonly timers?: Timers
}

/** Passed to the entry module of a worker thread. */
export interface WorkerStart {
  readonly storage: MessagePort
  readonly memory: SharedArrayBuffer
  readonly rooms: Partial<RoomOptions>
  /** Number of workers that share the processors. */
  readonly workers: number
}

/** A log line that a worker thread sends. */
export type WorkerLine = {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly event: string
  readonly msg: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** The document workers. Each is a home in its own thread, and their numbers start at 0. [C2, C5, C6] */
export interface DocumentWorkers extends WorkerPool, AsyncDisposable {
  /**
   * The largest number of workers that share the rooms. There is one more worker for documents that recently ended a worker, and one
   * for heavy documents.
   */
  readonly count: number
  homeFor(ref?: DocumentRef, sizeBytes?: number): number
  /** Returns whether a document must be kept in a separate worker, because it ended a worker or is heavy. */
  isApart(ref: DocumentRef, sizeBytes: number): boolean
  /** `running` is the operation during which the worker ran out of time or memory, or crashed. Its update is not in the log. [C6] */
  onEnded(listener: (worker: number, running: Running | null) => void): void
  /** Tells all workers how much processor time workspaces have used in other homes. [G9] */
  spentElsewhere(workspaces: readonly (readonly [string, number])[]): void
}

/** The interval of the watchdog's checks. It adds up to this much to the time for which a stuck worker blocks its other documents. */
const LOOK_MS = 50
/** The interval of the checks while no worker has a document. It is longer because each check wakes the processor. */
const RESTING_LOOK_MS = 1_000
/** A worker that had rooms is ended when it has had none for this long. A room itself stays for 30 s after the last person has left. */
const REST_MS = 10_000
/** A worker that works for this share of its time counts as busy. When all running workers are busy, another one starts. */
const BUSY_SHARE = 0.6
const HEAP_MIB = 1024
const DRAIN_MS = 10_000
const EARLY_MS = 1_000
const LONGEST_PAUSE_MS = 5_000
const ENTRY = new URL('../../compose-worker.ts', import.meta.url)

/**
 * Starts the first of at most `count` workers; the others start when all running workers are busy. Two more start when they are needed:
 * one for documents that recently ended a worker, and one for heavy documents. A worker that is stuck or ends is replaced at once. If it
 * fails right after its start, the delay before the next start grows. A thread keeps the memory of the largest documents that it had, so
 * a thread whose rooms are all closed is ended after `REST_MS`.
 */
export function openDocumentWorkers(given: {
  readonly count: number
  readonly storagePort: () => MessagePort
  readonly log: Logger
  readonly options: DocumentWorkersOptions
}): DocumentWorkers {
  return new Workers(given)
}

class Workers implements DocumentWorkers {
  readonly count: number
  private readonly given: Parameters<typeof openDocumentWorkers>[0]
  private readonly clock: Clock
  private readonly slots: WorkerSlot[] = []
  private readonly quarantine = new Quarantine(() => this.clock.monotonicMs())
  private readonly heavy = new HeavyDocuments()
  private readonly youngHeap = new YoungHeap()
  private readonly documents = new Map<number, DocumentRef>()
  /** The processor time that workspaces have used in all workers. A worker gets these amounts when it starts. */
  private readonly spent = new Turns<never>()
  private readonly leaving = new LeavingRooms()
  /** Heavy rooms in workers for small documents. */
  private readonly misplaced = new MisplacedRooms()
  /** How many of the `count` workers run: the first workers, and workers that were started because all others were busy. */
  private started: number
  private readonly first: number
  private readonly messageListeners: ((worker: number, message: FromWorker) => void)[] = []
  private readonly endListeners: ((worker: number, running: Running | null) => void)[] = []
  private readonly timers: Timers
  private cancelLook: () => void
  private isResting = false
  private flushing = false
  private posted = 0
  private readonly posts: Pacer
  private closed = false

  constructor(given: Parameters<typeof openDocumentWorkers>[0]) {
    this.clock = given.options.clock ?? systemClock
    this.timers = given.options.timers ?? systemTimers
    this.given = given
    this.count = given.count
    this.first = Math.min(given.count, given.options.first ?? given.count)
    this.started = this.first
    this.posts = new Pacer({ widestMs: SCHEDULE.toWorkerMs, clock: this.clock, timers: this.timers, run: () => this.flushAll() })
    for (let worker = 0; worker <= this.heavyWorker; worker++) {
      this.slots.push(emptySlot())
      // The other workers start when they are needed.
      if (worker < this.started) this.start(worker)
    }
    this.cancelLook = this.lookLater()
  }

  private lookLater(): () => void {
    this.isResting = this.slots.every(({ rooms }) => rooms.size === 0)
    return this.timers.after(this.isResting ? RESTING_LOOK_MS : LOOK_MS, () => {
      this.cancelLook = this.lookLater()
      this.watch()
    })
  }

  private start(worker: number): void {
    if (this.closed) return
    const slot = this.slots[worker] as WorkerSlot
    const memory = watchedMemory()
    const storage = this.given.storagePort()
    const { rooms = {}, heapMiB = HEAP_MIB } = this.given.options
    const workerData: WorkerStart = { storage, memory, rooms, workers: this.count }
    const resourceLimits = { maxOldGenerationSizeMb: worker === this.heavyWorker ? 2 * heapMiB : heapMiB }
    const name = `documents-${worker}`
    const thread = this.youngHeap.start(() => new Worker(ENTRY, { workerData, transferList: [storage], resourceLimits, name }))
    slot.thread = thread
    slot.watchdog = new Watchdog(memory)
    slot.ending = false
    slot.startedMs = this.clock.monotonicMs()
    slot.lastRoomMs = null
    slot.share = 0
    slot.utilization = undefined
    thread.on('message', (message: Batch<FromWorker> | WorkerLine) => this.received(worker, message))
    thread.on('error', (error) =>
      this.given.log.error('worker.error', 'A document worker failed.', { worker, error: String(error) }),
    )
    thread.on('exit', () => this.ended(worker, thread))
    thread.unref()
    const debts = this.spent.workspaceDebts(this.clock.monotonicMs())
    if (debts.length > 0) slot.queue.unshift({ kind: 'spent', workspaces: debts })
    flushSlot(slot)
  }

  private received(worker: number, message: Batch<FromWorker> | WorkerLine): void {
    if ('level' in message) {
      this.given.log[message.level](message.event, message.msg, { ...message.fields, worker })
      return
    }
    const slot = this.slots[worker] as WorkerSlot
    for (const one of unpackFromWorker(message)) {
      this.heard(slot, one)
      for (const listener of this.messageListeners) listener(worker, one)
    }
  }

  private watch(): void {
    const now = this.clock.monotonicMs()
    this.misplaced.askOne(now)
    this.startWhenBusy()
    this.slots.forEach((slot, worker) => {
      if (hasRested(slot, now, REST_MS)) return this.endRested(slot, worker)
      const { thread, watchdog } = slot
      if (thread === null || slot.ending) return
      noteShare(slot, thread)
      const stuck = watchdog.overdue(now)
      if (stuck === null) {
        void watchdog.measure(() => threadCpuMs(thread))
        return
      }
      slot.ending = true
      this.given.log.error('worker.stuck', 'A document worker did not answer in time and is ended.', {
        worker,
        room: stuck.room,
        bytes: stuck.bytes,
      })
      void thread.terminate()
    })
  }

  /** Starts one more worker when all running workers are busy. Open rooms stay where they are. */
  private startWhenBusy(): void {
    const isIdle = ({ share, rooms }: WorkerSlot): boolean => share < BUSY_SHARE || rooms.size === 0
    if (this.started === this.count || this.slots.slice(0, this.started).some(isIdle)) return
    this.start(this.started++)
  }

  /** Ends a thread that has no rooms. One of the first workers starts again at once, any other worker when it is needed. */
  private endRested(slot: WorkerSlot, worker: number): void {
    void slot.thread?.terminate()
    slot.thread = null
    slot.failedStarts = 0
    if (worker < this.first) this.start(worker)
    while (this.started > this.first && this.slots[this.started - 1]?.thread === null) this.started--
  }

  private ended(worker: number, thread: Worker): void {
    const slot = this.slots[worker] as WorkerSlot
    if (slot.thread !== thread || this.closed) return
    const running = slot.watchdog.running()
    slot.thread = null
    slot.queue = []
    for (const room of slot.rooms) this.misplaced.delete(room)
    slot.rooms.clear()
    slot.onDrained?.()
    const document = running === null ? undefined : this.documents.get(running.room)
    if (document !== undefined) this.quarantine.note(document)
    const early = this.clock.monotonicMs() - slot.startedMs < EARLY_MS && running === null
    slot.failedStarts = early ? slot.failedStarts + 1 : 0
    if (early) this.timers.after(Math.min(LONGEST_PAUSE_MS, 50 * 2 ** slot.failedStarts), () => this.start(worker))
    else this.start(worker)
    for (const listener of this.endListeners) listener(worker, running)
  }

  /** The number of the worker for heavy documents. It follows the number of the worker for quarantined documents, which is `count`. */
  private get heavyWorker(): number {
    return this.count + 1
  }

  isApart(ref: DocumentRef, sizeBytes: number): boolean {
    return this.quarantine.holds(ref) || this.heavy.holds(ref, sizeBytes)
  }

  homeFor(ref?: DocumentRef, sizeBytes = 0): number {
    if (ref !== undefined && this.quarantine.holds(ref)) return this.count
    if (ref !== undefined && this.heavy.holds(ref, sizeBytes)) return this.heavyWorker
    let best = 0
    for (let worker = 1; worker < this.started; worker++) if (this.load(worker) < this.load(best)) best = worker
    return best
  }

  keepApart(ref: DocumentRef): void {
    this.quarantine.keep(ref)
  }

  takes(): boolean {
    return true
  }

  private load(worker: number): number {
    const slot = this.slots[worker] as WorkerSlot
    return slot.rooms.size + slot.busy.at(this.clock.monotonicMs())
  }

  post(worker: number, message: ToWorker): void {
    const slot = this.slots[worker] as WorkerSlot
    this.note(slot, message)
    if (this.isResting) {
      this.cancelLook()
      this.cancelLook = this.lookLater()
    }
    slot.queue.push(message)
    slot.busy.add(1, this.clock.monotonicMs())
    if (slot.thread === null && slot.failedStarts === 0) this.start(worker)
    this.posted++
    if (this.flushing) return
    this.flushing = true
    // Runs after all socket input of this round of the event loop.
    setImmediate(() => {
      this.flushing = false
      this.posts.request(this.posted)
      this.posted = 0
    })
  }

  private flushAll(): void {
    for (const slot of this.slots) flushSlot(slot)
  }

  private note(slot: WorkerSlot, message: ToWorker): void {
    if (message.kind === 'open') {
      slot.rooms.add(message.room)
      this.documents.set(message.room, message.ref)
    } else if (message.kind === 'job' && message.task.kind === 'drop') this.forget(slot, message.room)
    else if (message.kind === 'job') this.leaving.sent(message)
  }

  /** Updates the data about a worker's rooms by a message that the worker sent. */
  private heard(slot: WorkerSlot, message: FromWorker): void {
    switch (message.kind) {
      case 'opened':
        slot.failedStarts = 0
        if (message.outcome === 'opened') this.noteWeight(slot, message.room, message.heavy ?? false)
        else this.forget(slot, message.room)
        return
      case 'reset':
      case 'reload':
      case 'fenced':
        this.forget(slot, message.room)
        return
      case 'done': {
        const closed = this.leaving.closedBy(message)
        if (closed !== null) this.forget(slot, closed)
        return
      }
      case 'heavy':
        this.noteWeight(slot, message.room, true)
        return
      case 'spent':
        this.tellSpent(slot, message.workspaces)
        return
      case 'report':
        if (message.rooms > 0) slot.lastRoomMs = this.clock.monotonicMs()
        return
      case 'drained':
        slot.onDrained?.()
    }
  }

  /** Reports processor time that workspaces used in one home to all other workers. [G9] */
  private tellSpent(from: WorkerSlot | null, workspaces: readonly (readonly [string, number])[]): void {
    const nowMs = this.clock.monotonicMs()
    this.spent.spentElsewhere(workspaces, nowMs)
    this.spent.sweep(nowMs)
    for (const slot of this.slots) if (slot !== from && slot.thread !== null) slot.queue.push({ kind: 'spent', workspaces })
    this.flushAll()
  }

  spentElsewhere(workspaces: readonly (readonly [string, number])[]): void {
    this.tellSpent(null, workspaces)
  }

  private noteWeight(slot: WorkerSlot, room: number, heavy: boolean): void {
    const document = this.documents.get(room)
    if (document === undefined) return
    this.heavy.note(document, heavy)
    if (heavy && this.slots.indexOf(slot) < this.count) this.misplaced.add(room)
  }

  private forget(slot: WorkerSlot, room: number): void {
    // A room that has moved is already in another slot.
    if (!slot.rooms.delete(room)) return
    slot.lastRoomMs = this.clock.monotonicMs()
    this.misplaced.delete(room)
    this.documents.delete(room)
  }

  onMessage(listener: (worker: number, message: FromWorker) => void): void {
    this.messageListeners.push(listener)
  }

  onMisplaced(listener: (room: number, reason: MoveReason) => void): void {
    this.misplaced.onMove((room) => listener(room, 'may'))
  }

  onEnded(listener: (worker: number, running: Running | null) => void): void {
    this.endListeners.push(listener)
  }

  /** Lets every worker materialise and compact its rooms, then terminates it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.slots.map((slot, worker) => this.drain(slot, worker)))
    this.closed = true
    this.cancelLook()
    await Promise.all(this.slots.flatMap(({ thread }) => (thread === null ? [] : [thread.terminate()])))
  }

  private drain(slot: WorkerSlot, worker: number): Promise<void> {
    if (slot.thread === null) return Promise.resolve()
    slot.thread.ref()
    return new Promise((resolve) => {
      const cancel = this.timers.after(DRAIN_MS, resolve)
      slot.onDrained = () => {
        cancel()
        resolve()
      }
      this.post(worker, { kind: 'drain' })
    })
  }
}
