import type { Incarnation } from '../sync/ownership.port.ts'
import type { Heartbeat, Peer } from './registry.port.ts'
import { SILENT_MS } from './registry.port.ts'

/** When the database has not answered for this long, a node refuses JOINs and reads of live documents. [LIFE-27] */
export const REFUSE_MS = 4_000
/** A node drops its documents this long after it sent the last answered heartbeat, well before its 15 s lease ends. [LIFE-27] */
export const SUSPEND_MS = 10_000
/** A node that has had links to too few live nodes for this long is cut off. [OPS-2] */
export const UNLINKED_MS = 5_000
/**
 * After an outage of the database every lease may have ended although the nodes are well. A node therefore takes over no
 * document until this many of its heartbeats in a row were answered: by then the other nodes have had time for one, too.
 */
const BEATS_BEFORE_TAKEOVER = 3
/** A node takes over no documents when its newest heartbeat was answered longer ago than this, because its next heartbeat may be failing. */
const OVERDUE_MS = 2_000

/** The newest heartbeat that was answered, on this node's monotonic clock. */
export interface Answered {
  /** The time at which the statement of the heartbeat was sent, or a little earlier. The lease did not begin before this time. */
  readonly sentMs: number
  readonly answeredMs: number
}

/**
 * The permissions of a node, which depend on the answers to its heartbeats.
 * - `serve`: the node may do everything.
 * - `refuse`: no JOINs and no reads of live documents, because another node may own the documents by now.
 * - `suspend`: nothing. The node gives up all documents.
 */
export type Permission = 'serve' | 'refuse' | 'suspend'

/**
 * Returns the permission of a node at `nowMs`. Uses only the clock of this node, so that a wrong clock of the database does no harm.
 * [LIFE-27]
 */
export function permissionOf({ sentMs, answeredMs }: Answered, nowMs: number): Permission {
  if (nowMs - sentMs >= SUSPEND_MS) return 'suspend'
  return nowMs - answeredMs >= REFUSE_MS ? 'refuse' : 'serve'
}

/** Whether a node with the permission `serve` may also take over documents. Its newest answered heartbeat decides. */
export function mayTakeOver({ inRow }: Heartbeat, { answeredMs }: Answered, nowMs: number): boolean {
  return inRow >= BEATS_BEFORE_TAKEOVER && nowMs - answeredMs < OVERDUE_MS
}

/** Returns the peers whose last heartbeat is at most 3 s old. */
export function livePeers(peers: readonly Peer[]): readonly Incarnation[] {
  return peers.filter(({ silentMs }) => silentMs <= SILENT_MS).map(({ inc }) => inc)
}

/** The links of a node at one moment. */
export interface Links {
  /** The node itself. */
  readonly inc: Incarnation
  readonly live: readonly Incarnation[]
  readonly linked: readonly Incarnation[]
}

/**
 * Whether this node and its linked live peers are too few: less than half of all live nodes, or exactly half without the oldest node. So
 * when two parts have no link between them, exactly one part goes on, whatever their sizes. [OPS-2]
 */
export function lacksLinks({ inc, live, linked }: Links): boolean {
  const part = [inc, ...live.filter((peer) => linked.includes(peer))]
  const all = [inc, ...live]
  if (part.length * 2 !== all.length) return part.length * 2 < all.length
  return !part.includes(Math.min(...all))
}

/** Returns since when a node lacks links, by its monotonic clock; null when it has enough now. */
export function lackingSince(since: number | null, lacks: boolean, nowMs: number): number | null {
  return lacks ? (since ?? nowMs) : null
}

/** Whether a node that has lacked links since `since` is cut off: it takes no new work and gives up its documents. [OPS-2] */
export function isCutOff(since: number | null, nowMs: number): boolean {
  return since !== null && nowMs - since >= UNLINKED_MS
}
