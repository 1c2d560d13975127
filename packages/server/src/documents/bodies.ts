import type { PreparedBody } from '@docrelay/model/body-facts'
import type { Refusal } from '@docrelay/model/edit'
import { RelayError } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import { openTaskPool } from '../kernel/task-pool.ts'
import type { StoredBody } from './document-store.port.ts'
import type { LocalReading } from './local-body.ts'
import type { RestoredAs } from './point-body.ts'
import type { BodyEdit, EditedBody } from './edit-body.ts'
import type { BodyRead, BodyReading } from './read-body.ts'
import { type BodyTask, type BodyTaskResult, runBodyTask } from './body-task.ts'

const MIB = 1_048_576
/** Longer bodies are never looked into on the main thread. [C1, H4] */
const OFF_MAIN_BYTES = MIB
/**
 * Who reads or edits a page makes a tree of its HTML: twenty times the work of looking into as many bytes, and more where it is hostile.
 * [CONC-13, PROSE-21]
 */
const PAGE_OFF_MAIN_BYTES = 64 * 1024
const DEADLINE_MS = 10_000
const THREADS = 2
/** Above, a thread has grown so large that it is worth starting anew. */
const ENDS_THREAD_BYTES = 16 * MIB
/** Twice what an honest body of 128 MiB takes; the roomy nursery saves a third of its time. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 2048, maxYoungGenerationSizeMb: 128 }

/** A body was not done with in the time that a call has for it; nothing was written. */
export class OverdueBody extends RelayError {
  constructor() {
    super('UNAVAILABLE', 'The body could not be read in time.')
  }
}

/** Parses and prepares bodies, long ones in task threads under a deadline. Every verb throws the RelayError that answers the caller. */
export interface Bodies extends AsyncDisposable {
  /** A PUT body as it would be stored, its title settled against `storedTitle` (`null`: a new document). Long `bytes` are moved away. [BODY-2..BODY-14] */
  prepare(bytes: Uint8Array, docId: string, storedTitle: string | null): Promise<PreparedBody>
  /** The same body, settled against another stored title. `body` itself when that makes no difference; else long bytes are moved away. [BODY-10] */
  resettle(body: PreparedBody, storedTitle: string | null): Promise<PreparedBody>
  /** Any JSON of at most `maxBytes`, 2 MiB when absent. Long `bytes` are moved away. [BODY-8] */
  parse(bytes: Uint8Array, maxBytes?: number): Promise<unknown>
  /** The body of a recovery point under this id; `null` when it cannot be decoded. Long `bytes` are moved away. [REST-26] */
  point(bytes: Uint8Array, docId: string): Promise<Uint8Array | null>
  /** The body of a document restored from a point; `null` when that cannot be decoded. Long `bytes` are moved away. [LIFE-22] */
  restored(bytes: Uint8Array, as: RestoredAs): Promise<StoredBody | null>
  /** A file as a local document. Long `bytes` are moved away. [LOCAL-1] */
  local(bytes: Uint8Array, docId: string): Promise<LocalReading>
  /** An edit of a stored body, whose bytes stay with the caller. [CONC-1, CONC-13] */
  edit(given: BodyEdit): Promise<EditedBody | Refusal>
  /** A read of a stored body, whose bytes stay with the caller. [CONC-13] */
  read(given: BodyRead): Promise<BodyReading>
}

/** `maxBytes`: the body limit of document routes. Threads start with the first long body. */
export function openBodies(options: { readonly maxBytes: number; readonly log: Logger; readonly deadlineMs?: number }): Bodies {
  const { maxBytes, log } = options
  const pool = openTaskPool<BodyTask, BodyTaskResult>({
    entry: new URL('./body-worker.ts', import.meta.url),
    size: THREADS,
    resourceLimits: RESOURCE_LIMITS,
  })

  async function run(task: BodyTask, input: Uint8Array): Promise<Exclude<BodyTaskResult, { kind: 'refused' }>> {
    return accepted(input.byteLength <= OFF_MAIN_BYTES ? runBodyTask(task) : await runOffMain(task, input))
  }

  async function runOffMain(task: BodyTask, input: Uint8Array): Promise<BodyTaskResult> {
    const transfer = [input.buffer as ArrayBuffer]
    const endsThread = input.byteLength > ENDS_THREAD_BYTES
    const outcome = await pool.run({ task, transfer, endsThread, deadlineMs: options.deadlineMs ?? DEADLINE_MS })
    if (outcome.kind === 'done') return outcome.result
    // The ceilings of H4 bound what a body can cost: the machine is busy, or somebody works on a page of tens of megabytes.
    if (outcome.kind === 'overdue') throw new OverdueBody()
    log.error('body.task_failed', 'a body task failed', { detail: outcome.detail })
    throw new RelayError('UNAVAILABLE', 'The body could not be read now.')
  }

  return {
    async prepare(bytes, docId, storedTitle) {
      const result = await run({ kind: 'prepare', bytes, docId, storedTitle, maxBytes }, bytes)
      if (result.kind !== 'prepared') throw new Error('a preparation answers a prepared body')
      return result.body
    },
    async resettle(body, storedTitle) {
      const { name, title } = body
      if (name === null || title === null || name === title) return body
      if (body.facts.title === (name === storedTitle ? title : name)) return body
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
    async edit(given) {
      const isShort = given.bytes.byteLength + JSON.stringify(given.args).length <= PAGE_OFF_MAIN_BYTES
      // What was read may share its buffer, so a copy is what moves.
      const bytes = isShort ? given.bytes : given.bytes.slice()
      const task = { ...given, kind: 'edit', bytes } as const
      const result = accepted(isShort ? runBodyTask(task) : await runOffMain(task, bytes))
      if (result.kind !== 'edit') throw new Error('an edit answers an edited body')
      return result.outcome
    },
    async read(given) {
      const isShort = given.bytes.byteLength <= PAGE_OFF_MAIN_BYTES
      const bytes = isShort ? given.bytes : given.bytes.slice()
      const task = { ...given, kind: 'read', bytes } as const
      const result = accepted(isShort ? runBodyTask(task) : await runOffMain(task, bytes))
      if (result.kind !== 'read') throw new Error('a read answers a reading')
      return result.outcome
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

function accepted(result: BodyTaskResult): Exclude<BodyTaskResult, { kind: 'refused' }> {
  if (result.kind === 'refused') throw new RelayError(result.code, result.message, result.details)
  return result
}
