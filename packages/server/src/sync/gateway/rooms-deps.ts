import type { ChangeRecords } from '../../documents/change-records.ts'
import type { DocumentRef, DocumentStore } from '../../documents/document-store.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/log.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { NodeLinks } from '../node-links.port.ts'
import type { Incarnation, Ownership } from '../ownership.port.ts'
import type { NodeHomes, WorkerPool } from '../worker-pool.port.ts'
import type { NodeSettling } from './room-settling.ts'

/** The services of the rest of the relay that live documents use. */
export interface RoomsDeps {
  readonly workers: WorkerPool
  readonly store: Pick<DocumentStore, 'state'>
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  /** How long a document stays resident when no connection is joined. [LIFE-17] */
  readonly idleMs?: number
  /** The maximum bytes of resident documents that nobody has joined; `null` or absent: unlimited. [LIFE-17] */
  readonly cacheMaxBytes?: number | null
  readonly jobTimeoutMs?: number
  /** Called at once for every turn of edits of a live document, before they are durable. */
  readonly edited?: (ref: DocumentRef) => void
  /** How documents are shared between nodes; absent in a relay of one node. [LIFE-25] */
  readonly nodes?: RoomNodes
  /** The records of the changes that people make. When absent, no changes are recorded. [AG-20] */
  readonly records?: ChangeRecords
}

/** What a node may do with documents at this moment. */
export interface NodePermits {
  /** Whether it may open documents. */
  own(): boolean
  /** Whether it may take documents from a node that counts as dead. */
  takeOver(): boolean
  /** Whether other nodes serve the documents that this node may not open now; absent: no. */
  othersServe?(): boolean
}

/** Facts about other nodes that their heartbeats show. */
export interface KnownNodes {
  /** Whether a node is ending. Documents are not handed over to it while another node could have them. [LIFE-28] */
  isDraining(node: Incarnation): boolean
  /** Whether this node knows of a heartbeat of `node` that was sent at `monotonicMs` or later, by the clock of this node. */
  hasBeatSince(node: Incarnation, monotonicMs: number): boolean
}

/** The services by which a node of several shares documents with the other nodes. */
export interface RoomNodes {
  /** The permissions that this node has now because of its health. When absent, everything is permitted. [LIFE-27] */
  readonly may?: NodePermits
  /** Facts about other nodes. When absent, no node counts as ending or as alive. */
  readonly known?: KnownNodes
  readonly ownership: Ownership
  readonly links: Pick<NodeLinks, 'peers'>
  /** Asks another node to settle many documents with one message. When absent, this node sends one task per document. */
  readonly settling?: NodeSettling
  /** The homes of `workers`, of which some are other nodes. */
  readonly homes: Pick<NodeHomes, 'onLost' | 'isFull' | 'onDrained'>
}

export interface RoomCounts {
  /** Live documents that this node owns. */
  readonly owned: number
  /** Live documents whose room another node runs. */
  readonly edge: number
  /** Number of times that a room of this node found that another node had taken its document. */
  readonly fenced: number
  /** Number of documents that this node took from a node without a heartbeat for 3 s (`silent`) or from a node that had ended. */
  readonly takeovers: { readonly silent: number; readonly ended: number }
}
