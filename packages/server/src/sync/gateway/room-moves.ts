import type { Timers } from '../../kernel/timers.ts'
import type { MoveReason } from '../worker-pool.port.ts'
import type { RoomJobs } from './room-jobs.ts'
import { beginOpening, opened, type Room } from './room-table.ts'

/** A room that must move but could not, for example because a call ran, is asked again after this time. */
const AGAIN_MS = 20

/**
 * Lets rooms move to the home where their documents belong. Joins and calls wait meanwhile, and connections keep their edits
 * until these are acknowledged. [C8]
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
   * Asks an open room to hand its document over. When it does, its message `reload` follows. A room that must move is asked again
   * until it does, and no call runs in between. A room that may move stays as it is when it cannot move now.
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
