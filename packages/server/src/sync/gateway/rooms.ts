import type { DocumentHead, DocumentRef } from '../../documents/document-store.port.ts'
import type {
  EditOutcome,
  EditRequest,
  EncodedDocument,
  PutOutcome,
  PutRequest,
  Residents,
} from '../../documents/residents.port.ts'
import { type Connection, memberRights } from './connection.ts'
import { clocksIn, noteClocks } from './presence-clocks.ts'
import { ResidentCalls } from './resident-calls.ts'
import { RoomDepartures } from './room-departures.ts'
import type { HostedRooms } from './room-edge.ts'
import { RoomHosting } from './room-hosting.ts'
import { cannotLoad, RoomJobs } from './room-jobs.ts'
import { RoomMoves } from './room-moves.ts'
import { RoomNews } from './room-news.ts'
import { RoomOpenings } from './room-openings.ts'
import { NO_TAKEOVERS, RoomPlaces } from './room-places.ts'
import { RoomRecords } from './room-records.ts'
import { RoomRecovery } from './room-recovery.ts'
import type { RoomSink } from './room-sink.ts'
import { RoomSettling } from './room-settling.ts'
import { addMember, isElsewhere, isShared, joinedOf, type Room, RoomTable, removeMember } from './room-table.ts'
import { RoomSweep } from './room-sweep.ts'
import { RoomTasks } from './room-tasks.ts'
import type { RoomCounts, RoomsDeps } from './rooms-deps.ts'
import { nodeOfHome } from '../worker-pool.port.ts'
import type { SharingWatch } from './sharing-watches.ts'
import type { FromWorker, NotLoaded, ToWorker } from '../worker-messages.ts'

export type WorkerReport = Extract<FromWorker, { kind: 'report' }>

export type Entered =
  | { readonly kind: 'open'; readonly room: Room }
  | { readonly kind: 'gone' }
  | { readonly kind: NotLoaded }
  | { readonly kind: 'unreachable' }

/** Live documents: the home of each, its joined connections, and the calls of `documents` into them. */
export interface Rooms extends Residents, AsyncDisposable {
  /** Receives news of stored changes. */
  readonly news: Pick<RoomNews, 'dropLife' | 'handedOut' | 'repaired' | 'sharingRead'>
  attach(sink: RoomSink): void
  /** Makes the document resident; waits for a load or an eviction in progress. Never rejects. [LIFE-17] */
  enter(head: DocumentHead): Promise<Entered>
  /** Adds a connection whose state is already `joined`. Returns false when the room was closed since `enter`. [WS-23] */
  join(room: Room, connection: Connection): boolean
  leave(room: Room, connection: Connection): void
  /** Returns an observer that shows whether the sharing of this document has changed. The caller disposes it. */
  watchSharing(ref: DocumentRef): SharingWatch
  /** Sends a message of a joined connection to its room. */
  post(room: Room, message: ToWorker): void
  /** The rooms of this node, for other nodes. [LIFE-25] */
  readonly hosted: HostedRooms
  /** Whether the link to the owner of the document is full. Sockets that send to a full link are not read. [WS-12] */
  isFull(room: Room): boolean
  /** Ends rooms of this node before it ends, or when it may own nothing any more. [LIFE-27, LIFE-28] */
  readonly departures: RoomDepartures
  /** The number of documents that this node owns or has open at other nodes, and that it lost or took. */
  counts(): RoomCounts
  /** Number of documents with a joined connection. */
  activeDocuments(): number
  /** The newest report of each home. */
  reports(): ReadonlyMap<number, WorkerReport>
}

const JOB_TIMEOUT_MS = 30_000

export function openRooms(deps: RoomsDeps): Rooms {
  return new OpenRooms(deps)
}

class OpenRooms implements Rooms {
  readonly #deps: RoomsDeps
  readonly #table = new RoomTable()
  readonly #jobs: RoomJobs
  readonly #moves: RoomMoves
  readonly #tasks: RoomTasks
  readonly #records: RoomRecords
  readonly #places: RoomPlaces | null
  readonly #openings: RoomOpenings
  readonly #calls: ResidentCalls
  readonly #settling: RoomSettling
  readonly #hosting: RoomHosting
  readonly departures: RoomDepartures
  readonly news: RoomNews
  readonly #reports = new Map<number, WorkerReport>()
  readonly #sweep: RoomSweep
  #sink: RoomSink | null = null

  constructor(deps: RoomsDeps) {
    this.#deps = deps
    const post = (home: number, message: ToWorker): void => deps.workers.post(home, message)
    const { workers, nodes, records, clock, timers, log } = deps
    const closedLate = (room: Room): void => this.#openings.reload(room, { kind: 'reload', room: room.number, without: 0 })
    this.#jobs = new RoomJobs({ timers, timeoutMs: deps.jobTimeoutMs ?? JOB_TIMEOUT_MS, post, closedLate })
    this.#moves = new RoomMoves(this.#jobs, deps.timers)
    this.#tasks = new RoomTasks({
      table: this.#table,
      jobs: this.#jobs,
      moves: this.#moves,
      store: deps.store,
      clock: deps.clock,
      timers: deps.timers,
      enter: (head, opened) => this.#openings.enter(head, opened),
      drop: (ref) => this.drop(ref),
      taken: (room) => this.#openings.taken(room),
    })
    this.#calls = new ResidentCalls(this.#tasks, deps.log)
    const postTo = (room: Room, message: ToWorker): void => this.post(room, message)
    const recovery = new RoomRecovery({ post: postTo, clock, log, isWatched: (ref) => records?.isHeld(ref) === true })
    this.#records = new RoomRecords({ records, table: this.#table, clock, post: postTo })
    this.#settling = new RoomSettling({
      timers,
      roomOf: (ref) => this.#table.of(ref),
      settle: (ref) => this.settle(ref),
      linked: () => nodes?.links.peers() ?? [],
      nodes: nodes?.settling ?? null,
    })
    this.#hosting = new RoomHosting({
      table: this.#table,
      store: deps.store,
      clock,
      tasks: this.#tasks,
      enter: (head) => this.enter(head),
      resident: (ref) => this.#table.of(ref),
      placeAgain: (room) => this.#openings.fenced(room),
      post: postTo,
      drop: (ref) => this.drop(ref),
      isLeaving: () => this.departures.isLeaving,
      release: async (key, epoch) => this.#places?.release(key, epoch),
      watch: (room) => this.#records.watch(room),
    })
    this.#places = nodes === undefined ? null : new RoomPlaces({ ...nodes, clock, timers, log })
    this.#openings = new RoomOpenings({
      workers,
      table: this.#table,
      jobs: this.#jobs,
      moves: this.#moves,
      recovery,
      records: this.#records,
      places: this.#places,
      may: nodes?.may ?? null,
      drop: (ref) => this.drop(ref),
      clock,
      timers,
      sink: () => this.#sink,
      edges: () => this.#hosting.connections,
    })
    this.#sweep = new RoomSweep({
      table: this.#table,
      jobs: this.#jobs,
      moves: this.#moves,
      openings: this.#openings,
      ...deps,
      reports: this.#reports,
    })
    this.departures = new RoomDepartures({
      table: this.#table,
      jobs: this.#jobs,
      openings: this.#openings,
      store: deps.store,
      post,
      links: nodes?.links ?? null,
      isDraining: (node) => nodes?.known?.isDraining(node) ?? false,
      sweep: this.#sweep,
      clock,
      timers,
      log,
    })
    this.news = new RoomNews({
      table: this.#table,
      timers: deps.timers,
      onSharing: (room) => this.#sink?.sharingChanged(room),
      drop: (ref) => this.drop(ref),
      replaced: (room) => this.#openings.replaced(room),
    })
    workers.onMessage((home, message) => this.#receive(home, message))
    workers.onMisplaced((number, reason) => {
      const room = this.#table.get(number)
      if (room) this.#moves.begin(room, reason)
    })
    workers.onEnded((home, running) => this.#openings.workerEnded(home, running))
    nodes?.homes.onLost((home) => this.#openings.lost(home))
    nodes?.homes.onDrained((home) => {
      for (const room of this.#table.all()) if (room.home === home) this.#sink?.resume(room)
    })
  }

  attach(sink: RoomSink): void {
    this.#sink = sink
  }

  enter(head: DocumentHead): Promise<Entered> {
    return this.#openings.enter(head, (room) => room.turning)
  }

  join(room: Room, connection: Connection): boolean {
    const joined = joinedOf(connection)
    if (room.phase === 'closed' || room.phase === 'evicting' || joined === null) return false
    const { binding, identity } = joined
    addMember(room, connection)
    this.post(room, {
      kind: 'join',
      room: room.number,
      connection: connection.id,
      join: binding.join,
      sub: identity.access.sub,
      ...memberRights(binding, identity),
      knowsLineage: binding.knowsLineage,
    })
    return true
  }

  leave(room: Room, connection: Connection): void {
    if (!removeMember(room, connection)) return
    const joined = joinedOf(connection)
    // The messages of this connection may be lost: the home may close before it handles them, or they were not sent to it yet.
    const isUnsure = room.phase === 'opening' || (isShared(room) && (joined?.binding.acks.kept.length ?? 0) > 0)
    if (isUnsure && joined !== null) room.left.push({ ...joined, leftMs: this.#deps.clock.monotonicMs() })
    room.idleSinceMs = this.#deps.clock.monotonicMs()
    if (room.phase !== 'closed') this.post(room, { kind: 'leave', room: room.number, connection: connection.id })
  }

  post(room: Room, message: ToWorker): void {
    const { home } = room
    // No home is known yet. Once the owner is found, the room is opened there and gets all kept writes of its connections.
    if (home === null) return
    if (!room.mustMove && !this.#deps.workers.takes(home, message)) this.#moves.begin(room, 'must')
    // Every write is kept until it is settled, and the home to which the room moves gets the kept writes in order.
    if (room.mustMove && message.kind === 'sync') return
    this.#deps.workers.post(home, message)
  }

  get hosted(): HostedRooms {
    return this.#hosting
  }

  isFull(room: Room): boolean {
    const { nodes } = this.#deps
    return nodes !== undefined && room.home !== null && nodes.homes.isFull(room.home)
  }

  isResident(ref: DocumentRef): boolean {
    return this.#table.of(ref) !== undefined
  }

  hasGap(ref: DocumentRef): boolean {
    return this.#table.of(ref)?.hasGap ?? false
  }

  async settle(ref: DocumentRef, quietMs = 0): Promise<void> {
    if (this.#deps.nodes?.may?.own() === false) throw cannotLoad('unavailable', ref)
    return this.#calls.settle(ref, quietMs, (head) => head.coveredSeq < head.lastSeq || head.owner !== null)
  }

  settleAll(heads: readonly DocumentHead[], withinMs?: number): Promise<number> {
    return this.#settling.settleAll(heads, withinMs)
  }

  encode(ref: DocumentRef): Promise<EncodedDocument | null> {
    return this.#calls.encode(ref)
  }

  put(request: PutRequest): Promise<PutOutcome | 'not-resident'> {
    return this.#calls.put(request)
  }

  edit(request: EditRequest, signal?: AbortSignal): Promise<EditOutcome | 'not-resident'> {
    return this.#calls.edit(request, signal)
  }

  bodyChanged(ref: DocumentRef, version: number): void {
    const room = this.#table.of(ref)
    if (room) this.#calls.bodyChanged(room, version)
  }

  async drop(ref: DocumentRef): Promise<readonly string[]> {
    const room = this.#table.of(ref)
    if (!room) return []
    // After `detach`, a JOIN looks the document up again. Messages that the home sent before still reach the members.
    this.#table.detach(room)
    this.news.ended(room)
    room.settleOpen('gone')
    const joined = room.members.map(({ id }) => String(id))
    await this.#jobs.run(room, { kind: 'drop' })
    // When the room is at another node, its message `deleted` may already have removed the members.
    const dropped = this.#dropped(room)
    return isElsewhere(room) ? joined : dropped
  }

  /** Removes everybody from the room of a deleted document. */
  #dropped(room: Room): readonly string[] {
    const dropped = [...room.members]
    for (const connection of dropped) {
      removeMember(room, connection)
      this.#sink?.deleted(room, connection)
      this.#sink?.flush(connection)
    }
    this.#openings.endEdges(room, { kind: 'deleted' })
    this.#jobs.failAll(room)
    this.#table.forget(room)
    return dropped.map(({ id }) => String(id))
  }

  watchSharing(ref: DocumentRef): SharingWatch {
    return this.news.watchSharing(ref)
  }

  sharingChanged(head: DocumentHead): void {
    this.news.sharingChanged(head)
  }

  counts(): RoomCounts {
    const all = [...this.#table.all()]
    const edge = all.filter(isElsewhere).length
    const { fencedTimes: fenced } = this.#openings
    return { owned: all.length - edge, edge, fenced, takeovers: this.#places?.takeovers ?? NO_TAKEOVERS }
  }

  activeDocuments(): number {
    return [...this.#table.all()].filter(({ members }) => members.length > 0).length
  }

  reports(): ReadonlyMap<number, WorkerReport> {
    return this.#reports
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#sweep[Symbol.dispose]()
    this.#sink = null
  }

  #receive(home: number, message: FromWorker): void {
    switch (message.kind) {
      case 'updates':
        return this.#withRoom(home, message.room, (room) => this.#updates(room, message))
      case 'awareness':
        return this.#withRoom(home, message.room, (room) => {
          // A home of this node reports the clocks itself when it closes the room.
          if (isElsewhere(room)) noteClocks(room.clocks, clocksIn(message.frame))
          this.#sink?.awareness(room, message.frame, message.except)
          for (const edge of room.edges) edge.awareness(message)
        })
      case 'changed':
        return this.#withRoom(home, message.room, (room) => {
          this.#records.changed(room, message)
          for (const edge of room.edges) edge.changed(message)
        })
      case 'direct':
      case 'settled':
      case 'refused':
      case 'former':
      case 'violation':
      case 'expel':
        return this.#hosting.connections?.deliver(message) === true ? undefined : this.#sink?.connection(message)
      case 'opened':
        return this.#withRoom(home, message.room, (room) => {
          this.news.given(room, message.seq)
          this.#openings.opened(room, message)
        })
      case 'mended':
        return this.#withRoom(home, message.room, (room) => this.#openings.mended(room))
      case 'reset':
        return this.#withRoom(home, message.room, (room) => this.#openings.reset(room, message))
      case 'reload':
        return this.#withRoom(home, message.room, (room) => this.#openings.reload(room, message))
      case 'fenced':
        return this.#withRoom(home, message.room, (room) => this.#openings.fenced(room))
      case 'deleted':
        return this.#withRoom(home, message.room, (room) => {
          this.#table.detach(room)
          room.settleOpen('gone')
          this.#dropped(room)
        })
      case 'done':
        return this.#jobs.done(message.job, message.outcome)
      case 'report':
        this.#reports.set(home, message)
    }
  }

  #updates(room: Room, message: Extract<FromWorker, { kind: 'updates' }>): void {
    if (message.durableSeq !== undefined) room.since = message.durableSeq
    this.#sink?.updates(room, message.updates, message.senders)
    this.news.given(room, message.durableSeq)
    for (const edge of room.edges) edge.updates(message)
    this.#deps.edited?.(room.ref)
  }

  /** Finds the room of a message. Ignores a message of another node about a room that no longer runs there. */
  #withRoom(home: number, number: number, use: (room: Room) => void): void {
    const room = this.#table.get(number)
    if (room && (nodeOfHome(home) === null ? !isElsewhere(room) : room.home === home)) use(room)
  }
}
