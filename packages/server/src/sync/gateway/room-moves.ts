import type { Timers } from '../../kernel/timers.ts'
import type { MoveReason } from '../worker-pool.port.ts'
import type { RoomJobs } from './room-jobs.ts'
import { beginOpening, opened, type Room } from './room-table.ts'

/** A room that must move but cannot yet, for example because a call runs, is asked again after this time. */
const AGAIN_MS = 20

/**
 * Moves rooms to the homes where their documents belong. Meanwhile joins and calls wait, and the gateway keeps the edits of the
 * connections until they are acknowledged. [C8]
 */
export class RoomMoves {
  readonly #jobs: RoomJobs
  readonly #timers: Timers
  /** Rooms that were asked to hand over. */
  readonly #moving = new Set<Room>()

  constructor(jobs: RoomJobs, timers: Timers) {
    this.#jobs = jobs
    this.#timers = timers
  }

  /**
   * Asks a room to hand its document over. When the room does so, its message `reload` follows. With reason `must`, the room is asked
   * again until it moves, and no call runs in between. With any other reason, a room that cannot move now stays where it is.
   */
  begin(room: Room, reason: MoveReason): void {
    if (room.mustMove) return
    room.mustMove = reason === 'must'
    this.#start(room)
  }

  isMoving(room: Room): boolean {
    return this.#moving.has(room)
  }

  /** Called when a room was closed, or is opened again for whatever reason. */
  end(room: Room): void {
    room.mustMove = false
    this.#moving.delete(room)
  }

  #start(room: Room): void {
    if (this.#moving.has(room) || room.phase === 'closed') return
    if (room.phase === 'open') {
      beginOpening(room)
      this.#moving.add(room)
      this.#ask(room)
    } else if (room.mustMove) void room.turning.then(() => room.mustMove && this.#start(room))
  }

  #ask(room: Room): void {
    const isMoving = (): boolean => this.#moving.has(room) && room.phase === 'opening'
    void this.#jobs.run(room, { kind: 'hand-over' }).then((outcome) => {
      if (outcome.kind === 'evicted' || !isMoving()) return
      if (room.mustMove) {
        this.#timers.after(AGAIN_MS, () => isMoving() && this.#ask(room))
        return
      }
      this.#moving.delete(room)
      opened(room)
      room.settleOpen('opened')
    })
  }
}
