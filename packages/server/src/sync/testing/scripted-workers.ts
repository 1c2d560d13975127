import { readSync, syncFrame } from '@docrelay/protocol/codec'
import type { EndedRun, MoveReason, WorkerPool } from '../worker-pool.port.ts'
import type { FromWorker, TaskOutcome, ToWorker } from '../worker-messages.ts'

/**
 * Document workers that do only as much as a test of the main thread needs. Loads succeed. A JOIN is answered with a step1, and a step1 with a
 * step2. Every write is broadcast and settled unchanged. A test changes this by the members below, or emits messages itself.
 */
export class ScriptedWorkers implements WorkerPool {
  readonly posted: ToWorker[] = []
  /** The worker of each `open`. */
  readonly openedIn: number[] = []
  openOutcome: 'opened' | 'gone' | 'unavailable' | 'hang' = 'opened'
  settles = true
  broadcasts = true
  readonly jobs = new Map<string, TaskOutcome | 'hang'>([
    ['evict', { kind: 'evicted' }],
    ['drop', { kind: 'evicted' }],
    ['settle', { kind: 'settled', version: 1 }],
    ['body-changed', { kind: 'settled', version: 1 }],
  ])
  #listener: (worker: number, message: FromWorker) => void = () => {}
  #ended: (worker: number, running: EndedRun | null) => void = () => {}
  #misplaced: (room: number, reason: MoveReason) => void = () => {}
  /** The worker of the next room. */
  best = 0

  /** A longer SYNC message makes its room move. */
  takesBytes = Number.POSITIVE_INFINITY

  homeFor(): number {
    return this.best
  }

  keepApart(): void {}

  takes(_home: number, message: ToWorker): boolean {
    return message.kind !== 'sync' || message.payload.length <= this.takesBytes
  }

  onMessage(listener: (worker: number, message: FromWorker) => void): void {
    this.#listener = listener
  }

  onEnded(listener: (worker: number, running: EndedRun | null) => void): void {
    this.#ended = listener
  }

  onMisplaced(listener: (room: number, reason: MoveReason) => void): void {
    this.#misplaced = listener
  }

  misplace(room: number, reason: MoveReason = 'may'): void {
    this.#misplaced(room, reason)
  }

  emit(message: FromWorker): void {
    this.#listener(0, message)
  }

  end(running: EndedRun | null): void {
    this.#ended(0, running)
  }

  post(worker: number, message: ToWorker): void {
    if (message.kind === 'open') this.openedIn.push(worker)
    this.posted.push(structuredClone(message))
    setImmediate(() => this.#answer(message))
  }

  of<K extends ToWorker['kind']>(kind: K): Extract<ToWorker, { kind: K }>[] {
    return this.posted.filter((message): message is Extract<ToWorker, { kind: K }> => message.kind === kind)
  }

  #answer(message: ToWorker): void {
    switch (message.kind) {
      case 'open':
        if (this.openOutcome !== 'hang') this.emit({ kind: 'opened', room: message.room, outcome: this.openOutcome })
        return
      case 'join':
        return this.emit({
          kind: 'direct',
          connection: message.connection,
          join: message.join,
          frames: [syncFrame(0, Uint8Array.of(0))],
        })
      case 'sync':
        return this.#sync(message)
      case 'job': {
        const outcome = this.jobs.get(message.task.kind)
        if (outcome !== undefined && outcome !== 'hang') this.emit({ kind: 'done', job: message.job, outcome })
      }
    }
  }

  #sync(message: Extract<ToWorker, { kind: 'sync' }>): void {
    const read = readSync(message.payload)
    if (read === null) return
    const { room, connection, join, ordinal } = message
    if (read.subType === 0) return this.emit({ kind: 'direct', connection, join, frames: [syncFrame(1, Uint8Array.of(0, 0))] })
    if (this.broadcasts) this.emit({ kind: 'updates', room, updates: [read.payload], senders: [connection] })
    if (this.settles) this.emit({ kind: 'settled', connection, join, ordinal })
  }
}
