import type { FromWorker, ToWorker } from '../worker-messages.ts'

/** The jobs after which a room may be gone from its home. */
export class LeavingRooms {
  readonly #jobs = new Map<number, { readonly room: number; readonly task: 'evict' | 'hand-over' | 'drop' }>()

  sent({ job, room, task }: Extract<ToWorker, { kind: 'job' }>): void {
    if (task.kind === 'evict' || task.kind === 'hand-over' || task.kind === 'drop') this.#jobs.set(job, { room, task: task.kind })
  }

  /** Returns the room that is closed by the end of this job, else `null`: a room that could not be stored stays open. */
  closedBy({ job, outcome }: Extract<FromWorker, { kind: 'done' }>): number | null {
    const leaving = this.#jobs.get(job)
    this.#jobs.delete(job)
    const isClosed = leaving?.task === 'drop' || outcome.kind === 'evicted' || outcome.kind === 'gone'
    return leaving !== undefined && isClosed ? leaving.room : null
  }
}
