import { setImmediate } from 'node:timers'
import { DocumentWorker, type DocumentWorkerOptions, type Pace } from './document-worker.ts'
import type { Clock } from '../../kernel/clock.ts'
import { SCHEDULE } from '../../kernel/schedule.ts'
import { LIGHT_BOUNDS } from '../room/room-bounds.ts'
import type { RoomOptions } from '../room/room-host.ts'
import type { FromWorker, ToWorker } from '../worker-messages.ts'

/**
 * Messages to the gateway are not gathered, because the gateway is in this thread. Appends are gathered, because each message wakes the
 * storage thread.
 */
const LIGHT_PACE: Pace = { toMainMs: 0, toStoreMs: SCHEDULE.toStoreMs }

/** Several small documents are loaded at once, because a load is short and mostly waits for the store. */
const LOADS_AT_ONCE = 8

/** No step within `LIGHT_BOUNDS` needs more processor time than this. */
const LONGEST_STEP_MS = 5

/**
 * Returns a function that estimates processor time for short steps. It counts the time that passes, because asking the system for the
 * processor time takes as long as a small edit. A step of more than `longestMs` has waited for the processor, so only `longestMs` of it
 * count. Only the difference between two readings has a meaning. [G9]
 */
export function stepTime({ monotonicMs }: Pick<Clock, 'monotonicMs'>, longestMs: number): () => number {
  let beforeMs = monotonicMs()
  let usedMs = 0
  return () => {
    const nowMs = monotonicMs()
    usedMs += Math.min(nowMs - beforeMs, longestMs)
    beforeMs = nowMs
    return usedMs
  }
}

export const LIGHT_OPTIONS: Partial<RoomOptions> = {
  sliceMs: SCHEDULE.lightSliceMs,
  cutMs: SCHEDULE.lightSliceMs,
  bounds: LIGHT_BOUNDS,
}

/**
 * The home on the main loop. Its rooms work like the rooms of a document worker, but within `LIGHT_BOUNDS`, so that no step blocks the
 * loop for long. Messages from the gateway are handled after all socket input of this round of the event loop. [C1, C8]
 */
export class LightHome implements AsyncDisposable {
  readonly #worker: DocumentWorker
  readonly #clock: DocumentWorkerOptions['clock']
  readonly #deliver: (message: FromWorker) => void
  readonly #soon: (work: () => void) => void
  #queue: ToWorker[] = []
  #outgoing: FromWorker[] = []
  #isScheduled = false

  constructor(given: Omit<DocumentWorkerOptions, 'post'> & { readonly deliver: (message: FromWorker) => void }) {
    this.#clock = given.clock
    this.#deliver = given.deliver
    this.#soon = given.soon ?? setImmediate
    this.#worker = new DocumentWorker({
      ...given,
      rooms: { ...given.rooms, ...LIGHT_OPTIONS },
      processorMs: given.processorMs ?? stepTime(given.clock, LONGEST_STEP_MS),
      pace: LIGHT_PACE,
      loadsAtOnce: LOADS_AT_ONCE,
      post: (messages) => this.#send(messages),
    })
  }

  post(message: ToWorker): void {
    // The payload is copied, because a frame is a view of a larger buffer of its socket, and Yjs keeps views of the bytes that it
    // decodes.
    this.#queue.push(message.kind === 'sync' ? { ...message, payload: message.payload.slice() } : message)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#soon(() => {
      this.#isScheduled = false
      this.#handle()
    })
  }

  #handle(): void {
    const batch = this.#queue
    this.#queue = []
    const handled = this.#worker.receive(batch, this.#clock.monotonicMs() + SCHEDULE.lightSliceMs)
    if (handled === batch.length) return
    this.#queue = [...batch.slice(handled), ...this.#queue]
    this.#schedule()
  }

  /**
   * Delivers messages after the turn, as if they came from a thread. So the gateway never runs inside a room, and no room catches an
   * exception of the gateway. [C10]
   */
  #send(messages: readonly FromWorker[]): void {
    if (this.#outgoing.length === 0) process.nextTick(() => this.#flush())
    this.#outgoing.push(...messages)
  }

  #flush(): void {
    const outgoing = this.#outgoing
    this.#outgoing = []
    for (const message of outgoing) this.#deliver(message)
  }

  /** Materialises and compacts every room. [LIFE-28] */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker[Symbol.asyncDispose]()
  }
}
