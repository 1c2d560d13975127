import { type Kysely, sql } from 'kysely'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/log.ts'
import type { Timers } from '../../kernel/timers.ts'
import {
  type Beating,
  type Heartbeat,
  LEASE_MS,
  type NodeDescription,
  type NodeRegistry,
  type NodeState,
  type Peer,
  PULSE_VALID_MS,
  type Registration,
  SILENT_MS,
} from '../../nodes/registry.port.ts'
import type { Incarnation } from '../../sync/ownership.port.ts'
import type { OwnNode } from './engine.ts'
import { raiseForSeveral } from './migrations/migrate.ts'
import {
  endConnections,
  holderOf,
  NOW_MS,
  nodeOccupants,
  type Occupant,
  occupying,
  placeOccupants,
  removeEnded,
  takeFromEnded,
} from './postgres-occupants.ts'
import type { StoreLoss } from './store-loss.ts'
import type { Connection, Tables, Writer } from './tables.ts'

const BEAT_MS = 1000
/** Rows of nodes that ended and came back under another node_id, or never, are removed so long after their lease. */
const FORGET_MS = 3_600_000

export interface PostgresNodesOptions {
  /** For the statements of start and end. */
  readonly db: Kysely<Tables>
  /** Gets the incarnation with which this process is registered, for the statements that compare it. */
  readonly own: OwnNode
  /** A separate connection, which gives up sooner than the others: an answer after seconds is no use to a heartbeat. */
  readonly beats: Kysely<Tables>
  /** The name of a holder's connections in `pg_stat_activity`. */
  readonly connectionsOf: (holder: string) => string
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  /** Called when the database came back without commits that it had confirmed. [LIFE-5] */
  readonly onLoss: (loss: StoreLoss) => void
}

/** What this process knows of its own row. */
interface OwnRow {
  readonly inc: Incarnation
  readonly nodeId: string
  beat: number
  /** By `clock`; when the newest answered heartbeat was sent. */
  beatenMs: number
  /** The newest pulse: what the main thread's clock said, and by `clock` when it arrived. */
  pulse: { readonly atMs: number; readonly receivedMs: number } | null
  inRow: number
  newest: Heartbeat | null
  isGone: boolean
}

/** The row of this process in the table `nodes`. [LIFE-26, CFG-10] */
export class PostgresNodes implements NodeRegistry {
  readonly #options: PostgresNodesOptions
  #own: OwnRow | null = null
  #beating: Promise<void> | null = null
  #cancel: () => void = () => undefined

  constructor(options: PostgresNodesOptions) {
    this.#options = options
  }

  async register(node: NodeDescription, former?: Incarnation): Promise<Registration> {
    await this.#stop()
    const { db, clock } = this.#options
    const inc = await takeFromEnded({
      read: async () => {
        const others = (await nodeOccupants(db, node.nodeId)).filter(
          ({ holder }) => former === undefined || holder !== holderOf(former),
        )
        return [...(await placeOccupants(db)), ...others]
      },
      take: (ended) => this.#insert(node, former, ended),
      patienceMs: SILENT_MS,
    })
    if (inc === null) return { kind: 'taken', reason: await this.#takenBy(node) }
    this.#options.own.inc = inc
    this.#own = {
      inc,
      nodeId: node.nodeId,
      beat: 1,
      beatenMs: clock.monotonicMs(),
      pulse: null,
      inRow: 0,
      newest: null,
      isGone: false,
    }
    return { kind: 'registered', inc }
  }

  async pulse(inc: Incarnation, atMs: number): Promise<Beating> {
    const own = this.#own
    if (own === null || own.inc !== inc || own.isGone) return { kind: 'gone' }
    const nowMs = this.#options.clock.monotonicMs()
    const rested = !this.#isFresh(own)
    own.pulse = { atMs, receivedMs: nowMs }
    // Nothing was due while the main thread was silent.
    if (rested) this.#due(own)
    return { kind: 'beating', newest: own.newest }
  }

  async drain(inc: Incarnation): Promise<void> {
    const state: NodeState = 'draining'
    await this.#options.db.updateTable('nodes').set({ state }).where('inc', '=', inc).execute()
  }

  async leave(inc: Incarnation): Promise<void> {
    if (this.#own?.inc === inc) await this.#stop()
    await this.#options.db.deleteFrom('nodes').where('inc', '=', inc).execute()
  }

  /** Ends the heartbeat, leaving the row as it is. */
  async close(): Promise<void> {
    await this.#stop()
  }

  async #stop(): Promise<void> {
    this.#own = null
    this.#options.own.inc = null
    this.#cancel()
    await this.#beating
  }

  /** Returns `null` when somebody else has come or moved meanwhile. */
  async #insert(
    { nodeId, linkUrl, program }: NodeDescription,
    former: Incarnation | undefined,
    ended: readonly Occupant[],
  ): Promise<Incarnation | null> {
    const { db, connectionsOf } = this.#options
    // Nodes cannot hold rows of documents for long in an open transaction, a relay that used the store alone can.
    for (const { holder } of ended) await endConnections(db, connectionsOf(holder))
    return occupying(db, async (writer) => {
      if (!(await removeEnded(writer, ended))) return null
      if (former !== undefined) await writer.deleteFrom('nodes').where('inc', '=', former).execute()
      if ((await placeOccupants(writer)).length > 0 || (await nodeOccupants(writer, nodeId)).length > 0) return null
      await forgetLongEnded(writer)
      await raiseForSeveral(writer)
      const row = await writer
        .insertInto('nodes')
        .values({
          node_id: nodeId,
          mode: 'cluster',
          link_url: linkUrl,
          program,
          state: 'up',
          beat: 1,
          lease_until_ms: sql<number>`${NOW_MS} + ${LEASE_MS}`,
          robbed: 0,
        })
        .returning('inc')
        .executeTakeFirstOrThrow()
      return row.inc
    })
  }

  async #takenBy({ nodeId }: NodeDescription): Promise<string> {
    const [alone] = await placeOccupants(this.#options.db)
    return alone === undefined
      ? `a node with [cluster] node_id ${JSON.stringify(nodeId)} is running: its heartbeat moves. Give each node a node_id of its own`
      : 'the database is in use by another process: a relay with [cluster] single_node, whose heartbeat moves. Stop it first, or start it again as one of several nodes'
  }

  #isFresh({ pulse }: OwnRow): boolean {
    return pulse !== null && this.#options.clock.monotonicMs() - pulse.receivedMs <= PULSE_VALID_MS
  }

  /** Sends a heartbeat when the main thread runs, and comes back in a second. */
  #due(own: OwnRow): void {
    if (this.#own !== own || own.isGone) return
    this.#cancel()
    if (!this.#isFresh(own)) {
      // The next pulse begins again.
      own.inRow = 0
      return
    }
    this.#cancel = this.#options.timers.after(BEAT_MS, () => this.#due(own))
    this.#beating ??= this.#beat(own)
      .catch(() => {
        // An unreachable database ends nothing: how long it does not answer is judged by who sends the pulses.
        own.inRow = 0
      })
      .finally(() => {
        this.#beating = null
      })
  }

  async #beat(own: OwnRow): Promise<void> {
    const { beats, clock } = this.#options
    const atMs = own.pulse?.atMs ?? 0
    const sentMs = clock.monotonicMs()
    const answer = await moveBeat(beats, own)
    if (answer === null) return this.#lostRow(own)
    if (answer.beat <= own.beat) this.#tellLoss(`the heartbeat of this node went back from ${own.beat} to ${answer.beat - 1}`)
    own.beat = answer.beat
    own.beatenMs = sentMs
    own.inRow++
    own.newest = { atMs, inRow: own.inRow, robbed: answer.robbed, peers: answer.peers }
  }

  /** The row was replaced by another start of this node, or forgotten long after the end of its lease; or the database has lost it. */
  async #lostRow(own: OwnRow): Promise<void> {
    const { beats, clock } = this.#options
    own.isGone = true
    if (clock.monotonicMs() - own.beatenMs >= LEASE_MS || (await nodeOccupants(beats, own.nodeId)).length > 0) return
    if ((await placeOccupants(beats)).length > 0) return
    this.#tellLoss(`the row of this node, written ${own.beat} heartbeats ago or later, is gone`)
  }

  #tellLoss(what: string): void {
    const { log, onLoss } = this.#options
    const detail = `the database server came back without commits that it had confirmed: ${what}`
    log.error('storage.tail_lost', 'The database lost acknowledged writes; clients that hold them send them again.', { detail })
    onLoss({ kind: 'tail', detail })
  }
}

interface BeatAnswer {
  readonly beat: number
  readonly robbed: number
  readonly peers: readonly Peer[]
}

/**
 * One statement, so that a heartbeat is one round trip. Returns `null` when the row is not there. The node_id is compared as well: a database that
 * lost its last commits may give an incarnation a second time.
 */
async function moveBeat(db: Connection, { inc, nodeId }: OwnRow): Promise<BeatAnswer | null> {
  const { rows } = await sql<BeatRow>`
    with own as (
      update nodes set beat = beat + 1, lease_until_ms = ${NOW_MS} + ${LEASE_MS}
      where inc = ${inc} and node_id = ${nodeId} returning beat, robbed, lease_until_ms - ${LEASE_MS} as now_ms)
    select own.beat, own.robbed, peer.inc, peer.node_id, peer.link_url, peer.program, peer.state,
      own.now_ms - peer.lease_until_ms + ${LEASE_MS} as silent_ms
    from own left join nodes peer on peer.inc <> ${inc} and peer.mode = 'cluster' and peer.lease_until_ms > own.now_ms
    order by peer.inc`.execute(db)
  const [first] = rows
  if (first === undefined) return null
  const peers = rows.flatMap(({ inc: peer, node_id, link_url, program, state, silent_ms }): Peer[] =>
    peer === null ? [] : [{ inc: peer, nodeId: node_id, linkUrl: link_url, program, state, silentMs: Math.max(0, silent_ms) }],
  )
  return { beat: first.beat, robbed: first.robbed, peers }
}

/** Without a peer there is one row, in which all of the peer is null. */
type BeatRow = {
  readonly beat: number
  readonly robbed: number
  readonly inc: number | null
  readonly node_id: string
  readonly link_url: string
  readonly program: string
  readonly state: NodeState
  readonly silent_ms: number
}

async function forgetLongEnded(writer: Writer): Promise<void> {
  await writer.deleteFrom('nodes').where('lease_until_ms', '<', sql<number>`${NOW_MS} - ${FORGET_MS}`).execute()
}
