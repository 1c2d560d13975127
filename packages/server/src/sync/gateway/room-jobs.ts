import { RelayError } from '../../kernel/errors.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { Room } from './room-table.ts'
import type { RoomTask, TaskOutcome, ToWorker } from '../worker-messages.ts'

interface Waiting {
  readonly room: Room
  readonly task: RoomTask['kind']
  readonly resolve: (outcome: TaskOutcome) => void
  readonly cancelTimer: () => void
}

export interface RoomJobsDeps {
  readonly timers: Timers
  readonly timeoutMs: number
  readonly post: (worker: number, message: ToWorker) => void
}

/**
 * Calls into rooms. An outcome is what the worker reported, never a guess: a call whose worker ended or did not answer in time fails as
 * not persisted where it might have written. [C7]
 */
export class RoomJobs {
  readonly #deps: RoomJobsDeps
  readonly #waiting = new Map<number, Waiting>()
  #next = 1

  constructor(deps: RoomJobsDeps) {
    this.#deps = deps
  }

  /** Never rejects. */
  run(room: Room, task: RoomTask): Promise<TaskOutcome> {
    const job = this.#next++
    const cancelTimer = this.#deps.timers.after(this.#deps.timeoutMs, () => {
      this.#finish(job, failure(task.kind, 'did not answer in time'))
    })
    return new Promise((resolve) => {
      this.#waiting.set(job, { room, task: task.kind, resolve, cancelTimer })
      this.#deps.post(room.worker, { kind: 'job', job, room: room.number, task })
    })
  }

  done(job: number, outcome: TaskOutcome): void {
    this.#finish(job, outcome)
  }

  /** The worker of this room ended, or the room is no more. */
  failAll(room: Room): void {
    for (const [job, waiting] of this.#waiting) if (waiting.room === room) this.#finish(job, failure(waiting.task, 'ended'))
  }

  #finish(job: number, outcome: TaskOutcome): void {
    const waiting = this.#waiting.get(job)
    if (!waiting) return
    this.#waiting.delete(job)
    waiting.cancelTimer()
    waiting.resolve(outcome)
  }
}

function failure(task: RoomTask['kind'], what: string): TaskOutcome {
  return {
    kind: 'failed',
    code: task === 'put' || task === 'edit' ? 'NOT_PERSISTED' : 'UNAVAILABLE',
    message: `The live document ${what}.`,
  }
}

/** The error that an unexpected outcome is for the caller. */
export function failed(outcome: TaskOutcome): RelayError {
  if (outcome.kind === 'failed') return new RelayError(outcome.code, outcome.message)
  return new RelayError('INTERNAL', `The live document answered ${outcome.kind}.`)
}

/** A write of a document that is not live or is gone is done cold. */
export function notWritten(outcome: TaskOutcome): 'not-resident' {
  if (outcome.kind === 'gone') return 'not-resident'
  throw failed(outcome)
}
