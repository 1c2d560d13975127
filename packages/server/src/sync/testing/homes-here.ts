import { setImmediate } from 'node:timers'
import { systemClock } from '../../kernel/clock.ts'
import { systemRandom } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/log.ts'
import { systemTimers } from '../../kernel/timers.ts'
import { DocumentWorker, type DocumentWorkerOptions } from '../workers/document-worker.ts'
import type { DocumentRef } from '../../documents/document-store.port.ts'
import type { FromWorker, ToWorker } from '../worker-messages.ts'
import type { EndedRun, MoveReason, WorkerPool } from '../worker-pool.port.ts'

/**
 * Two homes with real rooms in this thread, over the stores of a test. A test sets the home in which the next document opens, makes rooms
 * move, and ends a home.
 */
export class HomesHere implements WorkerPool, AsyncDisposable {
  best = 0
  /** A longer SYNC message makes its room move. */
  takesBytes = Number.POSITIVE_INFINITY
  /** The ids of the documents for which `keepApart` was called. */
  readonly apart: string[] = []
  /** Every message to a room, with its home. */
  readonly posted: { readonly home: number; readonly message: ToWorker }[] = []
  readonly #given: Pick<DocumentWorkerOptions, 'documents' | 'updates' | 'recovery'> & Partial<DocumentWorkerOptions>
  readonly #workers: DocumentWorker[]
  readonly #listeners: ((home: number, message: FromWorker) => void)[] = []
  readonly #ended: ((home: number, running: EndedRun | null) => void)[] = []
  readonly #misplaced: ((room: number, reason: MoveReason) => void)[] = []
  #isOff = false

  constructor(given: Pick<DocumentWorkerOptions, 'documents' | 'updates' | 'recovery'> & Partial<DocumentWorkerOptions>) {
    this.#given = given
    this.#workers = [this.#newWorker(0), this.#newWorker(1)]
  }

  #newWorker(home: number): DocumentWorker {
    const worker: DocumentWorker = new DocumentWorker({
      clock: systemClock,
      timers: systemTimers,
      random: systemRandom,
      log: silentLogger,
      ...this.#given,
      post: (messages) =>
        void setImmediate(() => {
          if (this.#isOff || this.#workers[home] !== worker) return
          for (const message of messages) for (const listener of this.#listeners) listener(home, message)
        }),
    })
    return worker
  }

  homeFor(): number {
    return this.best
  }

  keepApart({ id }: DocumentRef): void {
    this.apart.push(id)
  }

  takes(_home: number, message: ToWorker): boolean {
    return message.kind !== 'sync' || message.payload.length <= this.takesBytes
  }

  post(home: number, message: ToWorker): void {
    if (this.#isOff) return
    this.posted.push({ home, message })
    const worker = this.#workers[home]
    const sent = message.kind === 'sync' ? { ...message, payload: message.payload.slice() } : message
    setImmediate(() => worker === this.#workers[home] && !this.#isOff && worker?.receive([sent]))
  }

  onMessage(listener: (home: number, message: FromWorker) => void): void {
    this.#listeners.push(listener)
  }

  onMisplaced(listener: (room: number, reason: MoveReason) => void): void {
    this.#misplaced.push(listener)
  }

  onEnded(listener: (home: number, running: EndedRun | null) => void): void {
    this.#ended.push(listener)
  }

  misplace(room: number, reason: MoveReason = 'may'): void {
    for (const listener of this.#misplaced) listener(room, reason)
  }

  /** Ends a home at once. An empty home with the same number replaces it. */
  end(home: number, running: EndedRun | null = null): void {
    this.#workers[home]?.abandon()
    this.#workers[home] = this.#newWorker(home)
    for (const listener of this.#ended) listener(home, running)
  }

  /** Ends the process. Nothing is stored and no message is sent any more. */
  off(): void {
    this.#isOff = true
    for (const worker of this.#workers) worker.abandon()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOff) for (const worker of this.#workers) await worker[Symbol.asyncDispose]()
  }
}
