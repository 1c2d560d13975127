import type { FromWorker, ToWorker } from '../worker-messages.ts'

/** The jobs after which a room may be gone from its home. A dropped one is gone in any case, so it is not waited for. */
export class LeavingRooms {
  /** The rooms, by job. */
  readonly #jobs = new Map<number, number>()

  sent({ job, room, task }: Extract<ToWorker, { kind: 'job' }>): void {
    if (task.kind === 'evict' || task.kind === 'hand-over') this.#jobs.set(job, room)
  }

  /** Returns the room that is closed by the end of this job, else `null`: a room that could not be stored stays open. */
  closedBy({ job, outcome }: Extract<FromWorker, { kind: 'done' }>): number | null {
    const room = this.#jobs.get(job)
    this.#jobs.delete(job)
    return outcome.kind === 'evicted' || outcome.kind === 'gone' ? (room ?? null) : null
  }
}
