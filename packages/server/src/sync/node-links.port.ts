import type { Incarnation } from './ownership.port.ts'

/**
 * One message between nodes: a plain value (objects, arrays, texts, finite numbers, booleans, null, Uint8Array), without shared
 * memory or functions. Members that are `undefined` are left out on the way, as JSON does. A receiver ignores a `kind` that it
 * does not know, so that a node of the next version can work beside it. [LIFE-29]
 */
export interface NodeMessage {
  readonly kind: string
}

/**
 * The direct connections between this node and the others. Messages to one peer arrive in order, each once, until the link is
 * down; when a link goes down, everything that was posted to it may be lost, even if it comes up again later. The two ends of a
 * link do not notice at the same moment that it is down. [LIFE-25]
 *
 * Listeners are added, never removed, and are called in the order in which they were added; they may post. A listener must not
 * throw.
 */
export interface NodeLinks {
  /** Incarnations that are linked now, in no particular order. */
  peers(): readonly Incarnation[]
  /**
   * Drops the message when the peer is not linked. The message is read before `post` returns, so that the caller may change it
   * and its bytes afterwards. Never waits, and never throws because of the peer; a link that stays full while more is posted goes
   * down. Throws `TypeError` for a value that is not plain. A message above 100 MiB is dropped, which the log says.
   */
  post(peer: Incarnation, message: NodeMessage): void
  /** Byte arrays in a message are views of larger buffers: a listener that keeps them for long copies them. */
  onMessage(listener: (peer: Incarnation, message: NodeMessage) => void): void
  /** Called before the first message of a link. */
  onUp(listener: (peer: Incarnation) => void): void
  /** Called once for each link that went down, after its last message. */
  onDown(listener: (peer: Incarnation) => void): void
  /**
   * Whether so much is on its way to this peer that the sender should pause; `onDrained` tells when it may go on. False when the
   * peer is not linked.
   */
  isFull(peer: Incarnation): boolean
  /** Called when a link that was full has room again. Not called when it goes down while it is full. */
  onDrained(listener: (peer: Incarnation) => void): void
}
