import type { Logger } from '../../../kernel/log.ts'
import { systemTimers, type Timers } from '../../../kernel/timers.ts'
import type { IndexedRef, IndexedState } from '../../../search/search-index.port.ts'
import type { BodySource } from './body-source.ts'
import type { IndexWriter, Pause } from './index-engine.ts'

export interface FillerDeps {
  readonly source: BodySource
  readonly index: IndexWriter
  readonly pause: Pause
  readonly timers?: Timers
  readonly log: Logger
}

/** After this many failures in a row the store or the index counts as out of order, and the remaining documents are left for later. */
const MOST_FAILURES = 3
/** For at most this many documents repeated failures do not count as failures in a row. */
const MOST_STUBBORN = 100
/** A document or workspace that failed is tried again after this time. */
const RETRY_MS = 60_000

/** A requested document. All requests for it that come before it is read wait for the same promise. */
interface Asked {
  readonly ref: IndexedRef
  readonly settled: Promise<void>
  readonly settle: () => void
}

/**
 * Fills an index: first with the requested documents, then with those that the index lacks or holds in another state. The filler looks for the latter
 * once, at its first use, because every later change is requested. A failed document is tried again, since nobody may request it a second time.
 * [AG-63, AG-64]
 */
export class Filler {
  readonly #deps: FillerDeps
  /** Requested documents by key, in the order of their first request. */
  readonly #asked = new Map<number, Asked>()
  /** Documents that the index lacks or holds in another state, and workspaces in which to look for such documents. */
  #behind: IndexedRef[] = []
  #toLookIn: string[] = []
  #hasBegun = false
  #failures = 0
  /** Documents, by key, and workspaces that failed and are tried again later. */
  readonly #failed = new Map<number, IndexedRef>()
  readonly #failedLooks = new Set<string>()
  /** Keys of documents that failed and were not filled since. A further failure of such a document says nothing about the store or the index. */
  readonly #stubborn = new Set<number>()
  #cancelRetry: (() => void) | null = null
  /** Work that must not run while a document is being filled. */
  #jobs: (() => Promise<void>)[] = []
  #running: Promise<void> | null = null
  #isClosed = false

  constructor(deps: FillerDeps) {
    this.#deps = deps
  }

  refresh(refs: readonly IndexedRef[]): Promise<void> {
    const settled = refs.map((ref) => this.#ask(ref))
    this.#run()
    return Promise.all(settled).then(() => undefined)
  }

  #ask(ref: IndexedRef): Promise<void> {
    const asked = this.#asked.get(ref.key)
    if (asked !== undefined) return asked.settled
    const { promise: settled, resolve: settle } = Promise.withResolvers<void>()
    this.#asked.set(ref.key, { ref, settled, settle })
    return settled
  }

  #takeAsked(): Asked | undefined {
    const [first] = this.#asked.values()
    if (first !== undefined) this.#asked.delete(first.ref.key)
    return first
  }

  /** Makes the filler look for documents that the index lacks: in one workspace, or in all for `null`. */
  lookIn(workspaceId: string | null): void {
    if (workspaceId === null) this.#hasBegun = false
    else if (!this.#toLookIn.includes(workspaceId)) this.#toLookIn.push(workspaceId)
  }

  /** Clears the damaged index of a workspace and fills it again. */
  refill(workspaceId: string): Promise<void> {
    return this.#soon(async () => {
      await this.#deps.index.forget(workspaceId)
      this.lookIn(workspaceId)
    })
  }

  /** Clears the whole index and fills it again. */
  rebuild(): Promise<void> {
    return this.#soon(async () => {
      await this.#deps.index.clear()
      this.#hasBegun = false
    })
  }

  /** Resolves when the filler has nothing left to do. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelRetry?.()
    await this.idle()
    for (const { settle } of this.#asked.values()) settle()
    this.#asked.clear()
  }

  #soon(work: () => Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      this.#jobs.push(async () => {
        await this.#guarded('begin', work)
        resolve()
      })
      this.#run()
    })
  }

  #run(): void {
    this.#running ??= this.#work().finally(() => {
      this.#running = null
      if (this.#jobs.length + this.#asked.size > 0 && !this.#isClosed) this.#run()
    })
  }

  async #work(): Promise<void> {
    while (!this.#isClosed) {
      const job = this.#jobs.shift()
      const asked = job === undefined ? this.#takeAsked() : undefined
      if (job !== undefined) await job()
      else if (asked !== undefined) {
        await this.#fill(asked.ref)
        // Settles all requests that came before the document was read. Requests that came later are still waiting.
        asked.settle()
      } else if (!(await this.#next())) return
      await this.#deps.pause()
    }
  }

  /** Does one step of the work in the background. Returns false when there is none. */
  async #next(): Promise<boolean> {
    if (this.#failures >= MOST_FAILURES) return this.#leaveForLater()
    const ref = this.#behind.shift()
    if (ref !== undefined) await this.#fill(ref)
    else if (this.#toLookIn.length > 0) await this.#lookInNext()
    else if (!this.#hasBegun) await this.#begin()
    else return false
    return true
  }

  async #begin(): Promise<void> {
    // Set before the look: the look may find the index made anew and therefore empty, and then resets this.
    this.#hasBegun = true
    const hasLooked = await this.#guarded('look', async () => {
      const { source, index } = this.#deps
      this.#toLookIn = [...new Set([...(await source.workspaces()), ...(await index.workspaces())])]
    })
    if (!hasLooked) this.#hasBegun = false
  }

  async #lookInNext(): Promise<void> {
    const workspaceId = this.#toLookIn.shift() ?? ''
    if (await this.#guarded('look', () => this.#look(workspaceId))) return
    this.#failedLooks.add(workspaceId)
    this.#retryLater()
  }

  #retryLater(): void {
    if (this.#isClosed) return
    const { timers = systemTimers } = this.#deps
    this.#cancelRetry ??= timers.after(RETRY_MS, () => {
      this.#cancelRetry = null
      // Failures that are a minute apart do not count as failures in a row.
      this.#failures = 0
      this.#behind.push(...this.#failed.values())
      this.#failed.clear()
      for (const workspaceId of this.#failedLooks) this.lookIn(workspaceId)
      this.#failedLooks.clear()
      this.#run()
    })
  }

  /** Drops all remaining work. The next change or search makes the filler look everywhere again; documents filled by then stay in the index. */
  #leaveForLater(): false {
    this.#failures = 0
    this.#behind = []
    this.#toLookIn = []
    this.#failed.clear()
    this.#failedLooks.clear()
    this.#cancelRetry?.()
    this.#cancelRetry = null
    this.#hasBegun = false
    return false
  }

  async #look(workspaceId: string): Promise<void> {
    const { source, index } = this.#deps
    const held = new Map(await index.states(workspaceId))
    for (const state of await source.states(workspaceId)) {
      if (!isSame(held.get(state.key), state)) this.#behind.push({ workspaceId, key: state.key })
      held.delete(state.key)
    }
    for (const key of held.keys()) this.#behind.push({ workspaceId, key })
  }

  async #fill(ref: IndexedRef): Promise<void> {
    const { source, index, pause, log } = this.#deps
    const failsAgain = this.#stubborn.has(ref.key)
    const failuresBefore = this.#failures
    const isFilled = await this.#guarded('fill', async () => {
      // Returns early when the index has the stored state: a document is often requested more than once, by each of its writes and by a look for
      // missing documents.
      const stored = await source.state(ref)
      if (stored !== null && isSame((await index.state(ref)) ?? undefined, stored)) return
      const read = await source.rows(ref)
      if (read === null) return index.remove(ref.workspaceId, ref.key, pause)
      if (!read.isReadable) log.warn('search.unreadable', 'A stored body cannot be read and is not searched.', { key: ref.key })
      await index.write(ref.workspaceId, read.state, read.rows, pause)
    })
    if (isFilled) {
      this.#failed.delete(ref.key)
      this.#stubborn.delete(ref.key)
    } else {
      if (failsAgain) this.#failures = failuresBefore
      if (this.#stubborn.size < MOST_STUBBORN) this.#stubborn.add(ref.key)
      this.#failed.set(ref.key, ref)
      this.#retryLater()
    }
  }

  /** Runs a step and returns whether it succeeded. A failure is only logged: the index then lacks something, and searches report that. */
  async #guarded(step: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      this.#failures = 0
      return true
    } catch (error) {
      this.#failures++
      this.#deps.log.warn('search.not_filled', 'The search index could not be written.', { step, detail: String(error) })
      return false
    }
  }
}

function isSame(held: IndexedState | undefined, { version, updatedAtMs, coveredSeq }: IndexedState): boolean {
  return held?.version === version && held.updatedAtMs === updatedAtMs && held.coveredSeq === coveredSeq
}
