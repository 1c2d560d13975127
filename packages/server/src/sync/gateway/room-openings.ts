import type { DocumentHead, DocumentRef } from '../../documents/document-store.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { Incarnation } from '../ownership.port.ts'
import type { FromWorker, ToWorker } from '../worker-messages.ts'
import type { EndedRun, WorkerPool } from '../worker-pool.port.ts'
import { noteClocks } from './presence-clocks.ts'
import type { EdgeConnections, EdgeEnd } from './room-edge.ts'
import type { RoomJobs } from './room-jobs.ts'
import type { RoomMoves } from './room-moves.ts'
import type { Place, RoomPlaces } from './room-places.ts'
import type { RoomRecords } from './room-records.ts'
import { NO_RESETS, oneMore } from './room-resets.ts'
import { expulsion, type Reopening, type RoomRecovery } from './room-recovery.ts'
import type { RoomSink } from './room-sink.ts'
import type { NodePermits } from './rooms-deps.ts'
import type { Entered } from './rooms.ts'
import { beginOpening, isElsewhere, type OpenOutcome, opened, type Room, type RoomTable, sharingOf } from './room-table.ts'

export interface RoomOpeningsDeps {
  readonly workers: WorkerPool
  readonly table: RoomTable
  readonly jobs: RoomJobs
  readonly moves: RoomMoves
  readonly recovery: RoomRecovery
  readonly records: RoomRecords
  /** `null` in a relay of one node, which opens every document here. */
  readonly places: RoomPlaces | null
  /** The permissions of this node; `null` permits everything. */
  readonly may: NodePermits | null
  /** Closes the room of a document that is gone. */
  readonly drop: (ref: DocumentRef) => Promise<unknown>
  readonly clock: Clock
  readonly timers: Timers
  readonly sink: () => RoomSink | null
  readonly edges: () => EdgeConnections | null
}

/** A document that was taken over this often within ten minutes may have ended its owners, so it is opened apart from others. */
const TAKEOVERS_APART = 3
/** A document that was taken over this often is not opened for a while. */
const TAKEOVERS_BARRED = 5

/** The time after a failed load until the document is opened again. */
const AGAIN_MS = 300

type Reload = Extract<FromWorker, { kind: 'reload' }>

/** The facts about a document that are known when the search for its place begins; see `RoomPlaces.find`. */
interface Known {
  readonly owner?: DocumentHead['owner']
  readonly sizeBytes?: number
  readonly patienceMs?: number
}

/** The room is loaded again from the store and takes over nothing from its former home. */
const ANEW: Reopening = { without: 0, resumes: false }

/**
 * Opens documents in their homes, and opens them again when a home ends, when a room moves, or when another node becomes the
 * owner. Connections stay joined meanwhile. [C6, C8, LIFE-25]
 */
export class RoomOpenings {
  readonly #deps: RoomOpeningsDeps
  /** Rooms that are being handed over to another node, with the `reload` message if their home has closed them since. */
  readonly #handedOver = new Map<Room, Reload | null>()
  /** Counts how often a room here found that another node owns its document. */
  fencedTimes = 0

  constructor(deps: RoomOpeningsDeps) {
    this.#deps = deps
  }

  /** See `Rooms.enter`. `turned` waits until the entered room has been opened or evicted. */
  async enter(head: DocumentHead, turned: (room: Room) => Promise<OpenOutcome>): Promise<Entered> {
    const { table, clock, may, drop } = this.#deps
    for (;;) {
      if (may?.own() === false) return { kind: may.othersServe?.() === true ? 'unreachable' : 'unavailable' }
      const known = table.of(head)
      // The id was deleted and created again, and nobody may join the earlier document. Another caller may open the new document during
      // the drop, so the loop looks again.
      if (known && known.key !== head.key) {
        await drop(head)
        continue
      }
      const room = known ?? this.#open(head)
      room.idleSinceMs = clock.monotonicMs()
      if (room.phase === 'open') return { kind: 'open', room }
      if (room.phase === 'closed') return { kind: 'unavailable' }
      const evicting = room.phase === 'evicting'
      const outcome = await turned(room)
      if (outcome !== 'opened' && !evicting) return { kind: outcome }
    }
  }

  /** Creates the room of a document and begins to open it. */
  #open(head: DocumentHead): Room {
    const { workers, table, places, recovery, clock } = this.#deps
    const ref = { workspaceId: head.workspaceId, id: head.id }
    const home = places === null ? workers.homeFor(ref, head.sizeBytes) : null
    const room = table.create(ref, head.key, home, sharingOf(head), clock.monotonicMs())
    room.sharingVersion = head.version
    if (recovery.isBarred(ref)) this.opened(room, { outcome: 'unavailable' })
    else if (home === null) this.#place(room, { owner: head.owner, sizeBytes: head.sizeBytes })
    else workers.post(home, { kind: 'open', room: room.number, ref, key: head.key })
    return room
  }

  /** Called when the home of a room has loaded its document or failed to load it. */
  opened(
    room: Room,
    {
      outcome,
      hasGap = false,
      seq,
      tenure,
    }: Pick<Extract<FromWorker, { kind: 'opened' }>, 'hasGap' | 'seq' | 'tenure'> & {
      readonly outcome: OpenOutcome | 'elsewhere' | 'fenced'
    },
  ): void {
    if (outcome === 'fenced') return this.fenced(room)
    if (outcome === 'elsewhere') {
      if (room.phase === 'closed') this.#forget(room)
      else this.#openAgain(room, ANEW)
      return
    }
    if (outcome === 'unavailable' && this.#isTriedAgain(room)) return
    const { settleOpen } = room
    if (seq !== undefined) room.since = seq
    if (outcome === 'opened') room.sinceTenure = (room.epoch === null ? tenure : room.tenure) ?? null
    this.setGap(room, hasGap)
    if (outcome === 'opened') {
      if (room.phase === 'opening') opened(room)
      room.resets = { ...room.resets, untilMs: NO_RESETS.untilMs }
      this.#deps.records.opened(room)
    } else {
      if (room.members.length > 0) this.#deps.sink()?.ended(room, outcome === 'gone' ? 'unavailable' : outcome, [])
      this.#forget(room)
    }
    settleOpen(outcome)
  }

  /** Called when the gap in the log of a document is closed. [LIFE-5] */
  mended(room: Room): void {
    this.setGap(room, false)
    for (const edge of room.edges) edge.mended()
  }

  setGap(room: Room, hasGap: boolean): void {
    if (room.hasGap === hasGap) return
    room.hasGap = hasGap
    this.#deps.sink()?.sharingChanged(room)
  }

  /**
   * Called when the log refused a write, or its answer was lost. A relay of one node closes the sockets of the room. [LIFE-6]
   *
   * One node of several acquires the document anew, so that nothing of the former epoch can be stored any more, and loads it. Then it
   * sends the unacknowledged writes to the room again, which have no effect if the log has them already. So no socket is closed, unless
   * this happens too often or something other than the room has changed the log.
   */
  reset(room: Room, { writers, clocks }: Pick<Extract<FromWorker, { kind: 'reset' }>, 'writers' | 'clocks'>): void {
    const { table, jobs, sink, clock } = this.#deps
    const isNeeded = room.members.length > 0 || room.left.length > 0 || room.edges.length > 0
    const isOpen = room.phase === 'open' || room.phase === 'opening'
    const resets = isNeeded && isOpen && clocks !== undefined ? oneMore(room, clock.monotonicMs()) : null
    if (resets !== null && clocks !== undefined) {
      sink()?.notStored()
      room.resets = resets
      noteClocks(room.clocks, clocks)
      jobs.failAll(room)
      this.endEdges(room, { kind: 'reload', without: 0, resumes: false })
      return this.#placeAgain(room)
    }
    table.forget(room)
    sink()?.ended(room, 'reset', writers)
    this.endEdges(room, { kind: 'reset', writers })
    if (!isElsewhere(room)) jobs.failAll(room)
    room.settleOpen('unavailable')
  }

  /** Called when another process has replaced the log of a document that is open here. All members have to join again. [CFG-11] */
  replaced(room: Room): void {
    if (room.home !== null) this.#deps.workers.post(room.home, forgetting(room))
    this.reset(room, { writers: [] })
  }

  /** Called when the home of a room has closed it so that it is opened again. When that home is another node, jobs go on there. */
  reload(room: Room, message: Reload): void {
    const { without, clocks = [], resumes = false } = message
    const { moves, jobs, recovery } = this.#deps
    noteClocks(room.clocks, clocks)
    // `handOver` continues from here, because it knows whether its own task has closed the room.
    if (this.#handedOver.has(room)) return void this.#handedOver.set(room, message)
    if (isElsewhere(room)) {
      if (room.phase !== 'closed') recovery.reopen(room, { without, resumes })
      return
    }
    const isMoving = moves.isMoving(room)
    jobs.failAll(room)
    this.endEdges(room, { kind: 'reload', without, resumes: isMoving })
    if (room.phase !== 'closed') this.#openAgain(room, { without, resumes: isMoving })
  }

  /** Called when a document worker ended and lost its rooms. */
  workerEnded(home: number, running: EndedRun | null): void {
    const { table, jobs, recovery, edges, sink } = this.#deps
    const rooms = [...table.all()].filter((room) => room.home === home)
    recovery.noteEnd(rooms.find((room) => room.number === running?.room)?.ref ?? null)
    const expelled = running === null ? [] : [...expulsion(running)]
    const isOfEdge = running !== null && edges()?.owns(running.connection) === true
    const expel = (): void => {
      for (const message of expelled.splice(0)) {
        if (isOfEdge) edges()?.deliver(message)
        else sink()?.connection(message)
      }
    }
    // The edge is notified first. Once its room has ended, this node no longer knows to which edge the connection belongs.
    if (isOfEdge) expel()
    for (const room of rooms) {
      jobs.failAll(room)
      this.endEdges(room, { kind: 'reload', without: running?.room === room.number ? running.connection : 0, resumes: false })
      // The document of this room is being dropped. The task of `drop` has just failed, and `drop` goes on without its answer.
      if (room.phase === 'closed') continue
      // This check comes before any message is posted. Otherwise the home would get the room and run the harmful message again.
      if (recovery.isBarred(room.ref)) {
        this.#bar(room, room.number === running?.room ? expel : undefined)
        continue
      }
      if (running !== null) recovery.dropRunning(room, running)
      // Records of the ended home may still be on their way to the log. A new epoch makes the store refuse them, and the kept frames
      // contain the same edits.
      if (room.epoch === null) this.#openAgain(room, ANEW)
      else this.#place(room, { owner: null })
    }
    expel()
  }

  /** Called when another node owns the document. Opens the room there and closes no connection. [LIFE-26] */
  fenced(room: Room): void {
    if (room.epoch !== null) this.fencedTimes++
    this.endEdges(room, { kind: 'moved' })
    if (room.phase === 'closed') return
    // Nobody is joined. A caller that waits for the eviction opens the document again.
    if (room.phase === 'evicting') this.#deps.table.forget(room)
    else this.#place(room)
  }

  /** Called when another node has taken the document, and the home of its room does not know that yet. */
  taken(room: Room): void {
    const { jobs, workers } = this.#deps
    if (room.home !== null) workers.post(room.home, forgetting(room))
    jobs.failAll(room)
    this.fenced(room)
  }

  /** Called when the node whose home number is `home` cannot be reached any more. [LIFE-25] */
  lost(home: number): void {
    for (const room of Array.from(this.#deps.table.all())) {
      if (room.home !== home) continue
      this.#deps.jobs.failAll(room)
      this.fenced(room)
    }
  }

  /** Gives up a document that its room has stored. [LIFE-17] */
  async release({ key, epoch }: Room): Promise<void> {
    if (epoch !== null) await this.#deps.places?.release(key, epoch)
  }

  /**
   * Makes another node the owner of a document when all edits are durable. Connections stay joined. Returns false when a call runs in
   * the room, or when the room was closed or got another owner meanwhile. [LIFE-28]
   */
  async handOver(room: Room, to: Incarnation): Promise<boolean> {
    const { jobs, places, table } = this.#deps
    const { epoch } = room
    if (places === null || epoch === null || room.phase !== 'open') return false
    beginOpening(room)
    this.#handedOver.set(room, null)
    const outcome = await jobs.run(room, { kind: 'hand-over', bodyLater: true })
    const closed = this.#handedOver.get(room) ?? null
    this.#handedOver.delete(room)
    // The room was closed or fenced while the task ran.
    if (room.epoch !== epoch || !isOpening(room)) return false
    if (outcome.kind !== 'evicted' && closed !== null) {
      // Something else has closed the room, such as an edit that broke the live document.
      this.reload(room, closed)
      return false
    }
    if (outcome.kind !== 'evicted') {
      opened(room)
      room.settleOpen('opened')
      return false
    }
    const isHandedOver = await places.handOver(room.key, epoch, to)
    room.epoch = null
    if (room.members.length > 0 || room.left.length > 0) this.fenced(room)
    else {
      this.endEdges(room, { kind: 'moved' })
      table.forget(room)
      room.settleOpen('unavailable')
    }
    // When `isHandedOver` is false, the document has no owner now, or this node still owns it and opens it for other nodes.
    return isHandedOver
  }

  endEdges(room: Room, end: EdgeEnd): void {
    for (const edge of room.edges.splice(0)) edge.ended(end)
  }

  /** Finds the node that owns the document, and opens the room there. */
  #place(room: Room, known: Known = {}): void {
    const { places, workers, moves, recovery, sink } = this.#deps
    if (places === null) return
    if (room.phase !== 'opening') beginOpening(room)
    moves.end(room)
    room.home = null
    room.epoch = null
    const placing = ++room.placings
    const isWanted = (): boolean => room.placings === placing && room.phase !== 'closed'
    void places.find(room.key, isWanted, known.owner, known.patienceMs).then((place) => {
      if (!isWanted() || place === null) {
        if (place?.kind === 'here') void places.release(room.key, place.tenure.epoch)
        return
      }
      if (place.kind !== 'here' && place.kind !== 'there') return this.opened(room, { outcome: place.kind })
      // This node stays the owner, so that no other one takes the document and ends as well.
      if (place.kind === 'here' && place.takeovers >= TAKEOVERS_BARRED && recovery.bar(room.ref))
        return this.opened(room, { outcome: 'unavailable' })
      if (place.kind === 'here' && place.takeovers >= TAKEOVERS_APART) workers.keepApart(room.ref)
      if (place.kind === 'here' && this.#begins(room, place) === 'diverged') return this.reset(room, { writers: [] })
      room.home = place.kind === 'here' ? workers.homeFor(room.ref, known.sizeBytes) : place.home
      recovery.reopen(room, ANEW)
      sink()?.resume(room)
    })
  }

  /**
   * Begins a tenure of this node. Returns `diverged` when the database has lost the end of the log. Members have that end, but its
   * sequences will be given to other records. So the members have to join again and send the edits that they hold. [LIFE-25]
   */
  #begins(room: Room, { tenure, lastSeq }: Extract<Place, { kind: 'here' }>): 'diverged' | 'continued' {
    room.epoch = tenure.epoch
    room.tenure = tenure
    room.fromSeq = lastSeq
    return room.members.length > 0 && room.since !== null && room.since > lastSeq ? 'diverged' : 'continued'
  }

  /**
   * Schedules another load after a failed append, until a load succeeds or 12 s have passed. Returns false when it schedules none.
   */
  #isTriedAgain(room: Room): boolean {
    const { clock, timers, recovery } = this.#deps
    if (clock.monotonicMs() >= room.resets.untilMs || room.phase === 'closed' || recovery.isBarred(room.ref)) return false
    timers.after(AGAIN_MS, () => room.phase === 'opening' && this.#placeAgain(room))
    return true
  }

  /** Acquires a document of this node again, and waits for the store until `resets.untilMs`. */
  #placeAgain(room: Room): void {
    this.#place(room, { owner: null, patienceMs: room.resets.untilMs - this.#deps.clock.monotonicMs() })
  }

  /** Opens the document again in the home where it belongs now. */
  #openAgain(room: Room, how: Reopening): void {
    this.#deps.moves.end(room)
    room.home = this.#deps.workers.homeFor(room.ref)
    this.#deps.recovery.reopen(room, how)
  }

  /**
   * Closes a room whose document is not loaded for a while. First `expel` answers the sender of the message that ended the home;
   * otherwise this sender would get the same answer as all others. Then the members and all waiting callers are notified. [C6]
   */
  #bar(room: Room, expel?: () => void): void {
    this.#deps.moves.end(room)
    room.home = null
    expel?.()
    this.opened(room, { outcome: 'unavailable' })
  }

  #forget(room: Room): void {
    this.#deps.table.forget(room)
    if (room.epoch !== null) void this.release(room)
  }
}

/** Returns the message that makes a home forget a room without storing it. Its answer is ignored. */
function forgetting({ number }: Room): ToWorker {
  return { kind: 'job', job: 0, room: number, task: { kind: 'drop' } }
}

function isOpening({ phase }: Room): boolean {
  return phase === 'opening'
}
