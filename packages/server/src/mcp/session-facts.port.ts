/** What clients changed in a session after its start. */
export interface KeptFacts {
  readonly isClosed: boolean
  /** `null`: none was set. */
  readonly logLevel: string | null
  readonly subscriptions: readonly string[]
}

/** News of a session for the node that has its stream or runs its request. */
export type SessionHint =
  /** A node opened a stream, which takes the session over. [MCP-37] */
  | { readonly kind: 'stream'; readonly token: string }
  /** The client cancelled a request, which some other node may run. [MCP-15] */
  | { readonly kind: 'cancel'; readonly requestId: string | number }
  /** What is kept has changed: subscriptions, level, or that the session was closed. */
  | { readonly kind: 'changed' }

export type Subscribing = 'added' | 'had' | 'full'

/**
 * Facts of sessions that all nodes share, by name of the session. Nothing relies on them: a session whose facts are lost has no
 * subscriptions, and verbs answer `null` while the bus does not answer. No verb rejects. [MCP-32, LIFE-27]
 */
export interface SessionFacts {
  /** Facts are kept for 24 h from this call on; those of a closed session for an hour from its end. [MCP-34] */
  read(name: string): Promise<KeptFacts | null>
  /** `owner` is who has the session: facts are kept for 1,000 sessions of an owner, those changed last. [MCP-34] */
  setLogLevel(name: string, owner: string, level: string): Promise<void>
  /** `full`: there are `most` subscriptions already. [MCP-38] */
  subscribe(name: string, owner: string, uri: string, most: number): Promise<Subscribing | null>
  unsubscribe(name: string, uri: string): Promise<void>
  /** Forgets the facts, and remembers for an hour that the session is closed. */
  close(name: string): Promise<void>
  /** Tells all who listen to this session, this node included. It may be lost. */
  tell(name: string, hint: SessionHint): void
  /** Listens until the returned function is called. Messages that are no hints are ignored. */
  listen(name: string, listener: (hint: SessionHint) => void): () => void
  /** Calls the listener whenever hints may have been lost. */
  onGap(listener: () => void): void
}
