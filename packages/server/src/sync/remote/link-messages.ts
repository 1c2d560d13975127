import type { DocumentRef } from '../../documents/document-store.port.ts'
import type { KeyedRef } from '../gateway/room-settling.ts'
import type { FromWorker, PresenceClocks, RoomTask, TaskOutcome, ToWorker } from '../worker-messages.ts'
import type { Tenure } from '../ownership.port.ts'

/**
 * Messages about rooms between an edge, which is a node with sockets or calls in a document that it does not own, and the owner.
 * Rooms, connections and jobs have the numbers of the edge, which the owner maps to its own. Both sides ignore kinds that they do
 * not know. [LIFE-25, LIFE-29]
 */
export type ToOwner =
  /** Opens a room for this edge; answered by `opened`. Later messages for the room wait until then. */
  | {
      readonly kind: 'open'
      readonly room: number
      readonly ref: DocumentRef
      readonly key: number
      readonly clocks?: PresenceClocks | undefined
      /**
       * The connections of the edge have the log through this sequence. The owner sends the rest of the log before any other
       * update.
       */
      readonly since?: number | undefined
      /** The tenure in which the connections got `since`. A node of the previous version leaves it out. */
      readonly sinceTenure?: Tenure | undefined
    }
  | Extract<ToWorker, { kind: 'join' | 'leave' | 'rights' | 'sync' | 'resync' | 'watch' | 'give-up' }>
  /** An AWARENESS update of one connection. */
  | { readonly kind: 'presence'; readonly room: number; readonly connection: number; readonly payload: Uint8Array }
  /** Answered by `done`. `mayGiveUp`: a `give-up` may follow. */
  | { readonly kind: 'job'; readonly job: number; readonly room: number; readonly task: SentTask; readonly mayGiveUp?: boolean }
  /** The edge no longer needs the room. */
  | { readonly kind: 'close'; readonly room: number }

/** A task that an edge may send to the owner. All other tasks concern only the node that runs the room. */
export type SentTask = Extract<RoomTask, { kind: 'settle' | 'put' | 'edit' | 'encode' | 'body-changed' | 'drop' }>

export type ToEdge =
  | {
      readonly kind: 'opened'
      readonly room: number
      /** `moved`: another node owns the document. */
      readonly outcome: Exclude<Extract<FromWorker, { kind: 'opened' }>['outcome'], 'elsewhere' | 'fenced'> | 'moved'
      readonly hasGap?: boolean
      /**
       * A connection that joins now gets the log through this sequence. Absent when the edge named `since`: then `updates`
       * carries it.
       */
      readonly seq?: number | undefined
      /** The tenure of the owner. A node of the previous version leaves it out. */
      readonly tenure?: Tenure | undefined
    }
  /** As a worker sends them, but a sender that is no connection of this edge is 0. */
  | Extract<FromWorker, { kind: 'updates' | 'awareness' | 'changed' | 'mended' | 'reset' | 'deleted' }>
  | Extract<FromWorker, { kind: 'direct' | 'settled' | 'refused' | 'former' | 'violation' | 'expel' }>
  /** The owner has closed the room and opens it again: the edge opens it again as well, and jobs go on. */
  | { readonly kind: 'reload'; readonly room: number; readonly without: number; readonly resumes: boolean }
  /** Another node owns the document: the edge finds out which one, and opens the room there. */
  | { readonly kind: 'moved'; readonly room: number }
  | { readonly kind: 'done'; readonly job: number; readonly outcome: TaskOutcome }

/** Messages by which a node asks another one to settle many documents at once, in either direction. */
export type SettlingMessage =
  /** Says that the sender understands `settle-all`. */
  | { readonly kind: 'answers-settle-all' }
  /** Answered by `settled-all` with the same number of the question. */
  | { readonly kind: 'settle-all'; readonly question: number; readonly documents: readonly KeyedRef[] }
  /** The sender has tried all documents. `count` of them are stored with everything that was applied before the question. */
  | { readonly kind: 'settled-all'; readonly question: number; readonly count: number }
