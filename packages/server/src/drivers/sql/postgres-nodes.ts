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
  noteHolder,
  type Occupant,
  occupying,
  placeOccupants,
  removeEnded,
  takeFromEnded,
} from './postgres-occupants.ts'
import type { StoreLoss } from './store-loss.ts'
import type { Connection, Tables, Writer } from './tables.ts'

const BEAT_MS = 1000
/** The row of an ended node is removed this long after its lease, unless a new start with the same node_id has replaced it. */
const FORGET_MS = 3_600_000

export interface PostgresNodesOptions {
  /** The connections for the statements at the start and the end. */
  readonly db: Kysely<Tables>
  /** Receives the incarnation of this process, which other statements compare. */
  readonly own: OwnNode
  /** A separate connection with shorter timeouts, because a heartbeat has no use for an answer after many seconds. */
  readonly beats: Kysely<Tables>
  /** Returns the name of a holder's connections in `pg_stat_activity`. */
  readonly connectionsOf: (holder: string) => string
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  /** Called when the database has lost commits that it had confirmed. [LIFE-5] */
  readonly onLoss: (loss: StoreLoss) => void
}

/** The state that this process keeps about its own row. */
interface OwnRow {
  readonly inc: Incarnation
  readonly nodeId: string
  beat: number
  /** When the newest answered heartbeat was sent, by the clock of this process. */
  beatenMs: number
  /** The newest pulse: `atMs` by the clock of the main thread, and `receivedMs`, its arrival by `clock`. */
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
    // Heartbeats had stopped while the main thread was silent. Its pulse starts them again.
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

  /** Ends the heartbeats and leaves the row unchanged. */
  async close(): Promise<void> {
    await this.#stop()
  }

  async #stop(): Promise<void> {
    this.#own = null
    this.#options.own.inc = null
    this.#cancel()
    await this.#beating
  }

  /** Inserts the row of this node. Returns `null` when another process has registered or sent a heartbeat meanwhile. */
  async #insert(
    { nodeId, linkUrl, program }: NodeDescription,
    former: Incarnation | undefined,
    ended: readonly Occupant[],
  ): Promise<Incarnation | null> {
    const { db, connectionsOf } = this.#options
    // A single relay may hold locks on documents in a long open transaction, which nodes cannot. So its connections are ended.
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
      await noteHolder(writer, holderOf(row.inc))
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

  /** Sends a heartbeat while the main thread runs, and schedules the next one in a second. */
  #due(own: OwnRow): void {
    if (this.#own !== own || own.isGone) return
    this.#cancel()
    if (!this.#isFresh(own)) {
      // Heartbeats stop here. The next pulse starts them again.
      own.inRow = 0
      return
    }
    this.#cancel = this.#options.timers.after(BEAT_MS, () => this.#due(own))
    this.#beating ??= this.#beat(own)
      .catch(() => {
        // Heartbeats continue while the database is unreachable. The sender of the pulses decides what follows from the silence.
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

  /**
   * Handles a missing row: a newer start of this node has replaced it, it was removed long after its lease, or the database has
   * lost it.
   */
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
 * Sends a heartbeat in one statement, so that it takes one round trip. Returns `null` when the row does not exist. The node_id is
 * compared too, because a database that has lost its last commits may give the same incarnation to another node.
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

/** One row for each peer. Without a peer there is one row, whose columns of the peer are null. */
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
