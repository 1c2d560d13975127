import type { Incarnation } from './ownership.port.ts'

/**
 * One message between nodes. It is a plain value of objects, arrays, texts, finite numbers, booleans, null and Uint8Array, without shared
 * memory or functions. Members that are `undefined` do not arrive, as with JSON. A receiver ignores a `kind` that it does not know, so a
 * node of the next version can work beside it. [LIFE-29]
 */
export interface NodeMessage {
  readonly kind: string
}

/**
 * The direct connections between this node and the others. Messages to one peer arrive in order and once each, until the link is down.
 * When a link goes down, all messages that were posted to it may be lost, even if the link comes up again later. The two ends of a link may
 * notice at different moments that the link is down. [LIFE-25]
 *
 * Listeners are added and never removed. They are called in the order in which they were added. They may post, and they must not throw.
 */
export interface NodeLinks {
  /** Returns the incarnations of the nodes that are linked now, in no particular order. */
  peers(): readonly Incarnation[]
  /**
   * Sends a message to a peer, or drops it when the peer is not linked. The message is read before `post` returns, so the caller may
   * change it and its bytes afterwards. `post` never waits, and never throws because of the peer. When a link stays full and more
   * messages are posted to it, it goes down. A value that is not plain throws `TypeError`. A message above 100 MiB is dropped and logged.
   */
  post(peer: Incarnation, message: NodeMessage): void
  /** Adds a listener for messages. Byte arrays in a message are views of larger buffers. A listener that keeps them for long must copy them. */
  onMessage(listener: (peer: Incarnation, message: NodeMessage) => void): void
  /** Adds a listener. It is called for each link that came up, before the first message of the link. */
  onUp(listener: (peer: Incarnation) => void): void
  /** Adds a listener. It is called once for each link that went down, after the last message of the link. */
  onDown(listener: (peer: Incarnation) => void): void
  /**
   * Returns whether so many bytes are on their way to this peer that the sender should pause until `onDrained`. Returns false when the
   * peer is not linked.
   */
  isFull(peer: Incarnation): boolean
  /** Adds a listener. It is called when a full link has room again. It is not called when a full link goes down. */
  onDrained(listener: (peer: Incarnation) => void): void
}
