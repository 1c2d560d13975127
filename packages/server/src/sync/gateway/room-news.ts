import { isDeepStrictEqual } from 'node:util'
import type { DocumentHead, DocumentRef } from '../../documents/document-store.port.ts'
import type { Timers } from '../../kernel/timers.ts'
import { HandedOut } from './handed-out.ts'
import { type Room, type RoomTable, sharingOf } from './room-table.ts'
import { type SharingWatch, SharingWatches } from './sharing-watches.ts'

/** One life of a document, from its creation to its deletion. */
export type DocumentLife = DocumentRef & { readonly key: number }

/** Tells the rooms of this node about changes that any node has stored. [PERM-2, WS-53, WS-54] */
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
    this.#takeSharing(room, head)
    this.#onSharing(room)
  }

  /**
   * Called with what a JOIN has read of the document of a room, which may be newer than all news until now. Version and list
   * rise together, or older news that come later would take the rights of those who have just been given them. [WS-22]
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

  /** Drops one life of a document; does nothing when another one is open, or none. [WS-54] */
  async dropLife(document: DocumentLife): Promise<readonly string[]> {
    return this.#table.of(document)?.key === document.key ? this.#drop(document) : []
  }

  /**
   * Called when the log of a document was replaced and ended at `seq` then. A room that was opened later has the new log already.
   * [CFG-11]
   */
  async repaired(document: DocumentLife, seq: number): Promise<void> {
    const room = this.#table.of(document)
    if (room?.key !== document.key) return
    await room.turning
    // Only the owner acts: it tells the edges.
    if (room.phase === 'open' && room.epoch !== null && room.since !== null && room.since < seq) this.#replaced(room)
  }

  /**
   * Resolves when the members have been given the log of the document through `seq`, after 2 s at the latest; `null` when nobody
   * has to wait for that. [WS-53]
   */
  handedOut(document: DocumentLife, seq: number): Promise<void> | null {
    const room = this.#table.of(document)
    return room?.key === document.key ? this.#handedOut.reached(room, seq) : null
  }

  /**
   * Notes that the members of a room have been given the log through `seq`; `undefined` when its home does not tell the sequence.
   */
  given(room: Room, seq: number | undefined): void {
    if (seq !== undefined) this.#handedOut.note(room, seq)
  }

  ended(room: Room): void {
    this.#handedOut.ended(room)
  }
}
