import type { DocumentRef } from '../documents/document-store.port.ts'
import type { Incarnation } from './ownership.port.ts'
import type { FromWorker, ToWorker } from './worker-messages.ts'

/** The message that a document worker was handling when it ended. */
export interface EndedRun {
  readonly room: number
  readonly connection: number
  readonly join: number
  /** Is 0 when the message is not write-bearing. */
  readonly ordinal: number
}

/** Why a room should move. With `must`, its next step may exceed the bounds of its home. With `may`, another home is only better. [C8] */
export type MoveReason = 'must' | 'may'

/**
 * The homes of rooms. Each home has a number: -1 is the main loop, for light rooms; the numbers from 0 on are the document workers; the
 * numbers below -1 are other nodes. `workers/room-homes.ts` opens the homes of this node. Messages to a room arrive in order. Messages to a
 * worker that ends are lost. [C2, C8]
 */
export interface WorkerPool {
  /** Returns the home for this document, whose stored body has about `sizeBytes`. */
  homeFor(ref: DocumentRef, sizeBytes?: number): number
  /** Keeps a document in a separate worker when it is opened in the next ten minutes, because the document may crash nodes. [LIFE-26] */
  keepApart(ref: DocumentRef): void
  /**
   * Returns whether a home accepts this message. When it does not, the room has to move before the message can be handled, and its
   * document is not opened in this home for a while. [C8]
   */
  takes(home: number, message: ToWorker): boolean
  post(home: number, message: ToWorker): void
  onMessage(listener: (home: number, message: FromWorker) => void): void
  /** Adds a listener. It is called when a room should move to another home. A call with `may` is repeated until the room has moved. [C8] */
  onMisplaced(listener: (room: number, reason: MoveReason) => void): void
  /** Adds a listener. It is called when a worker has ended and a new worker has its number. All messages to the old worker are lost. */
  onEnded(listener: (home: number, running: EndedRun | null) => void): void
}

/** The homes of this node, and the other nodes of the relay as homes. `remote/node-homes.ts` opens them. [LIFE-25] */
export interface NodeHomes extends WorkerPool {
  /** Adds a listener. It is called when a node is not linked any more. Messages to that node may be lost, and it sends nothing more. */
  onLost(listener: (home: number) => void): void
  /**
   * Returns whether so many bytes are on their way to a home that the sockets that send to it should not be read until `onDrained`.
   * [WS-12]
   */
  isFull(home: number): boolean
  onDrained(listener: (home: number) => void): void
}

/** Returns the number of the home that stands for another node. */
export function homeOfNode(node: Incarnation): number {
  return -1 - node
}

/** Returns the node that a home stands for, or `null` for a home of this node. */
export function nodeOfHome(home: number): Incarnation | null {
  return home < -1 ? -1 - home : null
}
