import type { DocumentRef } from '../documents/document-store.port.ts'
import type { Incarnation } from './ownership.port.ts'
import type { FromWorker, ToWorker } from './worker-messages.ts'

/** The message that a document worker was handling when it ended. */
export interface EndedRun {
  readonly room: number
  readonly connection: number
  readonly join: number
  /** 0 when the message carries no write. */
  readonly ordinal: number
}

/** Why a room should move: `must` when its next step may exceed what its home allows, `may` when another home is only better. [C8] */
export type MoveReason = 'must' | 'may'

/**
 * The homes of rooms, by number: the main loop for light rooms (-1), the document workers (from 0 on), and other nodes (below
 * -1). `workers/room-homes.ts` opens them. Messages to a room arrive in order. Messages to a worker that ends are lost. [C2, C8]
 */
export interface WorkerPool {
  /** Returns the home for this document, whose stored body has about `sizeBytes`. */
  homeFor(ref: DocumentRef, sizeBytes?: number): number
  /** Has a document opened apart from all others for the next ten minutes, because it may have ended nodes. [LIFE-26] */
  keepApart(ref: DocumentRef): void
  /**
   * Whether a home takes this message. When it does not, the room has to move before the message can be handled, and its document
   * stays out of this home for a while. [C8]
   */
  takes(home: number, message: ToWorker): boolean
  post(home: number, message: ToWorker): void
  onMessage(listener: (home: number, message: FromWorker) => void): void
  /** Called when a room should move: its document belongs in another home. `may` is repeated until the room has moved. [C8] */
  onMisplaced(listener: (room: number, reason: MoveReason) => void): void
  /** Called when a worker ended and a new one has taken its number; everything posted to the old one is lost. */
  onEnded(listener: (home: number, running: EndedRun | null) => void): void
}

/** Homes among which are other nodes of the same relay. `remote/node-homes.ts` opens them. [LIFE-25] */
export interface NodeHomes extends WorkerPool {
  /** Called when a node is not linked any more: what was posted to it may be lost, and nothing more comes from it. */
  onLost(listener: (home: number) => void): void
  /**
   * Whether so much is on its way to a home that sockets which send to it should not be read; `onDrained` tells when they may be
   * again. [WS-12]
   */
  isFull(home: number): boolean
  onDrained(listener: (home: number) => void): void
}

/** Returns the home that stands for another node. */
export function homeOfNode(node: Incarnation): number {
  return -1 - node
}

/** Returns the node for which a home stands; `null` for a home of this node. */
export function nodeOfHome(home: number): Incarnation | null {
  return home < -1 ? -1 - home : null
}
