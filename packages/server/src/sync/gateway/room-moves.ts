import { beginOpening, type Room } from './room-table.ts'
import type { RoomJobs } from './room-jobs.ts'

/**
 * Lets rooms move to the worker where their documents belong. Joins and calls wait meanwhile, and connections keep their edits until these
 * are acknowledged. [C8]
 */
export class RoomMoves {
  readonly #jobs: RoomJobs
  readonly #moving = new Set<Room>()

  constructor(jobs: RoomJobs) {
    this.#jobs = jobs
  }

  /** Asks the worker of an open room to hand it over. When it does, its message `reload` follows. */
  begin(room: Room): void {
    if (room.phase !== 'open') return
    beginOpening(room)
    this.#moving.add(room)
    void this.#jobs.run(room, { kind: 'hand-over' }).then((outcome) => {
      if (outcome.kind === 'evicted' || !this.#moving.delete(room) || room.phase !== 'opening') return
      room.phase = 'open'
      room.settleOpen('opened')
    })
  }

  /** The room was closed, or is opened again for whatever reason. */
  end(room: Room): void {
    this.#moving.delete(room)
  }
}
