import type { LiveContent, RoomContent } from './room-content.ts'
import type { RoomHost } from './room-host.ts'
import type { RoomLog } from './room-log.ts'
import type { Member } from './room-members.ts'
import type { Writer } from './room-save.ts'

/** What syncing needs of its room. */
export interface SyncRoom {
  readonly host: RoomHost
  readonly id: number
  readonly workspaceId: string
  readonly members: ReadonlyMap<number, Member>
  readonly log: RoomLog
  /** Y clients that wrote in former lives of the document's id. [WS-62] */
  readonly formerClients: ReadonlySet<number>
  /** Loaded and not closed. */
  readonly isReady: boolean
  content(): RoomContent
  /** The live document, built at its first use. */
  live(): LiveContent
  /** An edit was emitted by a member, or by the relay itself (`null`); the body is behind. */
  edited(writer: Writer | null, updateBytes: number): void
  /** Runs a job while no other one of the room does. [LIFE-8] */
  alone(job: () => Promise<void>): Promise<void>
  /** The document may have become too slow to share a worker with others. [C8] */
  weighed(): void
  /** An exception where none may be. [C10] */
  failed(error: unknown): void
  /** Throws the live copy away and has the document loaded again, for everybody but the connection whose write broke it. [C10] */
  reload(without: number): void
  /** Throws the room away: its sockets come back with everything they have. [LIFE-6] */
  reset(): void
}
