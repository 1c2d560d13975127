import type { DocumentHead } from '../../documents/document-store.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { FromWorker } from '../worker-messages.ts'
import type { EndedRun, WorkerPool } from '../worker-pool.port.ts'
import type { EdgeConnections, EdgeEnd } from './room-edge.ts'
import type { RoomJobs } from './room-jobs.ts'
import type { RoomMoves } from './room-moves.ts'
import type { RoomPlaces } from './room-places.ts'
import type { RoomRecords } from './room-records.ts'
import { expulsion, type Reopening, type RoomRecovery } from './room-recovery.ts'
import type { RoomSink } from './room-sink.ts'
import { beginOpening, isElsewhere, opened, type Room, type RoomTable, sharingOf } from './room-table.ts'

export interface RoomOpeningsDeps {
  readonly workers: WorkerPool
  readonly table: RoomTable
  readonly jobs: RoomJobs
  readonly moves: RoomMoves
  readonly recovery: RoomRecovery
  readonly records: RoomRecords
  /** `null`: the relay is alone, and every document is opened here. */
  readonly places: RoomPlaces | null
  readonly clock: Clock
  readonly sink: () => RoomSink | null
  readonly edges: () => EdgeConnections | null
}

/** The room was closed by its home, and nothing of it goes on there. */
const ANEW: Reopening = { running: null, without: 0, resumes: false }

/**
 * Opens documents in their homes, and opens them again when a home ends, when a room moves, or when another node becomes the owner. Connections
 * stay joined meanwhile. [C6, C8, LIFE-25]
 */
export class RoomOpenings {
  readonly #deps: RoomOpeningsDeps

  constructor(deps: RoomOpeningsDeps) {
    this.#deps = deps
  }

  /** Opens a document of which there is no room. */
  open(head: DocumentHead): Room {
    const { workers, table, places, recovery, clock } = this.#deps
    const ref = { workspaceId: head.workspaceId, id: head.id }
    const home = places === null ? workers.homeFor(ref, head.sizeBytes) : null
    const room = table.create(ref, head.key, home, sharingOf(head), clock.monotonicMs())
    room.sharingVersion = head.version
    if (recovery.isBarred(ref)) this.opened(room, { outcome: 'unavailable' })
    else if (home === null) this.#place(room, head.sizeBytes)
    else workers.post(home, { kind: 'open', room: room.number, ref, key: head.key })
    return room
  }

  /** The home of a room has loaded its document, or has not. */
  opened(
    room: Room,
    { outcome, hasGap = false, seq }: Pick<Extract<FromWorker, { kind: 'opened' }>, 'outcome' | 'hasGap' | 'seq'>,
  ): void {
    if (outcome === 'fenced') return this.fenced(room)
    if (outcome === 'elsewhere') {
      if (room.phase === 'closed') this.#forget(room)
      else this.#openAgain(room, ANEW)
      return
    }
    const { settleOpen } = room
    if (seq !== undefined) room.since = seq
    this.setGap(room, hasGap)
    if (outcome === 'opened') {
      if (room.phase === 'opening') opened(room)
      this.#deps.records.opened(room)
    } else {
      if (room.members.length > 0) this.#deps.sink()?.ended(room, outcome === 'gone' ? 'unavailable' : outcome, [])
      this.#forget(room)
    }
    settleOpen(outcome)
  }

  setGap(room: Room, hasGap: boolean): void {
    if (room.hasGap === hasGap) return
    room.hasGap = hasGap
    this.#deps.sink()?.sharingChanged(room)
  }

  /** The log refused a write. */
  reset(room: Room, writers: Extract<FromWorker, { kind: 'reset' }>['writers']): void {
    const { table, jobs, sink } = this.#deps
    table.forget(room)
    sink()?.ended(room, 'reset', writers)
    this.endEdges(room, { kind: 'reset', writers })
    if (!isElsewhere(room)) jobs.failAll(room)
    room.settleOpen('unavailable')
  }

  /** The room was closed by its home and opens again. Another node goes on with the jobs that it was given. */
  reload(room: Room, { without, clocks = [], resumes = false }: Extract<FromWorker, { kind: 'reload' }>): void {
    const { moves, jobs, recovery } = this.#deps
    room.clocks = clocks
    if (isElsewhere(room)) {
      if (room.phase !== 'closed') recovery.reopen(room, { running: null, without, resumes })
      return
    }
    const isMoving = moves.isMoving(room)
    jobs.failAll(room)
    this.endEdges(room, { kind: 'reload', without, resumes: isMoving })
    if (room.phase !== 'closed') this.#openAgain(room, { running: null, without, resumes: isMoving })
  }

  /** A document worker ended and has lost all that it had. */
  workerEnded(home: number, running: EndedRun | null): void {
    const { table, jobs, recovery, edges, sink } = this.#deps
    const rooms = [...table.all()].filter((room) => room.home === home)
    recovery.noteEnd(rooms.find((room) => room.number === running?.room)?.ref ?? null)
    // An edge is told before its room ends, after which it is not known here whose connection it was.
    const isOfEdge = running !== null && edges()?.owns(running.connection) === true
    if (isOfEdge) for (const message of expulsion(running)) edges()?.deliver(message)
    for (const room of rooms) {
      jobs.failAll(room)
      this.endEdges(room, { kind: 'reload', without: running?.room === room.number ? running.connection : 0, resumes: false })
      // A drop or an eviction in progress has failed and reports that to its caller.
      if (room.phase === 'closed') continue
      this.#openAgain(room, { running, without: 0, resumes: false })
      if (recovery.isBarred(room.ref)) this.opened(room, { outcome: 'unavailable' })
    }
    if (running === null || isOfEdge) return
    for (const message of expulsion(running)) sink()?.connection(message)
  }

  /** Another node owns the document: opens it there. Nobody's connection is closed. [LIFE-26] */
  fenced(room: Room): void {
    this.endEdges(room, { kind: 'moved' })
    if (room.phase === 'closed') return
    // Nobody is joined: who waits for the eviction opens the document again.
    if (room.phase === 'evicting') this.#deps.table.forget(room)
    else this.#place(room)
  }

  /** The node that is this home cannot be reached any more. [LIFE-25] */
  lost(home: number): void {
    for (const room of Array.from(this.#deps.table.all())) {
      if (room.home !== home) continue
      this.#deps.jobs.failAll(room)
      this.fenced(room)
    }
  }

  /** Gives a document up that its room has stored. [LIFE-17] */
  async release({ key, epoch }: Room): Promise<void> {
    if (epoch !== null) await this.#deps.places?.release(key, epoch)
  }

  endEdges(room: Room, end: EdgeEnd): void {
    for (const edge of room.edges.splice(0)) edge.ended(end)
  }

  /** Finds the node that owns the document, and opens the room there. */
  #place(room: Room, sizeBytes?: number): void {
    const { places, workers, moves, recovery, sink } = this.#deps
    if (places === null) return
    if (room.phase !== 'opening') beginOpening(room)
    moves.end(room)
    room.home = null
    room.epoch = null
    const placing = ++room.placings
    const isWanted = (): boolean => room.placings === placing && room.phase !== 'closed'
    void places.find(room.key, isWanted).then((place) => {
      if (!isWanted() || place === null) {
        if (place?.kind === 'here') void places.release(room.key, place.epoch)
        return
      }
      if (place.kind === 'gone' || place.kind === 'unavailable') return this.opened(room, { outcome: place.kind })
      if (place.kind === 'here') room.epoch = place.epoch
      room.home = place.kind === 'here' ? workers.homeFor(room.ref, sizeBytes) : place.home
      recovery.reopen(room, ANEW)
      sink()?.resume(room)
    })
  }

  /** Opens the document again in the home where it belongs now. */
  #openAgain(room: Room, how: Reopening): void {
    this.#deps.moves.end(room)
    room.home = this.#deps.workers.homeFor(room.ref)
    this.#deps.recovery.reopen(room, how)
  }

  #forget(room: Room): void {
    this.#deps.table.forget(room)
    if (room.epoch !== null) void this.release(room)
  }
}
