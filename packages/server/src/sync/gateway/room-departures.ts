import type { DocumentRef, DocumentStore } from '../../documents/document-store.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/log.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { NodeLinks } from '../node-links.port.ts'
import type { Incarnation } from '../ownership.port.ts'
import type { ToWorker } from '../worker-messages.ts'
import type { RoomJobs } from './room-jobs.ts'
import type { RoomOpenings } from './room-openings.ts'
import type { RoomEdge } from './room-edge.ts'
import { isElsewhere, isHeld, type Room, type RoomTable } from './room-table.ts'

export interface RoomDeparturesDeps {
  readonly table: RoomTable
  readonly jobs: RoomJobs
  readonly openings: RoomOpenings
  readonly store: Pick<DocumentStore, 'state'>
  readonly post: (home: number, message: ToWorker) => void
  /** `null` in a relay of one node. */
  readonly links: Pick<NodeLinks, 'peers'> | null
  /** Whether `node` is ending too. */
  readonly isDraining: (node: Incarnation) => boolean
  readonly sweep: Disposable
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
}

/** How often the hand-over of a room is tried when calls run in the room. */
const HAND_OVER_TRIES = 3
const HAND_OVER_EVERY_MS = 50
const END_AGENTS_MS = 500

/** Ends the rooms of this node before the node ends, and when it may not own documents any more. [LIFE-27, LIFE-28] */
export class RoomDepartures {
  readonly #deps: RoomDeparturesDeps

  /** True once this node is ending. From then on it opens no documents for other nodes. */
  isLeaving = false
  /** The duration of each hand-over since the last call of `takeHandOverSeconds`. */
  readonly #handOverSeconds: number[] = []

  constructor(deps: RoomDeparturesDeps) {
    this.#deps = deps
  }

  /** Removes the presence of agents from all rooms before connections are closed. Waits at most 500 ms for busy rooms. [PRES-3] */
  async endAgents(): Promise<void> {
    const joined = [...this.#deps.table.all()].filter(({ members }) => members.length > 0)
    const ended = Promise.all(joined.map((room) => this.#deps.jobs.run(room, { kind: 'end-agents' })))
    await Promise.race([ended, new Promise<void>((resolve) => void this.#deps.timers.after(END_AGENTS_MS, resolve))])
  }

  /**
   * Hands over every document in which other nodes have connections, to the node of `handOverTarget`. All connections in these documents
   * stay open. Resolves when each document is handed over or the attempts for it failed. [LIFE-28]
   */
  async handOver(): Promise<void> {
    this.isLeaving = true
    const { table, openings, links, isDraining, clock } = this.#deps
    if (links === null) return
    await Promise.all(
      [...table.all()].map(async (room) => {
        for (let tries = 0; tries < HAND_OVER_TRIES && room.edges.length > 0; tries++) {
          await room.turning
          const to = handOverTarget(room.edges, links.peers(), isDraining)
          if (to === null) return
          const beganMs = clock.monotonicMs()
          if (!(await openings.handOver(room, to))) continue
          this.#handOverSeconds.push((clock.monotonicMs() - beganMs) / 1_000)
          return
        }
      }),
    )
  }

  /** Returns the duration of each hand-over since the last call. */
  takeHandOverSeconds(): readonly number[] {
    return this.#handOverSeconds.splice(0)
  }

  /**
   * Repeats `handOver` until `done` resolves, because clients whose connections close here open the documents again through other nodes.
   * [LIFE-28]
   */
  async handOverUntil(done: Promise<unknown>): Promise<void> {
    let isDone = false
    const ended = done.finally(() => {
      isDone = true
    })
    while (!isDone) {
      await this.handOver()
      await Promise.race([ended, new Promise<void>((resolve) => void this.#deps.timers.after(HAND_OVER_EVERY_MS, resolve))])
    }
    await this.handOver()
  }

  /** Stores, closes and gives up every document; resolves when each is done or has failed. [LIFE-28] */
  async drain(): Promise<void> {
    this.#deps.sweep[Symbol.dispose]()
    await this.release()
  }

  /** Stores, closes and gives up every document of a node that goes on running but may own no document for now. [OPS-2] */
  async release(): Promise<void> {
    await Promise.all([...this.#deps.table.all()].map((room) => this.#release(room)))
  }

  /** Forgets every document without storing it: another node may own it by now. [LIFE-27] */
  suspend(): void {
    for (const room of Array.from(this.#deps.table.all())) this.#drop(room)
  }

  /**
   * Called when other nodes have taken documents of this node. Opens those documents at their new owners. Never rejects. [LIFE-26]
   */
  async robbed(): Promise<void> {
    for (const room of Array.from(this.#deps.table.all())) await this.#lookUpOwner(room)
  }

  /** Does the same as `robbed` for one document, which another node has written. Never rejects. [LIFE-26] */
  async lostTo(ref: DocumentRef): Promise<void> {
    const room = this.#deps.table.of(ref)
    if (room !== undefined) await this.#lookUpOwner(room)
  }

  async #lookUpOwner(room: Room): Promise<void> {
    const { store, openings } = this.#deps
    const { epoch } = room
    if (epoch === null || room.phase === 'closed') return
    const state = await store.state(room.ref).catch(() => null)
    if (state?.kind !== 'document' || room.epoch !== epoch) return
    const { key, owner } = state.head
    if (key === room.key && !isHeld(room, owner)) openings.taken(room)
  }

  async #release(room: Room): Promise<void> {
    while (room.phase === 'opening' || room.phase === 'evicting') await room.turning
    if (room.phase === 'closed') return
    // A connection that joins during the eviction waits. Afterwards the document is opened again for it, if this node may open documents.
    room.phase = 'evicting'
    const released = this.#evict(room)
    room.turning = released.then(() => 'gone')
    await released
  }

  async #evict(room: Room): Promise<void> {
    const { jobs, openings, table, log } = this.#deps
    const outcome = await jobs.run(room, { kind: 'evict' })
    if (outcome.kind !== 'evicted' && outcome.kind !== 'gone') {
      const text = 'A live document was not stored when this node gave it up; its log has every edit.'
      log.warn('room.drain.failed', text, { docId: room.ref.id })
      // Although the document could not be stored, it is given up, because another node may need it while this node goes on running.
      this.#drop(room)
      return openings.release(room)
    }
    await openings.release(room)
    openings.endEdges(room, { kind: 'moved' })
    table.forget(room)
  }

  /** Forgets a document without storing it, and does not wait for its home. */
  #drop(room: Room): void {
    const { table, jobs, openings, post } = this.#deps
    const { home } = room
    jobs.failAll(room)
    openings.endEdges(room, { kind: 'moved' })
    table.forget(room)
    room.settleOpen('unavailable')
    if (home !== null && !isElsewhere(room)) post(home, { kind: 'job', job: 0, room: room.number, task: { kind: 'drop' } })
  }
}

/**
 * Returns the node to which a document is handed over, or `null` when no linked node has connections in the document.
 *
 * The first choice is the linked node with most connections among those that are not ending. The second is any linked node that is not
 * ending, because the connections will follow. The last is the linked node with most connections.
 */
export function handOverTarget(
  edges: readonly Pick<RoomEdge, 'edge' | 'members'>[],
  linked: readonly Incarnation[],
  isDraining: (node: Incarnation) => boolean,
): Incarnation | null {
  const byMembers = edges.filter(({ edge }) => linked.includes(edge)).toSorted((a, b) => b.members - a.members)
  const [busiest] = byMembers
  if (busiest === undefined) return null
  const staying = byMembers.find(({ edge }) => !isDraining(edge))?.edge ?? linked.find((node) => !isDraining(node))
  return staying ?? busiest.edge
}
