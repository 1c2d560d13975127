import type { PreparedBody } from '@docrelay/model/body-facts'
import { headTitle, settleTitle } from '@docrelay/model/body-title'
import type { Refusal } from '@docrelay/model/edit'
import type { BodyDelta } from '@docrelay/model/seen/body-delta'
import { RelayError } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import { createLanes } from '../kernel/fair-turns.ts'
import { openTaskPool } from '../kernel/task-pool.ts'
import type { StoredBody } from './document-store.port.ts'
import type { LocalReading } from './local-body.ts'
import type { RestoredAs } from './point-body.ts'
import { editRoutes } from '@docrelay/model/edits'
import type { BodyEdit, EditedBody } from './edit-body.ts'
import type { BodyRead, BodyReading } from './read-body.ts'
import type { BodiesHits, BodiesSearch } from './search-bodies.ts'
import { type BodyTask, type BodyTaskResult, runBodyTask } from './body-task.ts'

const MIB = 1_048_576
/** A longer body is never parsed on the main thread. [C1, H4] */
const OFF_MAIN_BYTES = MIB
/**
 * Above this size a tool's read or edit of a page leaves the main thread. Building a tree from HTML costs twenty times as much as parsing
 * the same number of bytes of JSON, and more for hostile HTML. [CONC-13, PROSE-21]
 */
const PAGE_OFF_MAIN_BYTES = 64 * 1024
/** Above this size an edit that routes connectors leaves the main thread: one route costs as much as parsing tens of kilobytes. [CONC-13] */
const ROUTES_OFF_MAIN_BYTES = 2 * 1024
/** Above this size a read that looks for faults of a page leaves the main thread: its time grows with the square of the shapes. [CONC-13, AG-109] */
const LINT_OFF_MAIN_BYTES = 8 * 1024
/** Above this size a search leaves the main thread: it builds the trees of all pages of many documents. [AG-64] */
const SEARCH_OFF_MAIN_BYTES = 8 * 1024
const DEADLINE_MS = 10_000
const THREADS = 2
/** Work on a larger body takes so long that work on smaller bodies must not wait for it. [C11] */
const HEAVY_BYTES = 4 * MIB
/** After a larger body the thread is ended, because it would keep the memory; the next task starts a new one. */
const ENDS_THREAD_BYTES = 16 * MIB
/** Twice the memory that an ordinary body of 128 MiB needs. The large young generation saves a third of the parsing time. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 2048, maxYoungGenerationSizeMb: 128 }

/** The work on a body took longer than a call may take; nothing was written. */
export class OverdueBody extends RelayError {
  constructor() {
    super('UNAVAILABLE', 'The body could not be read in time.')
  }
}

/**
 * Parses and prepares bodies, long ones in task threads under a deadline. Every verb throws the RelayError that answers
 * the caller.
 */
export interface BodyVerbs {
  /**
   * Prepares a PUT body as it will be stored, with its title settled against `storedTitle` (`null`: a new document).
   * Transfers the buffer of long `bytes`. [BODY-2..BODY-14]
   */
  prepare(bytes: Uint8Array, docId: string, storedTitle: string | null): Promise<PreparedBody>
  /**
   * Settles the same body against another stored title. Returns `body` itself when the title changes nothing; otherwise
   * transfers the buffer of long bytes. [BODY-10]
   */
  resettle(body: PreparedBody, storedTitle: string | null): Promise<PreparedBody>
  /** Parses any JSON of at most `maxBytes` (default 2 MiB). Transfers the buffer of long `bytes`. [BODY-8] */
  parse(bytes: Uint8Array, maxBytes?: number): Promise<unknown>
  /**
   * Returns the body of a recovery point under this id; `null` when it cannot be decoded. Transfers the buffer of long
   * `bytes`. [REST-26]
   */
  point(bytes: Uint8Array, docId: string): Promise<Uint8Array | null>
  /**
   * Returns the body of a document restored from a point; `null` when the point cannot be decoded. Transfers the buffer
   * of long `bytes`. [LIFE-22]
   */
  restored(bytes: Uint8Array, as: RestoredAs): Promise<StoredBody | null>
  /** Reads a file as a local document. Transfers the buffer of long `bytes`. [LOCAL-1] */
  local(bytes: Uint8Array, docId: string): Promise<LocalReading>
  /** Compares two stored bodies; their bytes stay with the caller. [AG-20] */
  delta(before: Uint8Array, after: Uint8Array): Promise<BodyDelta>
  /** Edits a stored body; its bytes stay with the caller. [CONC-1, CONC-13] */
  edit(given: BodyEdit): Promise<EditedBody | Refusal>
  /** Reads from a stored body; its bytes stay with the caller. [CONC-13] */
  read(given: BodyRead): Promise<BodyReading>
  /**
   * Finds hits in stored bodies, which may be short and many. An abort of `over` means that nobody waits for the answer: a search that waits
   * for a thread never runs, one that runs is ended with its thread, and both reject with `OverdueBody`. [AG-62, AG-63]
   */
  search(given: BodiesSearch, over?: AbortSignal): Promise<BodiesHits>
}

/** The inherited verbs are for the relay's own work; work for callers goes through `for`. */
export interface Bodies extends BodyVerbs, AsyncDisposable {
  /** The verbs for one workspace: long bodies of workspaces take turns at the threads. [C11] */
  for(workspaceId: string): BodyVerbs
}

/** Opens the threads for bodies; the first long body starts one. `maxBytes`: the body limit of document routes. */
export function openBodies(options: { readonly maxBytes: number; readonly log: Logger; readonly deadlineMs?: number }): Bodies {
  const { maxBytes, log } = options
  const pool = openTaskPool<BodyTask, BodyTaskResult>({
    entry: new URL('./body-worker.ts', import.meta.url),
    size: THREADS,
    resourceLimits: RESOURCE_LIMITS,
    // The deadline counts processor time, so a body is not refused only because the machine is busy.
    deadline: 'processor',
  })
  const lanes = createLanes({ slots: THREADS, perHolder: THREADS })

  async function runOffMain(task: BodyTask, input: Uint8Array, givenUp?: AbortSignal): Promise<BodyTaskResult> {
    const transfer = [input.buffer as ArrayBuffer]
    const endsThread = input.byteLength > ENDS_THREAD_BYTES
    const deadlineMs = options.deadlineMs ?? DEADLINE_MS
    const outcome = await pool.run({ task, transfer, endsThread, deadlineMs, ...(givenUp !== undefined && { givenUp }) })
    if (outcome.kind === 'done') return outcome.result
    // H4 limits the cost of a body. So an overdue task means a starved thread, or a page of tens of megabytes.
    // An aborted task ends here too; nobody reads its error.
    if (outcome.kind !== 'failed') throw new OverdueBody()
    log.error('body.task_failed', 'reading or writing a document body failed in its thread', { detail: outcome.detail })
    throw new RelayError('UNAVAILABLE', 'The body could not be read now.')
  }

  const verbsOf = (holder: string): BodyVerbs =>
    bodyVerbs((task, input, givenUp) => {
      const asked = { holder, heavy: input.byteLength > HEAVY_BYTES, ...(givenUp !== undefined && { givenUp }) }
      return lanes.run(asked, () => runOffMain(task, input, givenUp))
    }, maxBytes)
  return { ...verbsOf(''), for: verbsOf, [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose]() }
}

type RunOffMain = (task: BodyTask, input: Uint8Array, givenUp?: AbortSignal) => Promise<BodyTaskResult>

/** Makes the verbs: short work runs here, long work in `runOffMain`. */
function bodyVerbs(runOffMain: RunOffMain, maxBodyBytes: number): BodyVerbs {
  async function run(task: BodyTask, input: Uint8Array): Promise<Exclude<BodyTaskResult, { kind: 'refused' }>> {
    return accepted(input.byteLength <= OFF_MAIN_BYTES ? runBodyTask(task) : await runOffMain(task, input))
  }

  return {
    async prepare(bytes, docId, storedTitle) {
      const result = await run({ kind: 'prepare', bytes, docId, storedTitle, maxBytes: maxBodyBytes }, bytes)
      if (result.kind !== 'prepared') throw new Error('a preparation answers a prepared body')
      return result.body
    },
    async resettle(body, storedTitle) {
      const { name, title } = body
      if (name === null || title === null || name === title) return body
      if (body.facts.title === headTitle(settleTitle(name, title, storedTitle))) return body
      const result = await run({ kind: 'resettle', body, storedTitle }, body.bytes)
      if (result.kind !== 'prepared') throw new Error('a preparation answers a prepared body')
      return result.body
    },
    async parse(bytes, maxBytes = 2 * MIB) {
      const result = await run({ kind: 'parse', bytes, maxBytes }, bytes)
      if (result.kind !== 'parsed') throw new Error('a parse answers a value')
      return result.value
    },
    async point(bytes, docId) {
      const result = await run({ kind: 'point', bytes, docId }, bytes)
      if (result.kind !== 'point') throw new Error('a point answers a point')
      return result.bytes
    },
    async restored(bytes, as) {
      const result = await run({ kind: 'restore', bytes, as }, bytes)
      if (result.kind !== 'restored') throw new Error('a restore answers a body')
      return result.body
    },
    async local(bytes, docId) {
      const result = await run({ kind: 'local', bytes, docId }, bytes)
      if (result.kind !== 'local') throw new Error('a local file answers a reading')
      return result.reading
    },
    async delta(before, after) {
      const isShort = before.byteLength + after.byteLength <= PAGE_OFF_MAIN_BYTES
      const [bytes, other] = isShort ? [before, after] : [before.slice(), after.slice()]
      const task = { kind: 'delta', bytes, after: other } as const
      const result = accepted(isShort ? runBodyTask(task) : await runOffMain(task, bytes))
      if (result.kind !== 'delta') throw new Error('a comparison answers a difference')
      return result.delta
    },
    async edit(given) {
      const offMainBytes = editRoutes(given.edit) ? ROUTES_OFF_MAIN_BYTES : PAGE_OFF_MAIN_BYTES
      const isShort = given.bytes.byteLength + JSON.stringify(given.args).length <= offMainBytes
      // The bytes may share a buffer with other data, so a copy is transferred.
      const bytes = isShort ? given.bytes : given.bytes.slice()
      const task = { ...given, kind: 'edit', bytes } as const
      const result = accepted(isShort ? runBodyTask(task) : await runOffMain(task, bytes))
      if (result.kind !== 'edit') throw new Error('an edit answers an edited body')
      return result.outcome
    },
    async read(given) {
      // The search for faults compares the shapes of a page with each other, so it leaves the main thread at a smaller size.
      const isShort = given.bytes.byteLength <= (isLinted(given) ? LINT_OFF_MAIN_BYTES : PAGE_OFF_MAIN_BYTES)
      const bytes = isShort ? given.bytes : given.bytes.slice()
      const task = { ...given, kind: 'read', bytes } as const
      const result = accepted(isShort ? runBodyTask(task) : await runOffMain(task, bytes))
      if (result.kind !== 'read') throw new Error('a read answers a reading')
      return result.outcome
    },
    async search(given, over) {
      const task = { ...given, kind: 'search' } as const
      const isShort = given.bytes.byteLength <= SEARCH_OFF_MAIN_BYTES
      const offMain = () => runOffMain(task, given.bytes, over).catch((error: unknown) => overdueOr(error, over))
      const result = accepted(isShort ? runBodyTask(task) : await offMain())
      if (result.kind !== 'search') throw new Error('a search answers hits')
      return result.hits
    },
  }
}

/** Rethrows an error. Throws OverdueBody when `over` is aborted: a search aborted before it started rejects with the signal's reason. */
function overdueOr(error: unknown, over: AbortSignal | undefined): never {
  throw over?.aborted === true ? new OverdueBody() : error
}

function isLinted({ args }: BodyRead): boolean {
  return typeof args === 'object' && args !== null && 'lint' in args && args.lint === true
}

function accepted(result: BodyTaskResult): Exclude<BodyTaskResult, { kind: 'refused' }> {
  if (result.kind === 'refused') throw new RelayError(result.code, result.message, result.details)
  return result
}
