import { isDeepStrictEqual } from 'node:util'
import type { DocumentHead, DocumentRef } from '../../documents/document-store.port.ts'
import type { Timers } from '../../kernel/timers.ts'
import { HandedOut } from './handed-out.ts'
import { type Room, type RoomTable, sharingOf } from './room-table.ts'
import { type SharingWatch, SharingWatches } from './sharing-watches.ts'

/** One life of a document, from its creation to its deletion. */
export type DocumentLife = DocumentRef & { readonly key: number }

/** Applies changes that any node has stored to the rooms of this node. [PERM-2, WS-53, WS-54] */
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
    // News from another node may be older than the sharing with which the room was opened.
    if (room?.key !== head.key || room.sharingVersion > head.version) return
    this.#takeSharing(room, head)
    this.#onSharing(room)
  }

  /**
   * Called with the head that a JOIN has read, which may be newer than all news so far. Takes version and share list together.
   * Otherwise older news that arrives later would take rights away from people who have just got them. [WS-22]
   */
  sharingRead(room: Room, head: DocumentHead): void {
    if (room.sharingVersion >= head.version) return
    const before = room.sharing
    this.#takeSharing(room, head)
    // Most versions leave the sharing as it was.
    if (!isDeepStrictEqual(before, room.sharing)) this.#onSharing(room)
  }

  #takeSharing(room: Room, head: DocumentHead): void {
    room.sharingVersion = head.version
    room.sharing = sharingOf(head)
  }

  /** Drops one life of a document. Does nothing when the open document is another life, or none is open. [WS-54] */
  async dropLife(document: DocumentLife): Promise<readonly string[]> {
    return this.#table.of(document)?.key === document.key ? this.#drop(document) : []
  }

  /**
   * Called when the log of a document was replaced by a log that ends at `seq`. A room that was opened later has the new log already.
   * [CFG-11]
   */
  async repaired(document: DocumentLife, seq: number): Promise<void> {
    const room = this.#table.of(document)
    if (room?.key !== document.key) return
    await room.turning
    // Only the owner of the document acts. The owner notifies the edges.
    if (room.phase === 'open' && room.epoch !== null && room.since !== null && room.since < seq) this.#replaced(room)
  }

  /**
   * Resolves when the members have got the log of the document through `seq`, after 2 s at the latest. Returns `null` when there is
   * nothing to wait for. [WS-53]
   */
  handedOut(document: DocumentLife, seq: number): Promise<void> | null {
    const room = this.#table.of(document)
    return room?.key === document.key ? this.#handedOut.reached(room, seq) : null
  }

  /**
   * Notes that the members of a room have got the log through `seq`; `undefined` when its home does not report a sequence.
   */
  given(room: Room, seq: number | undefined): void {
    if (seq !== undefined) this.#handedOut.note(room, seq)
  }

  ended(room: Room): void {
    this.#handedOut.ended(room)
  }
}
