import type { FromWorker } from '../worker-messages.ts'
import type { Connection } from './connection.ts'
import type { NotOpen, Room } from './room-table.ts'

/** Receives the reports of rooms for the sockets. Rooms report nothing before `attach`. */
export interface RoomSink {
  updates(room: Room, updates: readonly Uint8Array[], senders: readonly number[]): void
  awareness(room: Room, frame: Uint8Array, except: number): void
  /** Messages for one connection. */
  connection(message: ConnectionMessage): void
  /** Closes the room's sockets, because the log refused a write or the document could not be loaded again. [LIFE-6] */
  ended(room: Room, why: 'reset' | NotOpen, writers: readonly { readonly connection: number; readonly ordinal: number }[]): void
  /** Counts a write that the log refused while everybody stays joined. [LIFE-6] */
  notStored(): void
  /** Unbinds one connection from a deleted document. [WS-54] */
  deleted(room: Room, connection: Connection): void
  sharingChanged(room: Room): void
  /** Resumes reading from members that were paused because the link to the owner of the document was full. [WS-12] */
  resume(room: Room): void
  flush(connection: Connection): void
}

export type ConnectionMessage = Extract<FromWorker, { kind: 'direct' | 'settled' | 'refused' | 'former' | 'violation' | 'expel' }>
