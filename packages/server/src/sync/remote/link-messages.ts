import type { DocumentRef } from '../../documents/document-store.port.ts'
import type { KeyedRef } from '../gateway/room-settling.ts'
import type { FromWorker, PresenceClocks, RoomTask, TaskOutcome, ToWorker } from '../worker-messages.ts'
import type { Tenure } from '../ownership.port.ts'

/**
 * The messages from an edge to the owner of a document. An edge is a node that has sockets or calls in a document of another owner. Rooms,
 * connections and jobs have the numbers of the edge here, and the owner maps them to its own numbers. Both sides ignore messages of a
 * kind that they do not know. [LIFE-25, LIFE-29]
 */
export type ToOwner =
  /** Opens a room for this edge. The answer is `opened`. Later messages for the room wait until then. */
  | {
      readonly kind: 'open'
      readonly room: number
      readonly ref: DocumentRef
      readonly key: number
      readonly clocks?: PresenceClocks | undefined
      /**
       * The connections of the edge have the log through this sequence. The owner sends them the rest of the log before any other update.
       */
      readonly since?: number | undefined
      /** The tenure in which the connections got `since`. A node of the previous version leaves it out. */
      readonly sinceTenure?: Tenure | undefined
    }
  | Extract<ToWorker, { kind: 'join' | 'leave' | 'rights' | 'sync' | 'resync' | 'watch' | 'give-up' }>
  /** An AWARENESS update of one connection. */
  | { readonly kind: 'presence'; readonly room: number; readonly connection: number; readonly payload: Uint8Array }
  /** Runs a task. The answer is `done`. With `mayGiveUp`, a `give-up` message may follow. */
  | { readonly kind: 'job'; readonly job: number; readonly room: number; readonly task: SentTask; readonly mayGiveUp?: boolean }
  /** The edge no longer needs the room. */
  | { readonly kind: 'close'; readonly room: number }

/** A task that an edge may send to the owner. All other tasks concern only the node that runs the room. */
export type SentTask = Extract<RoomTask, { kind: 'settle' | 'put' | 'edit' | 'encode' | 'body-changed' | 'drop' }>

export type ToEdge =
  | {
      readonly kind: 'opened'
      readonly room: number
      /** With `moved`, another node owns the document. */
      readonly outcome: Exclude<Extract<FromWorker, { kind: 'opened' }>['outcome'], 'elsewhere' | 'fenced'> | 'moved'
      readonly hasGap?: boolean
      /**
       * A connection that joins now gets the log through this sequence. It is absent when the edge sent `since`. In this case a later
       * `updates` message has the sequence as its `durableSeq`.
       */
      readonly seq?: number | undefined
      /** The tenure of the owner. A node of the previous version leaves it out. */
      readonly tenure?: Tenure | undefined
    }
  /** The same messages as from a worker, but a sender that is not a connection of this edge is 0. */
  | Extract<FromWorker, { kind: 'updates' | 'awareness' | 'changed' | 'mended' | 'reset' | 'deleted' }>
  | Extract<FromWorker, { kind: 'direct' | 'settled' | 'refused' | 'former' | 'violation' | 'expel' }>
  /** The owner has closed the room and opens it again. The edge opens it again too, and jobs continue. */
  | { readonly kind: 'reload'; readonly room: number; readonly without: number; readonly resumes: boolean }
  /** Another node owns the document. The edge looks up the owner and opens the room there. */
  | { readonly kind: 'moved'; readonly room: number }
  | { readonly kind: 'done'; readonly job: number; readonly outcome: TaskOutcome }

/** The messages by which a node asks another node to settle many documents at once. Both nodes may ask. */
export type SettlingMessage =
  /** Says that the sender understands `settle-all`. */
  | { readonly kind: 'answers-settle-all' }
  /** Asks the receiver to settle these documents. The answer is `settled-all` with the same `question`. */
  | { readonly kind: 'settle-all'; readonly question: number; readonly documents: readonly KeyedRef[] }
  /** The sender has tried all documents. For `count` of them, everything that was applied before the question is stored. */
  | { readonly kind: 'settled-all'; readonly question: number; readonly count: number }
