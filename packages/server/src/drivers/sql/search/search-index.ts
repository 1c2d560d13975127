import { Worker } from 'node:worker_threads'
import { type Clock, systemClock } from '../../../kernel/clock.ts'
import { createFairTurns } from '../../../kernel/fair-turns.ts'
import type { Logger } from '../../../kernel/log.ts'
import type { FindRequest, IndexedRef, SearchIndex } from '../../../search/search-index.port.ts'
import { type FoundInIndex, searchesAtOnce } from './index-engine.ts'
import { SentLists } from './packed-request.ts'
import type { FromSearchThread, SearchCall, SearchThreadData, ToSearchThread } from './search-thread.ts'

/** A thread that ended by itself is started again only after this time. */
const AGAIN_MS = 30_000
/** Heap limit of the threads; a body of the largest size needs this much. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 2048 }
const SLACK_MS = 1500
/**
 * A thread that has not answered any call may still be starting, so it gets this much more time. Otherwise a busy machine would replace each thread
 * before its first answer.
 */
const START_MS = 30_000

export interface SearchIndexOptions {
  /** `sqlite:<path>` or `postgres://…` */
  readonly url: string
  /** Whether several nodes use the store and fill the same index. */
  readonly isShared?: boolean
  readonly log: Logger
  readonly clock?: Clock
  /** Once a search runs, it may take this many ms beyond its own limit before its thread is replaced; default 1.5 s. */
  readonly slackMs?: number
}

/** Opens the search index of the store that a `[storage] url` names. No thread starts before the first call. [AG-64] */
export function openSearchIndex(options: SearchIndexOptions): SearchIndex {
  const { url, isShared = false, log, clock = systemClock, slackMs = SLACK_MS } = options
  const searching = new CallThread({ role: 'search', url, isShared }, log, clock)
  const filling = new CallThread({ role: 'fill', url, isShared }, log, clock)
  const slots = searchesAtOnce(url)
  const turns = createFairTurns({ slots, perHolder: slots })

  const sent = new WeakMap<Worker, SentLists>()

  /** Sends a call to a thread. A failure of the thread is only logged and answered with `null`: the index then knows less. */
  async function ask(thread: CallThread, call: SearchCall): Promise<FoundInIndex | null> {
    return answered(call.kind, () => thread.call(() => call, null))
  }

  async function answered(kind: SearchCall['kind'], asking: () => Promise<FoundInIndex | null>): Promise<FoundInIndex | null> {
    try {
      return await asking()
    } catch (error) {
      log.warn('search.failed', 'The search index did not answer.', { call: kind, detail: String(error) })
      return null
    }
  }

  function findIn(worker: Worker, request: FindRequest): SearchCall {
    const lists = sent.get(worker) ?? new SentLists()
    sent.set(worker, lists)
    return { kind: 'find', request: lists.pack(request) }
  }

  /**
   * Runs a search when it is the turn of its workspace. Only the time after a search was sent to the thread counts as time without an answer, so a
   * waiting search does not end the thread. Resolves with `null` when no turn comes in time.
   */
  async function findInTurn(request: FindRequest): Promise<FoundInIndex | null> {
    const endsMs = clock.monotonicMs() + request.withinMs
    const over = AbortSignal.timeout(Math.ceil(request.withinMs))
    const inTurn = (): Promise<FoundInIndex | null> => {
      const withinMs = Math.max(0, endsMs - clock.monotonicMs())
      return answered('find', () => searching.call((worker) => findIn(worker, { ...request, withinMs }), withinMs + slackMs))
    }
    try {
      return await turns.run(request.workspaceId, inTurn, over)
    } catch (error) {
      if (over.aborted) return null
      throw error
    }
  }

  return {
    async find(request: FindRequest) {
      const found = await findInTurn(request)
      if (found === null) return { groups: [], partial: false, stale: [], cutOff: true }
      if (found.isDamaged === true) void ask(filling, { kind: 'damaged', workspaceId: request.workspaceId })
      return found
    },
    async refresh(refs: readonly IndexedRef[]) {
      if (refs.length > 0) await ask(filling, { kind: 'refresh', refs })
    },
    async rebuild() {
      await ask(filling, { kind: 'rebuild' })
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([searching.close(), filling.close()])
    },
  }
}

interface Pending {
  resolve(found: FoundInIndex | null): void
  reject(error: Error): void
}

/** A thread that is started at its first call. Its answers carry the number of their call. */
class CallThread {
  readonly #data: SearchThreadData
  readonly #log: Logger
  readonly #clock: Clock
  readonly #pending = new Map<number, Pending>()
  #worker: Worker | null = null
  /** Whether the present thread has answered a call. */
  #hasAnswered = false
  #endedMs = Number.NEGATIVE_INFINITY
  #calls = 0
  #isClosed = false

  constructor(data: SearchThreadData, log: Logger, clock: Clock) {
    this.#data = data
    this.#log = log
    this.#clock = clock
  }

  /**
   * Sends a call and returns its answer. `callFor` makes the call for the thread that will get it. With `withinMs`, ends the thread when there is no
   * answer in time.
   */
  async call(callFor: (worker: Worker) => SearchCall, withinMs: number | null): Promise<FoundInIndex | null> {
    if (this.#isClosed) throw new Error('the index is closed')
    const worker = this.#started()
    const id = ++this.#calls
    const { promise, resolve, reject } = Promise.withResolvers<FoundInIndex | null>()
    const endLate = (): void => {
      // Reads messages first that arrived while this thread itself was blocked; the answer may be among them.
      setImmediate(() => {
        if (this.#pending.has(id)) this.#end(worker, 'it did not answer in time', Number.NEGATIVE_INFINITY)
      })
    }
    const timer = withinMs === null ? null : setTimeout(endLate, withinMs + (this.#hasAnswered ? 0 : START_MS))
    timer?.unref()
    this.#pending.set(id, { resolve, reject })
    const call = callFor(worker)
    const isLong = call.kind === 'find' && call.request.states !== null
    worker.postMessage({ ...call, id } satisfies ToSearchThread, isLong ? [call.request.states.buffer] : [])
    try {
      return await promise
    } finally {
      if (timer !== null) clearTimeout(timer)
    }
  }

  async close(): Promise<void> {
    const worker = this.#worker
    if (worker === null) {
      this.#isClosed = true
      return
    }
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    const closing = this.call(() => ({ kind: 'close' }), null)
    this.#isClosed = true
    worker.ref()
    await closing.catch(() => worker.terminate())
    await ended
  }

  #started(): Worker {
    if (this.#worker !== null) return this.#worker
    if (this.#clock.monotonicMs() - this.#endedMs < AGAIN_MS) throw new Error('its thread ended a moment ago')
    const worker = new Worker(new URL('./search-thread.ts', import.meta.url), {
      workerData: this.#data,
      name: this.#data.role,
      resourceLimits: RESOURCE_LIMITS,
    })
    worker.on('message', (message: FromSearchThread) => this.#receive(message))
    worker.on('error', (error) => this.#end(worker, String(error)))
    worker.on('exit', () => this.#end(worker, 'its thread ended'))
    worker.unref()
    this.#hasAnswered = false
    this.#worker = worker
    return worker
  }

  #receive(message: FromSearchThread): void {
    if (message.kind === 'log') return this.#log.warn(message.event, message.msg, message.fields)
    this.#hasAnswered = true
    const pending = this.#pending.get(message.id)
    this.#pending.delete(message.id)
    if (message.kind === 'done') pending?.resolve(message.found)
    else pending?.reject(new Error(message.detail))
  }

  #end(worker: Worker, detail: string, endedMs = this.#clock.monotonicMs()): void {
    if (this.#worker !== worker) return
    this.#worker = null
    this.#endedMs = endedMs
    void worker.terminate()
    for (const { reject } of this.#pending.values()) reject(new Error(detail))
    this.#pending.clear()
  }
}
