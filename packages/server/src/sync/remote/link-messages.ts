import type { DocumentRef } from '../../documents/document-store.port.ts'
import type { KeyedRef } from '../gateway/room-settling.ts'
import type { FromWorker, PresenceClocks, RoomTask, TaskOutcome, ToWorker } from '../worker-messages.ts'

/**
 * What nodes tell each other about rooms. Rooms, connections and jobs have the numbers of the edge, which is the node that has sockets or
 * calls of a document that it does not own; the owner maps them to its own. Both sides ignore kinds that they do not know. [LIFE-25, LIFE-29]
 */
export type ToOwner =
  /** Opens a room for this edge; answered by `opened`. What follows for the room waits until then. */
  | {
      readonly kind: 'open'
      readonly room: number
      readonly ref: DocumentRef
      readonly key: number
      readonly clocks?: PresenceClocks | undefined
      /** Up to here the connections of the edge have everything of the log; what came later is sent before all other updates. */
      readonly since?: number | undefined
      /** The tenure in which they got that. A node of the version before does not tell it. */
      readonly sinceEpoch?: number | undefined
    }
  | Extract<ToWorker, { kind: 'join' | 'leave' | 'rights' | 'sync' | 'resync' | 'watch' | 'give-up' }>
  /** An AWARENESS update of one connection. */
  | { readonly kind: 'presence'; readonly room: number; readonly connection: number; readonly payload: Uint8Array }
  /** Answered by `done`. `mayGiveUp`: a `give-up` may follow. */
  | { readonly kind: 'job'; readonly job: number; readonly room: number; readonly task: SentTask; readonly mayGiveUp?: boolean }
  /** The edge needs the room no more. */
  | { readonly kind: 'close'; readonly room: number }

/** A task that another node may be asked to do; what a room does for its own node stays there. */
export type SentTask = Extract<RoomTask, { kind: 'settle' | 'put' | 'edit' | 'encode' | 'body-changed' | 'drop' }>

export type ToEdge =
  | {
      readonly kind: 'opened'
      readonly room: number
      /** `moved`: another node owns the document. */
      readonly outcome: Exclude<Extract<FromWorker, { kind: 'opened' }>['outcome'], 'elsewhere' | 'fenced'> | 'moved'
      readonly hasGap?: boolean
      /** Up to here who joins now gets everything; absent for connections that were joined before, to which `updates` says it. */
      readonly seq?: number | undefined
      /** The tenure of the owner. A node of the version before does not tell it. */
      readonly epoch?: number | undefined
    }
  /** As from a worker; `senders` of other nodes are 0. */
  | Extract<FromWorker, { kind: 'updates' | 'awareness' | 'changed' | 'mended' | 'reset' | 'deleted' }>
  | Extract<FromWorker, { kind: 'direct' | 'settled' | 'refused' | 'former' | 'violation' | 'expel' }>
  /** The room is closed and opens again at the same owner: the edge opens it again, too, and jobs go on. */
  | { readonly kind: 'reload'; readonly room: number; readonly without: number; readonly resumes: boolean }
  /** Another node owns the document: the edge finds out which one, and opens the room there. */
  | { readonly kind: 'moved'; readonly room: number }
  | { readonly kind: 'done'; readonly job: number; readonly outcome: TaskOutcome }

/** What nodes tell each other to settle many documents at once, in either direction. */
export type SettlingMessage =
  /** The sender answers `settle-all`. */
  | { readonly kind: 'answers-settle-all' }
  /** Answered by `settled-all` with the same number of the question. */
  | { readonly kind: 'settle-all'; readonly question: number; readonly documents: readonly KeyedRef[] }
  /** All were tried; so many are stored with everything that was applied before the question. */
  | { readonly kind: 'settled-all'; readonly question: number; readonly count: number }
