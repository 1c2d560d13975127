import type { Clock } from '../../kernel/clock.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { RoomJobs } from './room-jobs.ts'
import type { RoomMoves } from './room-moves.ts'
import type { RoomOpenings } from './room-openings.ts'
import { isShared, type Room, type RoomTable } from './room-table.ts'
import type { RoomsDeps } from './rooms-deps.ts'
import type { WorkerReport } from './rooms.ts'

export interface RoomSweepDeps extends Pick<RoomsDeps, 'idleMs' | 'cacheMaxBytes'> {
  readonly table: RoomTable
  readonly jobs: RoomJobs
  readonly moves: RoomMoves
  readonly openings: RoomOpenings
  readonly clock: Clock
  readonly timers: Timers
  /** The newest report of each home. */
  readonly reports: ReadonlyMap<number, Pick<WorkerReport, 'cacheBytes' | 'roomBytes'>>
}

const SWEEP_MS = 1_000
const IDLE_MS = 30_000
/**
 * How long one node of several keeps the edits of a connection that has left. Before these edits are durable, the owner of the
 * document may end or an append may fail, and then the edits are sent again.
 */
const LEFT_KEPT_MS = 5_000

/**
 * Evicts documents that nobody needs, once a second, until it is disposed. [LIFE-17] A document is evicted when nobody has joined it for
 * 30 s. When the documents without connections take more memory than `cacheMaxBytes`, documents are evicted earlier, the longest idle
 * document first.
 */
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
    const { table, clock, timers, idleMs = IDLE_MS } = this.#deps
    const nowMs = clock.monotonicMs()
    const kept: Room[] = []
    for (const room of table.all()) {
      if (isFree(room)) {
        if (nowMs - room.idleSinceMs >= idleMs) this.#evict(room)
        else kept.push(room)
      }
      if (isShared(room) && room.left.length > 0) {
        room.left = room.left.filter(({ leftMs = 0 }) => nowMs - leftMs < LEFT_KEPT_MS)
      }
    }
    this.#evictAbove(kept, nowMs)
    this.#cancel = timers.after(SWEEP_MS, () => this.#sweep())
  }

  /** Evicts rooms from `free`, the longest idle room first, until the other rooms take at most `cacheMaxBytes`. */
  #evictAbove(free: readonly Room[], nowMs: number): void {
    const { cacheMaxBytes = null, reports } = this.#deps
    if (cacheMaxBytes === null) return
    let all = 0
    for (const { cacheBytes } of reports.values()) all += cacheBytes
    if (all <= cacheMaxBytes) return
    const bytesOf = bytesByRoom(reports)
    let bytes = free.reduce((sum, { number }) => sum + (bytesOf.get(number) ?? 0), 0)
    for (const room of free.toSorted((a, b) => a.idleSinceMs - b.idleSinceMs)) {
      if (bytes <= cacheMaxBytes) return
      const own = bytesOf.get(room.number) ?? 0
      // A room that was just opened is about to be used. A room with `left` still keeps edits of connections that have left.
      if (own === 0 || nowMs - room.idleSinceMs < SWEEP_MS || room.left.length > 0) continue
      bytes -= own
      this.#evict(room)
    }
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

  /** Gives up and forgets a document that was evicted. A caller that opens the document during this time waits. */
  async #givenUp(room: Room): Promise<'gone'> {
    await this.#deps.openings.release(room)
    this.#deps.table.forget(room)
    return 'gone'
  }
}

/** Whether no connection is joined to the room, and no other node has connections or calls in it. */
function isFree(room: Room): boolean {
  return room.phase === 'open' && room.members.length === 0 && room.edges.length === 0
}

/** Returns the bytes of rooms by their number. A room that has moved may be in two reports; either estimate will do. */
function bytesByRoom(reports: RoomSweepDeps['reports']): ReadonlyMap<number, number> {
  const bytes = new Map<number, number>()
  for (const { roomBytes } of reports.values()) {
    for (let at = 0; at + 1 < roomBytes.length; at += 2) bytes.set(roomBytes[at] as number, roomBytes[at + 1] as number)
  }
  return bytes
}
