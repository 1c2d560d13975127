import type { DocumentHead, DocumentRef, DocumentState, DocumentStore } from '../../documents/document-store.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import { damagedPartOf } from '../../kernel/damage.ts'
import type { RoomTask, TaskOutcome, ToWorker } from '../worker-messages.ts'
import type { EdgeConnections, Hosted, HostedRooms, RoomEdge } from './room-edge.ts'
import { isElsewhere, type Room, type RoomTable } from './room-table.ts'
import type { RoomTasks } from './room-tasks.ts'
import type { Entered } from './rooms.ts'

export interface RoomHostingDeps {
  readonly table: RoomTable
  readonly store: Pick<DocumentStore, 'state'>
  readonly clock: Clock
  readonly tasks: RoomTasks
  readonly enter: (head: DocumentHead) => Promise<Entered>
  /** The room of a document that is resident. */
  readonly resident: (ref: DocumentRef) => Room | undefined
  /** Searches again for the owner of a document whose room is being opened. */
  readonly placeAgain: (room: Room) => void
  readonly post: (room: Room, message: ToWorker) => void
  readonly drop: (ref: DocumentRef) => Promise<unknown>
  /** Whether this node is ending. */
  readonly isLeaving: () => boolean
  /** Gives up a document that this node owns without having it open. Never rejects. */
  readonly release: (key: number, epoch: number) => Promise<void>
  /** Tells a room again whether to report which person makes each change. */
  readonly watch: (room: Room) => void
}

/** The rooms of this node as other nodes use them. [LIFE-25] */
export class RoomHosting implements HostedRooms {
  readonly #deps: RoomHostingDeps
  /** `null` until `serve` is called. */
  connections: EdgeConnections | null = null

  constructor(deps: RoomHostingDeps) {
    this.#deps = deps
  }

  serve(connections: EdgeConnections): void {
    this.connections = connections
  }

  async host(ref: DocumentRef, key: number): Promise<Hosted> {
    const opening = this.#deps.resident(ref)
    if (opening?.key === key && opening.phase === 'opening') {
      // The asking node takes this node for the owner. When this node is opening the document at the asking node, the two nodes would
      // wait for each other.
      if (isElsewhere(opening)) this.#deps.placeAgain(opening)
      // Waits for the opening first, because the store may not answer until this node has the document open again.
      if ((await opening.turning) === 'opened' && isOpen(opening))
        return isElsewhere(opening) ? { kind: 'moved' } : { kind: 'open', room: opening }
    }
    let state: DocumentState
    try {
      state = await this.#deps.store.state(ref)
    } catch (error) {
      const part = damagedPartOf(error)
      return { kind: part === null ? 'unavailable' : `damaged-${part}` }
    }
    if (state.kind !== 'document' || state.head.key !== key) return { kind: 'gone' }
    if (this.#deps.isLeaving() && this.#deps.table.of(ref) === undefined) return this.#declined(state.head)
    const entered = await this.#deps.enter(state.head)
    // The answer is not `unreachable`, because the asking node may reach nodes that this node cannot reach.
    if (entered.kind === 'unreachable') return { kind: 'unavailable' }
    return entered.kind !== 'open' || !isElsewhere(entered.room) ? entered : { kind: 'moved' }
  }

  /**
   * Declines to open a document for another node, because this node is ending. Gives the document up, so that the other node can become
   * its owner. [LIFE-28]
   */
  async #declined({ key, owner }: DocumentHead): Promise<Hosted> {
    // When another node is the owner, this releases nothing, because the store compares the owner and the epoch.
    if (owner !== null) await this.#deps.release(key, owner.epoch)
    return { kind: 'moved' }
  }

  addEdge(room: Room, edge: RoomEdge): boolean {
    if (room.phase !== 'open' || room.home === null || isElsewhere(room)) return false
    room.edges.push(edge)
    return true
  }

  removeEdge(room: Room, edge: RoomEdge): void {
    const at = room.edges.indexOf(edge)
    if (at < 0) return
    room.edges.splice(at, 1)
    room.idleSinceMs = this.#deps.clock.monotonicMs()
    if (edge.isWatching) this.#deps.watch(room)
  }

  post(room: Room, message: ToWorker): void {
    this.#deps.post(room, message)
  }

  edgeWatches(room: Room): void {
    this.#deps.watch(room)
  }

  async run(room: Room, task: RoomTask): Promise<TaskOutcome> {
    if (room.phase !== 'open') await room.turning
    if (room.phase === 'closed') return { kind: 'failed', code: 'UNAVAILABLE', message: 'The live document was closed.' }
    // A task of an edge is not forwarded to a third node. After `moved`, the edge asks the owner itself.
    if (room.home === null || isElsewhere(room)) return { kind: 'moved' }
    const { epoch } = room
    const outcome = await this.#deps.tasks.run(room, task)
    return outcome.kind === 'settled' && epoch !== null ? { ...outcome, epoch } : outcome
  }

  async settleOwned(ref: DocumentRef, key: number): Promise<boolean> {
    const room = this.#deps.table.of(ref)
    if (room === undefined || room.key !== key) return false
    return (await this.run(room, { kind: 'settle' })).kind === 'settled'
  }

  async dropDeleted({ ref, key }: Room): Promise<void> {
    const state = await this.#deps.store.state(ref).catch(() => null)
    const isDeleted = state !== null && (state.kind !== 'document' || state.head.key !== key)
    if (isDeleted) await this.#deps.drop(ref)
  }
}

function isOpen({ phase }: Room): boolean {
  return phase === 'open'
}
