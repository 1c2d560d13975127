import type { Incarnation } from './ownership.port.ts'

/**
 * One message between nodes: a plain value (objects, arrays, texts, numbers, booleans, null, Uint8Array), without shared
 * memory, functions or undefined members. A receiver ignores a `kind` that it does not know, so that a node of the next
 * version can work beside it. [LIFE-29]
 */
export interface NodeMessage {
  readonly kind: string
}

/**
 * The direct connections between this node and the others. Messages to one peer arrive in order, each once, until the
 * link is down; everything that was posted to a link that went down may be lost, also when it comes up again. [LIFE-25]
 */
export interface NodeLinks {
  /** Incarnations that are linked now. */
  peers(): readonly Incarnation[]
  /** Drops the message when the peer is not linked. */
  post(peer: Incarnation, message: NodeMessage): void
  onMessage(listener: (peer: Incarnation, message: NodeMessage) => void): void
  onUp(listener: (peer: Incarnation) => void): void
  /** Called once for each link that went down, after its last message. */
  onDown(listener: (peer: Incarnation) => void): void
  /**
   * Whether so much is on its way to this peer that the sender should pause what makes more; `onDrained` tells when it
   * may go on.
   */
  isFull(peer: Incarnation): boolean
  onDrained(listener: (peer: Incarnation) => void): void
}
