import type { FromWorker, ToWorker } from '../worker-messages.ts'

/** Remembers the jobs that may close their room when they end. A `drop` is not remembered, because it closes its room in any case. */
export class LeavingRooms {
  /** Room numbers by job number. */
  readonly #jobs = new Map<number, number>()

  sent({ job, room, task }: Extract<ToWorker, { kind: 'job' }>): void {
    if (task.kind === 'evict' || task.kind === 'hand-over') this.#jobs.set(job, room)
  }

  /** Returns the room that the end of this job closes, or `null`. A room that could not be stored stays open. */
  closedBy({ job, outcome }: Extract<FromWorker, { kind: 'done' }>): number | null {
    const room = this.#jobs.get(job)
    this.#jobs.delete(job)
    return outcome.kind === 'evicted' || outcome.kind === 'gone' ? (room ?? null) : null
  }
}
