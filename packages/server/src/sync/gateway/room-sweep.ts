import type { Clock } from '../../kernel/clock.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { RoomJobs } from './room-jobs.ts'
import type { RoomMoves } from './room-moves.ts'
import type { RoomOpenings } from './room-openings.ts'
import { isShared, type Room, type RoomTable } from './room-table.ts'

export interface RoomSweepDeps {
  readonly table: RoomTable
  readonly jobs: RoomJobs
  readonly moves: RoomMoves
  readonly openings: RoomOpenings
  readonly clock: Clock
  readonly timers: Timers
  /** How long a document stays resident when no connection is joined. [LIFE-17] */
  readonly idleMs: number
}

const SWEEP_MS = 1_000
/**
 * How long one node of several keeps the edits of a connection that has left: before they are durable, the owner of the document
 * may end, or its append fail.
 */
const LEFT_KEPT_MS = 5_000

/** Evicts documents that nobody needs, once a second, until it is disposed. [LIFE-17] */
export class RoomSweep implements Disposable {
  readonly #deps: RoomSweepDeps
  #cancel: () => void

  constructor(deps: RoomSweepDeps) {
    this.#deps = deps
    this.#cancel = deps.timers.after(SWEEP_MS, () => this.#sweep())
  }

  [Symbol.dispose](): void {
    this.#cancel()
  }

  #sweep(): void {
    const { table, clock, timers, idleMs } = this.#deps
    const nowMs = clock.monotonicMs()
    for (const room of table.all()) {
      const isFree = room.phase === 'open' && room.members.length === 0 && room.edges.length === 0
      if (isFree && nowMs - room.idleSinceMs >= idleMs) this.#evict(room)
      if (isShared(room) && room.left.length > 0) {
        room.left = room.left.filter(({ leftMs = 0 }) => nowMs - leftMs < LEFT_KEPT_MS)
      }
    }
    this.#cancel = timers.after(SWEEP_MS, () => this.#sweep())
  }

  #evict(room: Room): void {
    const { table, jobs, moves, clock } = this.#deps
    room.phase = 'evicting'
    room.turning = jobs.run(room, { kind: 'evict' }).then((outcome) => {
      const gone = outcome.kind === 'evicted' || outcome.kind === 'gone'
      if (gone && room.epoch !== null) return this.#givenUp(room)
      if (gone) table.forget(room)
      else if (room.phase === 'evicting') {
        room.phase = 'open'
        room.idleSinceMs = clock.monotonicMs()
      }
      if (outcome.kind === 'elsewhere') moves.begin(room, 'must')
      return gone ? 'gone' : 'opened'
    })
  }

  /** Gives up and forgets a document that was evicted. Whoever opens it meanwhile waits. */
  async #givenUp(room: Room): Promise<'gone'> {
    await this.#deps.openings.release(room)
    this.#deps.table.forget(room)
    return 'gone'
  }
}
