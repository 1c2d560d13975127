import type { DocumentRef } from '../../documents/document-store.port.ts'
import type { Incarnation } from '../ownership.port.ts'
import type { FromWorker, NotLoaded, RoomTask, TaskOutcome, ToWorker } from '../worker-messages.ts'
import type { ConnectionMessage } from './room-sink.ts'
import type { Room } from './room-table.ts'

/** Another node that has connections or calls in a room which runs here. `remote/edges.ts` implements it. [LIFE-25] */
export interface RoomEdge {
  /** Somebody there wants to know who changes what. [AG-20] */
  readonly isWatching: boolean
  /** The node. */
  readonly edge: Incarnation
  /** How many connections it has in the room. */
  readonly members: number
  updates(message: Extract<FromWorker, { kind: 'updates' }>): void
  awareness(message: Extract<FromWorker, { kind: 'awareness' }>): void
  changed(message: Extract<FromWorker, { kind: 'changed' }>): void
  mended(): void
  /** The room is closed here. The edge is not told anything more, and its connections are not members any more. */
  ended(end: EdgeEnd): void
}

/** Why the room of an edge ended. */
export type EdgeEnd =
  /** Another node owns the document. */
  | { readonly kind: 'moved' }
  /** The room opens again at this node; see the message `reload`. */
  | { readonly kind: 'reload'; readonly without: number; readonly resumes: boolean }
  | Pick<Extract<FromWorker, { kind: 'reset' }>, 'kind' | 'writers'>
  | { readonly kind: 'deleted' }

/** Connections of all edges, which are members of rooms here under numbers of this node. */
export interface EdgeConnections {
  /** Whether this number is that of a connection at an edge. */
  owns(connection: number): boolean
  /** Sends a message on to the edge of its connection; false when the connection is none of an edge. */
  deliver(message: ConnectionMessage): boolean
}

export type Hosted =
  | { readonly kind: 'open'; readonly room: Room }
  /** Another node owns the document. */
  | { readonly kind: 'moved' }
  | { readonly kind: 'gone' }
  | { readonly kind: NotLoaded }

/** What edges need of the rooms of this node. */
export interface HostedRooms {
  /** Edges exist from now on. */
  serve(connections: EdgeConnections): void
  /** Opens a document for an edge, when this node owns it or nobody does. Never rejects. */
  host(ref: DocumentRef, key: number): Promise<Hosted>
  /** Keeps the room resident and tells the edge what happens in it; false when it has been closed or moved meanwhile. */
  addEdge(room: Room, edge: RoomEdge): boolean
  /** The edge needs the room no more. Does nothing when it was ended. */
  removeEdge(room: Room, edge: RoomEdge): void
  /** Sends a message of an edge to its room. */
  post(room: Room, message: ToWorker): void
  /** An edge began or ended to watch. */
  edgeWatches(room: Room): void
  /** Runs a task for an edge, once the room is open. `moved`: it was not done, as another node owns the document by now. Never rejects. */
  run(room: Room, task: RoomTask): Promise<TaskOutcome>
  /** Settles a document that is live here; false when it is not, or cannot be settled. Opens nothing. Never rejects. [LIFE-11] */
  settleOwned(ref: DocumentRef, key: number): Promise<boolean>
  /** Closes the room of a document that an edge has deleted; does nothing while the document is there. */
  dropDeleted(room: Room): Promise<void>
}
