import type { DocumentRef } from '../documents/document-store.port.ts'
import type { FromWorker, ToWorker } from './worker-messages.ts'

/** The message that a document worker was handling when it ended. */
export interface EndedRun {
  readonly room: number
  readonly connection: number
  readonly join: number
  /** 0 when the message bears no write. */
  readonly ordinal: number
}

/** Why a room should move: `must` when its next step may exceed what its home allows, `may` when another home is only better. [C8] */
export type MoveReason = 'must' | 'may'

/**
 * The homes of rooms, by number: the main loop for light rooms, and the document workers. `workers/room-homes.ts` opens them. Messages to a
 * room arrive in order, and what is posted to a worker that ends is lost. [C2, C8]
 */
export interface WorkerPool {
  /** Returns the home for this document, whose stored body has about `sizeBytes`. */
  homeFor(ref: DocumentRef, sizeBytes?: number): number
  /**
   * Whether a home takes this message. When it does not, the room has to move before the message can be handled, and its document does not
   * come back for a while. [C8]
   */
  takes(home: number, message: ToWorker): boolean
  post(home: number, message: ToWorker): void
  onMessage(listener: (home: number, message: FromWorker) => void): void
  /** Called when a room should move: its document belongs in another home. `may` is repeated until the room has moved. [C8] */
  onMisplaced(listener: (room: number, reason: MoveReason) => void): void
  /** Called when a worker ended and a new one has taken its number; everything posted to the old one is lost. */
  onEnded(listener: (home: number, running: EndedRun | null) => void): void
}
