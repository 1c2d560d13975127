import type { Incarnation } from '../sync/ownership.port.ts'

/**
 * The lease of a node lasts this long after its last heartbeat, by the database's clock. Then any node may take its documents.
 * [LIFE-26]
 */
export const LEASE_MS = 15_000
/**
 * A node whose last heartbeat is older than this is silent: another process may take its node_id, and a node that cannot reach it may
 * take over its documents. The age is measured by the clock of the database, or by watching the row. [LIFE-26, CFG-10]
 */
export const SILENT_MS = 3_000
/** Heartbeats go on for this long after the newest pulse of the main thread, so that a node whose main thread hangs does not seem alive. */
export const PULSE_VALID_MS = 2_000

/** The description of a node that the other nodes read in its row. */
export interface NodeDescription {
  /** `[cluster] node_id`: unique to the node, and the same at each of its starts. */
  readonly nodeId: string
  /** The URL at which other nodes reach the links of this node: `ws://<host>:<port>`. */
  readonly linkUrl: string
  /** Version of the program, for operators. */
  readonly program: string
}

/** `draining`: the node is ending and takes no new work. */
export type NodeState = 'up' | 'draining'

/** Another node whose lease is not over. */
export interface Peer extends NodeDescription {
  readonly inc: Incarnation
  readonly state: NodeState
  /** Time since the last heartbeat of the node in ms, by the database's clock. */
  readonly silentMs: number
}

export type Registration =
  | { readonly kind: 'registered'; readonly inc: Incarnation }
  /** Another process with this node_id is running, or a relay that uses the store alone is running. `reason`: a sentence for the operator. */
  | { readonly kind: 'taken'; readonly reason: string }

/** A heartbeat that the database answered. */
export interface Heartbeat {
  /**
   * The `atMs` of the newest pulse that had arrived when the statement of the heartbeat was sent. So the statement was sent at this time
   * or later.
   */
  readonly atMs: number
  /** How many heartbeats in a row were answered, including this heartbeat. A heartbeat that failed or was left out restarts the count. */
  readonly inRow: number
  /** How often other nodes have taken a document from this incarnation. */
  readonly robbed: number
  readonly peers: readonly Peer[]
}

export type Beating =
  /** `newest` is null until the first heartbeat is answered. */
  | { readonly kind: 'beating'; readonly newest: Heartbeat | null }
  /** The row no longer exists, so the documents of this incarnation are free: the node must drop them and register again. */
  | { readonly kind: 'gone' }

/**
 * The row of this node in the table of all nodes, and its heartbeat once a second. The heartbeat runs beside the main thread on a
 * connection of its own, so that neither a commit nor a long read delays it. Each process has one row. [LIFE-26, CFG-10]
 */
export interface NodeRegistry {
  /**
   * Writes the row, which begins the lease; heartbeats begin with the first `pulse`. Replaces a row with the same node_id once
   * its heartbeat has not changed for 3 s, and `former`, an earlier incarnation of this process, at once. The first node of
   * several raises the format of the store, so that no program without the fence starts beside it. [LIFE-29]
   *
   * @throws Error when the database does not answer
   */
  register(node: NodeDescription, former?: Incarnation): Promise<Registration>
  /**
   * Reports that the main thread runs, so that heartbeats go on for 2 s. Returns the newest answered heartbeat. Never waits for the
   * database.
   *
   * @param atMs the caller's monotonic clock, which comes back in `Heartbeat.atMs`
   */
  pulse(inc: Incarnation, atMs: number): Promise<Beating>
  /** Tells the other nodes that this node is ending. Its heartbeats go on. */
  drain(inc: Incarnation): Promise<void>
  /** Ends the heartbeat and removes the row, so that no other node has to wait for the end of the lease. */
  leave(inc: Incarnation): Promise<void>
}
