import type { DocumentHead, DocumentRef } from '../../documents/document-store.port.ts'
import type {
  EditOutcome,
  EditRequest,
  EncodedDocument,
  PutOutcome,
  PutRequest,
  Residents,
} from '../../documents/residents.port.ts'
import { sharedSignal } from '../../kernel/given-up.ts'
import { type Connection, memberRights } from './connection.ts'
import { failed, notWritten, RoomJobs } from './room-jobs.ts'
import { expulsion, type Reopening, RoomRecovery } from './room-recovery.ts'
import { RoomMoves } from './room-moves.ts'
import { RoomNews } from './room-news.ts'
import { RoomRecords } from './room-records.ts'
import type { RoomSink } from './room-sink.ts'
import { addMember, joinedOf, opened, type OpenOutcome, type Room, RoomTable, removeMember, sharingOf } from './room-table.ts'
import { RoomTasks } from './room-tasks.ts'
import type { RoomsDeps } from './rooms-deps.ts'
import type { SharingWatch } from './sharing-watches.ts'
import type { FromWorker, NotLoaded, ToWorker } from '../worker-messages.ts'
import type { EndedRun } from '../worker-pool.port.ts'

export type WorkerReport = Extract<FromWorker, { kind: 'report' }>

export type Entered = { readonly kind: 'open'; readonly room: Room } | { readonly kind: 'gone' } | { readonly kind: NotLoaded }

/** Live documents: the worker of each, its joined connections, and the calls of `documents` into them. */
export interface Rooms extends Residents, AsyncDisposable {
  /** For what is told of stored changes. */
  readonly news: Pick<RoomNews, 'dropLife' | 'handedOut'>
  attach(sink: RoomSink): void
  /** Makes the document resident; waits for a load or an eviction in progress. Never rejects. [LIFE-17] */
  enter(head: DocumentHead): Promise<Entered>
  /** Adds a connection whose state is already `joined`; `false` when the room was closed meanwhile. [WS-23] */
  join(room: Room, connection: Connection): boolean
  leave(room: Room, connection: Connection): void
  /** Observes, until it is disposed, whether the sharing of this document changes: an earlier look-up may then be outdated. */
  watchSharing(ref: DocumentRef): SharingWatch
  /** Sends a message of a joined connection to its room. */
  post(room: Room, message: ToWorker): void
  /** Stores and forgets every document; resolves when each is done or has failed. [LIFE-28] */
  drain(): Promise<void>
  /** Removes the presence of agents from all rooms before connections are closed. Does not wait long for a busy room. [PRES-3] */
  endAgents(): Promise<void>
  /** Number of documents with a joined connection. */
  activeDocuments(): number
  /** The newest report of each home. */
  reports(): ReadonlyMap<number, WorkerReport>
}

const IDLE_MS = 30_000
const JOB_TIMEOUT_MS = 30_000
const SWEEP_MS = 1_000
const END_AGENTS_MS = 500

export function openRooms(deps: RoomsDeps): Rooms {
  return new OpenRooms(deps)
}

class OpenRooms implements Rooms {
  readonly #deps: RoomsDeps
  readonly #table = new RoomTable()
  readonly #jobs: RoomJobs
  readonly #moves: RoomMoves
  readonly #tasks: RoomTasks
  readonly #recovery: RoomRecovery
  readonly #records: RoomRecords
  readonly news: RoomNews
  readonly #reports = new Map<number, WorkerReport>()
  #sink: RoomSink | null = null
  #cancelSweep: () => void

  constructor(deps: RoomsDeps) {
    this.#deps = deps
    const post = (home: number, message: ToWorker): void => deps.workers.post(home, message)
    this.#jobs = new RoomJobs({ timers: deps.timers, timeoutMs: deps.jobTimeoutMs ?? JOB_TIMEOUT_MS, post })
    this.#moves = new RoomMoves(this.#jobs, deps.timers)
    this.#tasks = new RoomTasks({
      table: this.#table,
      jobs: this.#jobs,
      moves: this.#moves,
      store: deps.store,
      enter: (head) => this.enter(head),
      drop: (ref) => this.drop(ref),
    })
    const { records, clock, log } = deps
    const postTo = (room: Room, message: ToWorker): void => this.post(room, message)
    this.#recovery = new RoomRecovery({ post: postTo, clock, log, isWatched: (ref) => records?.isHeld(ref) === true })
    this.#records = new RoomRecords({ records, table: this.#table, clock, post: postTo })
    this.news = new RoomNews({
      table: this.#table,
      timers: deps.timers,
      onSharing: (room) => this.#sink?.sharingChanged(room),
      drop: (ref) => this.drop(ref),
    })
    deps.workers.onMessage((home, message) => this.#receive(home, message))
    deps.workers.onMisplaced((number, reason) => this.#withRoom(number, (room) => this.#moves.begin(room, reason)))
    deps.workers.onEnded((home, running) => this.#workerEnded(home, running))
    this.#cancelSweep = deps.timers.after(SWEEP_MS, () => this.#sweep())
  }

  attach(sink: RoomSink): void {
    this.#sink = sink
  }

  async enter(head: DocumentHead): Promise<Entered> {
    for (;;) {
      const known = this.#table.of(head)
      // The id was deleted and created again: nobody may join the earlier document.
      if (known && known.key !== head.key) await this.drop(head)
      const room = known && known.key === head.key ? known : this.#open(head)
      room.idleSinceMs = this.#deps.clock.monotonicMs()
      if (room.phase === 'open') return { kind: 'open', room }
      if (room.phase === 'closed') return { kind: 'unavailable' }
      const evicting = room.phase === 'evicting'
      const outcome = await room.turning
      if (outcome !== 'opened' && !evicting) return { kind: outcome }
    }
  }

  join(room: Room, connection: Connection): boolean {
    const joined = joinedOf(connection)
    if (room.phase === 'closed' || joined === null) return false
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
    // The home in which the room is may be closed before it handles what this connection sent, or was not given it at all.
    if (room.phase === 'opening' && joined !== null) room.left.push(joined)
    room.idleSinceMs = this.#deps.clock.monotonicMs()
    if (room.phase !== 'closed') this.post(room, { kind: 'leave', room: room.number, connection: connection.id })
  }

  post(room: Room, message: ToWorker): void {
    const { workers } = this.#deps
    if (!room.mustMove && !workers.takes(room.home, message)) this.#moves.begin(room, 'must')
    // Connections keep what they sent until it is settled, and the home to which the room moves gets it in order.
    if (room.mustMove && message.kind === 'sync') return
    workers.post(room.home, message)
  }

  isResident(ref: DocumentRef): boolean {
    return this.#table.of(ref) !== undefined
  }

  hasGap(ref: DocumentRef): boolean {
    return this.#table.of(ref)?.hasGap ?? false
  }

  async settle(ref: DocumentRef, quietMs = 0): Promise<void> {
    await this.#tasks.runOpened(ref, { kind: 'settle', quietMs }, (head) => head.coveredSeq < head.lastSeq)
  }

  async encode(ref: DocumentRef): Promise<EncodedDocument | null> {
    const outcome = await this.#tasks.runOpened(ref, { kind: 'encode' }, () => true)
    if (outcome === null || outcome.kind === 'encoded') return outcome
    throw failed(outcome)
  }

  async put(request: PutRequest): Promise<PutOutcome | 'not-resident'> {
    const outcome = await this.#tasks.runWrite(request.ref, { kind: 'put', request })
    return outcome.kind === 'put' ? outcome.outcome : notWritten(outcome)
  }

  async edit(request: EditRequest, signal?: AbortSignal): Promise<EditOutcome | 'not-resident'> {
    const outcome = await this.#tasks.runWrite(request.ref, {
      kind: 'edit',
      request,
      ...(signal && { givenUp: sharedSignal(signal) }),
    })
    if (outcome.kind === 'given-up') signal?.throwIfAborted()
    return outcome.kind === 'edit' ? outcome.outcome : notWritten(outcome)
  }

  bodyChanged(ref: DocumentRef, version: number): void {
    const room = this.#table.of(ref)
    if (!room) return
    void this.#tasks.run(room, { kind: 'body-changed', version }).then((outcome) => {
      // A room that is opened again reads what is stored by then.
      if (outcome.kind !== 'failed' || room.phase === 'opening') return
      const fields = { docId: ref.id, workspace: ref.workspaceId, code: outcome.code }
      this.#deps.log.warn('room.body-changed.failed', outcome.message, fields)
    })
  }

  async drop(ref: DocumentRef): Promise<readonly string[]> {
    const room = this.#table.of(ref)
    if (!room) return []
    // From here on a JOIN looks the document up again; messages that the worker sent before still reach the members.
    this.#table.detach(room)
    this.news.ended(room)
    room.settleOpen('gone')
    await this.#jobs.run(room, { kind: 'drop' })
    const dropped = [...room.members]
    for (const connection of dropped) {
      removeMember(room, connection)
      this.#sink?.deleted(room, connection)
      this.#sink?.flush(connection)
    }
    this.#jobs.failAll(room)
    this.#table.forget(room)
    return dropped.map((connection) => String(connection.id))
  }

  watchSharing(ref: DocumentRef): SharingWatch {
    return this.news.watchSharing(ref)
  }

  sharingChanged(head: DocumentHead): void {
    this.news.sharingChanged(head)
  }

  async endAgents(): Promise<void> {
    const joined = [...this.#table.all()].filter(({ members }) => members.length > 0)
    const ended = Promise.all(joined.map((room) => this.#jobs.run(room, { kind: 'end-agents' })))
    await Promise.race([ended, new Promise<void>((resolve) => void this.#deps.timers.after(END_AGENTS_MS, resolve))])
  }

  async drain(): Promise<void> {
    this.#cancelSweep()
    await Promise.all(
      [...this.#table.all()].map(async (room) => {
        await room.turning
        const outcome = await this.#jobs.run(room, { kind: 'evict' })
        if (outcome.kind === 'evicted' || outcome.kind === 'gone') this.#table.forget(room)
        else
          this.#deps.log.warn('room.drain.failed', 'A live document was not stored at the stop; its log has every edit.', {
            docId: room.ref.id,
          })
      }),
    )
  }

  activeDocuments(): number {
    return [...this.#table.all()].filter(({ members }) => members.length > 0).length
  }

  reports(): ReadonlyMap<number, WorkerReport> {
    return this.#reports
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cancelSweep()
    this.#sink = null
  }

  #open(head: DocumentHead): Room {
    const ref = { workspaceId: head.workspaceId, id: head.id }
    const room = this.#table.create(
      ref,
      head.key,
      this.#deps.workers.homeFor(ref, head.sizeBytes),
      sharingOf(head),
      this.#deps.clock.monotonicMs(),
    )
    room.sharingVersion = head.version
    if (this.#recovery.isBarred(ref)) this.#opened(room, 'unavailable')
    else this.post(room, { kind: 'open', room: room.number, ref, key: head.key })
    return room
  }

  #opened(room: Room, outcome: OpenOutcome | 'elsewhere', hasGap = false): void {
    if (outcome === 'elsewhere') {
      if (room.phase === 'closed') this.#table.forget(room)
      else this.#openAgain(room, { running: null, without: 0, resumes: false })
      return
    }
    const { settleOpen } = room
    this.#setGap(room, hasGap)
    if (outcome === 'opened') {
      if (room.phase === 'opening') opened(room)
      this.#records.opened(room)
    } else {
      if (room.members.length > 0) this.#sink?.ended(room, outcome === 'gone' ? 'unavailable' : outcome, [])
      this.#table.forget(room)
    }
    settleOpen(outcome)
  }

  #setGap(room: Room, hasGap: boolean): void {
    if (room.hasGap === hasGap) return
    room.hasGap = hasGap
    this.#sink?.sharingChanged(room)
  }

  #receive(home: number, message: FromWorker): void {
    switch (message.kind) {
      case 'updates':
        return this.#withRoom(message.room, (room) => {
          this.#sink?.updates(room, message.updates, message.senders)
          this.news.given(room, message.durableSeq)
          this.#deps.edited?.(room.ref)
        })
      case 'awareness':
        return this.#withRoom(message.room, (room) => this.#sink?.awareness(room, message.frame, message.except))
      case 'changed':
        return this.#withRoom(message.room, (room) => this.#records.changed(room, message))
      case 'direct':
      case 'settled':
      case 'refused':
      case 'former':
      case 'violation':
      case 'expel':
        return this.#sink?.connection(message)
      case 'opened':
        this.#withRoom(message.room, (room) => this.news.given(room, message.seq))
        return this.#withRoom(message.room, (room) => this.#opened(room, message.outcome, message.hasGap))
      case 'mended':
        return this.#withRoom(message.room, (room) => this.#setGap(room, false))
      case 'reset':
        return this.#withRoom(message.room, (room) => this.#reset(room, message.writers))
      case 'reload':
        return this.#withRoom(message.room, (room) => this.#reload(room, message))
      case 'done':
        return this.#jobs.done(message.job, message.outcome)
      case 'report':
        this.#reports.set(home, message)
    }
  }

  #withRoom(number: number, use: (room: Room) => void): void {
    const room = this.#table.get(number)
    if (room) use(room)
  }

  #reset(room: Room, writers: readonly { readonly connection: number; readonly ordinal: number }[]): void {
    this.#table.forget(room)
    this.#sink?.ended(room, 'reset', writers)
    this.#jobs.failAll(room)
    room.settleOpen('unavailable')
  }

  #reload(room: Room, { without, clocks = [] }: Extract<FromWorker, { kind: 'reload' }>): void {
    room.clocks = clocks
    const resumes = this.#moves.isMoving(room)
    this.#jobs.failAll(room)
    if (room.phase !== 'closed') this.#openAgain(room, { running: null, without, resumes })
  }

  /** Opens the document again in the home where it belongs now. */
  #openAgain(room: Room, how: Reopening): void {
    this.#moves.end(room)
    room.home = this.#deps.workers.homeFor(room.ref)
    this.#recovery.reopen(room, how)
  }

  #workerEnded(home: number, running: EndedRun | null): void {
    const rooms = [...this.#table.all()].filter((room) => room.home === home)
    this.#recovery.noteEnd(rooms.find((room) => room.number === running?.room)?.ref ?? null)
    for (const room of rooms) {
      this.#jobs.failAll(room)
      // A drop or an eviction in progress has failed and reports that to its caller.
      if (room.phase === 'closed') continue
      this.#openAgain(room, { running, without: 0, resumes: false })
      if (this.#recovery.isBarred(room.ref)) this.#opened(room, 'unavailable')
    }
    if (running === null) return
    for (const message of expulsion(running)) this.#sink?.connection(message)
  }

  #sweep(): void {
    const nowMs = this.#deps.clock.monotonicMs()
    for (const room of this.#table.all()) {
      const idle =
        room.phase === 'open' && room.members.length === 0 && nowMs - room.idleSinceMs >= (this.#deps.idleMs ?? IDLE_MS)
      if (idle) this.#evict(room)
    }
    this.#cancelSweep = this.#deps.timers.after(SWEEP_MS, () => this.#sweep())
  }

  #evict(room: Room): void {
    room.phase = 'evicting'
    room.turning = this.#jobs.run(room, { kind: 'evict' }).then((outcome) => {
      const gone = outcome.kind === 'evicted' || outcome.kind === 'gone'
      if (gone) this.#table.forget(room)
      else if (room.phase === 'evicting') {
        room.phase = 'open'
        room.idleSinceMs = this.#deps.clock.monotonicMs()
      }
      if (outcome.kind === 'elsewhere') this.#moves.begin(room, 'must')
      return gone ? 'gone' : 'opened'
    })
  }
}
