import type { LiveContent, RoomContent } from './room-content.ts'
import type { RoomHost } from './room-host.ts'
import type { RoomLog } from './room-log.ts'
import type { Member } from './room-members.ts'
import type { Writer } from './room-save.ts'

/** The part of a room that `RoomSync` needs. */
export interface SyncRoom {
  readonly host: RoomHost
  readonly id: number
  readonly workspaceId: string
  /** The epoch of the tenure in which this node owns the document; `null` in a relay of one node. [LIFE-26] */
  readonly epoch: number | null
  readonly members: ReadonlyMap<number, Member>
  readonly log: RoomLog
  /** Y clients that wrote in earlier lineages of this document id. [WS-62] */
  readonly formerClients: ReadonlySet<number>
  /** Whether the document is loaded and the room is not closed. */
  readonly isReady: boolean
  content(): RoomContent
  /** Returns the live document, which is built on first use. */
  live(): LiveContent
  /** Called when the document has emitted an update of a member, or of the relay itself (`null`). The stored body is older from then on. */
  edited(writer: Writer | null, updateBytes: number): void
  /** Runs a job while no other job of the room runs. [LIFE-8] */
  alone(job: () => Promise<void>): Promise<void>
  /** Called when the document may have become too slow or too large for its home. [C8] */
  weighed(): void
  /** Called with an unexpected exception. [C10] */
  failed(error: unknown): void
  /** Discards the live document and loads it again for all connections except the one whose write broke it. [C10] */
  reload(without: number): void
  /** Discards the room. Clients send unacknowledged edits again, in a relay of one node after they have reconnected. [LIFE-6] */
  reset(): void
}
