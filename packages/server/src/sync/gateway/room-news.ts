import type { DocumentHead, DocumentRef } from '../../documents/document-store.port.ts'
import type { Timers } from '../../kernel/timers.ts'
import { HandedOut } from './handed-out.ts'
import { type Room, type RoomTable, sharingOf } from './room-table.ts'
import { type SharingWatch, SharingWatches } from './sharing-watches.ts'

/** One life of a document. */
export type DocumentLife = DocumentRef & { readonly key: number }

/** What rooms hear of changes that are stored, by whichever node. [PERM-2, WS-53, WS-54] */
export class RoomNews {
  readonly #table: RoomTable
  readonly #handedOut: HandedOut
  readonly #sharing = new SharingWatches()
  readonly #onSharing: (room: Room) => void
  readonly #drop: (ref: DocumentRef) => Promise<readonly string[]>
  readonly #replaced: (room: Room) => void

  /** `onSharing`: decides the rights of all members again. `drop`: as `Residents.drop`. `replaced`: as in `RoomOpenings`. */
  constructor(given: {
    readonly table: RoomTable
    readonly timers: Timers
    readonly onSharing: (room: Room) => void
    readonly drop: (ref: DocumentRef) => Promise<readonly string[]>
    readonly replaced: (room: Room) => void
  }) {
    this.#table = given.table
    this.#handedOut = new HandedOut(given.timers)
    this.#onSharing = given.onSharing
    this.#drop = given.drop
    this.#replaced = given.replaced
  }

  watchSharing(ref: DocumentRef): SharingWatch {
    return this.#sharing.watch(ref)
  }

  sharingChanged(head: DocumentHead): void {
    this.#sharing.changed(head)
    const room = this.#table.of(head)
    // News of another node may be older than what the room was opened with.
    if (room?.key !== head.key || room.sharingVersion > head.version) return
    room.sharingVersion = head.version
    room.sharing = sharingOf(head)
    this.#onSharing(room)
  }

  /** Drops one life of a document; does nothing when another one is open, or none. [WS-54] */
  async dropLife(document: DocumentLife): Promise<readonly string[]> {
    return this.#table.of(document)?.key === document.key ? this.#drop(document) : []
  }

  /** The log of a document was replaced, and ends at `seq` since. A room that was opened later has what is there now. [CFG-11] */
  async repaired(document: DocumentLife, seq: number): Promise<void> {
    const room = this.#table.of(document)
    if (room?.key !== document.key) return
    await room.turning
    // Edges are told by the node that owns the document.
    if (room.phase === 'open' && room.epoch !== null && room.since !== null && room.since < seq) this.#replaced(room)
  }

  /**
   * Resolves when the members have been given the log of the document through `seq`, at most after 2 s; `null`: nobody has
   * to wait for it. [WS-53]
   */
  handedOut(document: DocumentLife, seq: number): Promise<void> | null {
    const room = this.#table.of(document)
    return room?.key === document.key ? this.#handedOut.reached(room, seq) : null
  }

  /** The home of a room has given everything through `seq` to be handed out; `undefined`: it does not tell. */
  given(room: Room, seq: number | undefined): void {
    if (seq !== undefined) this.#handedOut.note(room, seq)
  }

  ended(room: Room): void {
    this.#handedOut.ended(room)
  }
}
