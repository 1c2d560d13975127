import type { DocumentRef } from '../../documents/document-store.port.ts'
import type { Incarnation } from '../ownership.port.ts'
import type { FromWorker, NotLoaded, RoomTask, TaskOutcome, ToWorker } from '../worker-messages.ts'
import type { ConnectionMessage } from './room-sink.ts'
import type { Room } from './room-table.ts'

/** Another node that has connections or calls in a room which runs here. `remote/edges.ts` implements it. [LIFE-25] */
export interface RoomEdge {
  /** True while that node needs to know which person makes each change, for a record that it holds. [AG-20] */
  readonly isWatching: boolean
  /** The node that is the edge. */
  readonly edge: Incarnation
  /** The number of connections that the node has in the room. */
  readonly members: number
  updates(message: Extract<FromWorker, { kind: 'updates' }>): void
  awareness(message: Extract<FromWorker, { kind: 'awareness' }>): void
  changed(message: Extract<FromWorker, { kind: 'changed' }>): void
  mended(): void
  /** Called when the room is closed here. Nothing more is sent to the edge, and its connections are no longer members. */
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

/** The connections of all edges. They are members of rooms here, under connection numbers of this node. */
export interface EdgeConnections {
  /** Whether a connection number belongs to a connection at an edge. */
  owns(connection: number): boolean
  /** Forwards a message to the edge that has the connection of the message. Returns false when no edge has it. */
  deliver(message: ConnectionMessage): boolean
}

export type Hosted =
  | { readonly kind: 'open'; readonly room: Room }
  /** Another node owns the document. */
  | { readonly kind: 'moved' }
  | { readonly kind: 'gone' }
  | { readonly kind: NotLoaded }

/** The rooms of this node, as the nodes that are edges use them. */
export interface HostedRooms {
  /** Allows connections of edges to be members of rooms. */
  serve(connections: EdgeConnections): void
  /** Opens a document for an edge, when this node or no node owns it. Never rejects. */
  host(ref: DocumentRef, key: number): Promise<Hosted>
  /** Keeps the room resident and reports its events to the edge. Returns false when the room was closed or has moved since `host`. */
  addEdge(room: Room, edge: RoomEdge): boolean
  /** Removes an edge that no longer needs the room. Does nothing when the room has ended. */
  removeEdge(room: Room, edge: RoomEdge): void
  /** Sends a message of an edge to its room. */
  post(room: Room, message: ToWorker): void
  /** Called when the `isWatching` of an edge has changed. */
  edgeWatches(room: Room): void
  /**
   * Runs a task for an edge once the room is open. `moved`: the task was not done, because another node owns the document now.
   * Never rejects.
   */
  run(room: Room, task: RoomTask): Promise<TaskOutcome>
  /** Settles a document that is live here. Returns false when it is not live here or cannot be settled. Opens no room. Never rejects. [LIFE-11] */
  settleOwned(ref: DocumentRef, key: number): Promise<boolean>
  /** Closes the room of a document that an edge has deleted. Does nothing while the document exists. */
  dropDeleted(room: Room): Promise<void>
}
