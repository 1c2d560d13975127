/** The state of a session that its client changed after `initialize`. */
export interface KeptFacts {
  readonly isClosed: boolean
  /** `null` when the client set no level. */
  readonly logLevel: string | null
  readonly subscriptions: readonly string[]
}

/** A message about a session, for the node that has its stream or runs its request. */
export type SessionHint =
  /** A node opened a stream of the session, which ends the session's stream on any other node. [MCP-37] */
  | { readonly kind: 'stream'; readonly token: string }
  /** The client cancelled a request, which another node may be running. [MCP-15] */
  | { readonly kind: 'cancel'; readonly requestId: string | number }
  /** The stored facts changed: subscriptions, log level, or the session was closed. */
  | { readonly kind: 'changed' }

export type Subscribing = 'added' | 'had' | 'full'

/**
 * Facts of sessions that all nodes share, by the name of the session. They may be lost: such a session has no subscriptions and the standard
 * log level. While the bus does not answer, methods resolve to `null`. No method rejects. [MCP-32, LIFE-27]
 */
export interface SessionFacts {
  /** Returns the facts. They are kept for 24 h from this call on; those of a closed session for 1 h from its end. [MCP-34] */
  read(name: string): Promise<KeptFacts | null>
  /** Stores the level. Facts are kept for the 1,000 sessions of `owner` that were changed last. [MCP-34] */
  setLogLevel(name: string, owner: string, level: string): Promise<void>
  /** Adds a subscription. `full`: the session already has `most` subscriptions. [MCP-38] */
  subscribe(name: string, owner: string, uri: string, most: number): Promise<Subscribing | null>
  unsubscribe(name: string, uri: string): Promise<void>
  /** Forgets the facts, and remembers for 1 h that the session is closed. */
  close(name: string): Promise<void>
  /** Sends a hint to every listener of the session, also on this node. Hints may be lost. */
  tell(name: string, hint: SessionHint): void
  /** Calls `listener` with the hints of a session until the returned function is called. Ignores messages that are no hints. */
  listen(name: string, listener: (hint: SessionHint) => void): () => void
  /** Calls the listener whenever hints may have been lost. */
  onGap(listener: () => void): void
}
