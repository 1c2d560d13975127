import type { DocumentRef } from '../../documents/document-store.port.ts'
import { DamageError, type DamagedPart } from '../../kernel/damage.ts'
import { RelayError } from '../../kernel/errors.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { NotOpen, Room } from './room-table.ts'
import type { RoomTask, TaskOutcome, ToWorker } from '../worker-messages.ts'
import { nodeOfHome } from '../worker-pool.port.ts'

interface Waiting {
  readonly room: Room
  readonly task: RoomTask['kind']
  readonly resolve: (outcome: TaskOutcome) => void
  readonly cancelTimer: () => void
}

export interface RoomJobsDeps {
  readonly timers: Timers
  readonly timeoutMs: number
  readonly post: (home: number, message: ToWorker) => void
  /** Called when a home has closed a room for an eviction that had already timed out and counted as failed. */
  readonly closedLate: (room: Room) => void
}

/**
 * Runs tasks in rooms and returns the outcome that the home of the room reports. When the home ends or does not answer in time, the task
 * fails: with NOT_PERSISTED if it may have written, otherwise with UNAVAILABLE. [C7]
 */
export class RoomJobs {
  readonly #deps: RoomJobsDeps
  readonly #waiting = new Map<number, Waiting>()
  /** The rooms of evictions that have timed out, by job number. The homes of these rooms may still close them. */
  readonly #late = new Map<number, Room>()
  #next = 1

  constructor(deps: RoomJobsDeps) {
    this.#deps = deps
  }

  /**
   * Runs a task in the home of a room. Never rejects. `signal` aborts when the caller gives up; it is forwarded to a home on another
   * node, with which no memory is shared. [MCP-15]
   */
  run(room: Room, task: RoomTask, signal?: AbortSignal): Promise<TaskOutcome> {
    const { home } = room
    if (home === null) return Promise.resolve(NOT_DONE)
    const job = this.#next++
    const cancelTimer = this.#deps.timers.after(this.#deps.timeoutMs, () => {
      if (task.kind === 'evict') this.#late.set(job, room)
      this.#finish(job, failure(task.kind, 'did not answer in time'))
    })
    return new Promise((resolve) => {
      this.#waiting.set(job, { room, task: task.kind, resolve, cancelTimer })
      this.#deps.post(home, { kind: 'job', job, room: room.number, task })
      if (signal !== undefined && nodeOfHome(home) !== null) this.#tellGivenUp(home, job, signal)
    })
  }

  #tellGivenUp(home: number, job: number, signal: AbortSignal): void {
    const tell = (): void => {
      if (this.#waiting.has(job)) this.#deps.post(home, { kind: 'give-up', job })
    }
    if (signal.aborted) tell()
    else signal.addEventListener('abort', tell, { once: true })
  }

  done(job: number, outcome: TaskOutcome): void {
    this.#finish(job, outcome)
    const room = this.#late.get(job)
    if (room === undefined) return
    this.#late.delete(job)
    if (outcome.kind === 'evicted' || outcome.kind === 'gone') this.#deps.closedLate(room)
  }

  /** Fails all tasks of a room whose home ended, or which no longer exists. */
  failAll(room: Room): void {
    for (const [job, waiting] of this.#waiting) if (waiting.room === room) this.#finish(job, failure(waiting.task, 'ended'))
    for (const [job, late] of this.#late) if (late === room) this.#late.delete(job)
  }

  #finish(job: number, outcome: TaskOutcome): void {
    const waiting = this.#waiting.get(job)
    if (!waiting) return
    this.#waiting.delete(job)
    waiting.cancelTimer()
    waiting.resolve(outcome)
  }
}

/** The outcome of a task that was not run, because the owner of the document is not known now. */
export const NOT_DONE: TaskOutcome = { kind: 'failed', code: 'UNAVAILABLE', message: 'The live document is not open now.' }

function failure(task: RoomTask['kind'], what: string): TaskOutcome {
  return {
    kind: 'failed',
    code: task === 'put' || task === 'edit' ? 'NOT_PERSISTED' : 'UNAVAILABLE',
    message: `The live document ${what}.`,
  }
}

/** Returns the error for the caller of a task whose outcome is not the expected one. */
export function failed(outcome: TaskOutcome): RelayError {
  if (outcome.kind === 'moved') return failed(NOT_DONE)
  if (outcome.kind === 'failed') return new RelayError(outcome.code, outcome.message, outcome.details)
  return new RelayError('INTERNAL', `The live document answered ${outcome.kind}.`)
}

/** Returns `not-resident` when a write found no live document, so that the caller writes to the store. Throws for any other outcome. */
export function notWritten(outcome: TaskOutcome): 'not-resident' {
  if (outcome.kind === 'gone') return 'not-resident'
  throw failed(outcome)
}

/** The error for a document that could not be made resident. When waiting does not help, its text names the remedy. [REST-13, LIFE-5] */
export function cannotLoad(why: NotOpen, { id }: DocumentRef): RelayError {
  if (why === 'unreachable')
    return new RelayError('UNAVAILABLE', 'This node cannot reach the node that has the document open now.')
  const part = damagedPart(why)
  return part === null ? new RelayError('UNAVAILABLE', 'The document cannot be loaded now.') : new DamageError(part, id)
}

export function damagedPart(why: NotOpen): DamagedPart | null {
  return why === 'unavailable' || why === 'unreachable' ? null : (why.slice('damaged-'.length) as DamagedPart)
}
