import {
  type Beating,
  type Heartbeat,
  type NodeDescription,
  type NodeRegistry,
  type NodeState,
  type Peer,
  PULSE_VALID_MS,
  SILENT_MS,
  LEASE_MS,
} from '../../../nodes/registry.port.ts'
import type { Incarnation } from '../../ownership.port.ts'
import type { Process } from './schedule.ts'
import type { DatabaseLine, SimDatabase } from './sim-database.ts'

const BEAT_MS = 1_000

interface NodeRow extends NodeDescription {
  readonly inc: Incarnation
  state: NodeState
  beatMs: number
}

/** The table of nodes. It also reports heartbeats to `MemoryOwnership`, which decides by their age which nodes are dead. */
export class SimRegistry {
  readonly #database: SimDatabase
  readonly #rows = new Map<Incarnation, NodeRow>()
  #lastInc = 0

  constructor(database: SimDatabase) {
    this.#database = database
  }

  /** The port of one process. */
  of(process: Process, line: DatabaseLine): NodeRegistry {
    return new ProcessRegistry(this, process, line)
  }

  /** Throws while another process may live under this name. */
  register(node: NodeDescription, former: Incarnation | undefined): Incarnation {
    const { schedule, ownership, oracle } = this.#database
    for (const row of this.#rows.values()) {
      if (row.nodeId !== node.nodeId) continue
      if (row.inc !== former && schedule.nowMs - row.beatMs < SILENT_MS)
        throw new Error('another process lives under this node_id')
      this.remove(row.inc)
    }
    const inc = ++this.#lastInc
    this.#rows.set(inc, { ...node, inc, state: 'up', beatMs: schedule.nowMs })
    ownership.silence(inc)
    oracle.note(`${node.nodeId} is ${inc}`)
    return inc
  }

  /** Records a heartbeat. Returns `null` when the row of the node is gone. */
  beat(inc: Incarnation): Omit<Heartbeat, 'atMs' | 'inRow'> | null {
    const { schedule, ownership } = this.#database
    const row = this.#rows.get(inc)
    if (row === undefined) return null
    row.beatMs = schedule.nowMs
    ownership.silence(inc)
    const others = [...this.#rows.values()].filter((other) => other.inc !== inc)
    const peers = others.map(({ beatMs, ...other }): Peer => ({ ...other, silentMs: schedule.nowMs - beatMs }))
    return { robbed: ownership.robbedOf(inc), peers: peers.filter(({ silentMs }) => silentMs <= LEASE_MS) }
  }

  drain(inc: Incarnation): void {
    const row = this.#rows.get(inc)
    if (row !== undefined) row.state = 'draining'
  }

  remove(inc: Incarnation): void {
    this.#rows.delete(inc)
    this.#database.ownership.silence(inc, Number.POSITIVE_INFINITY)
  }
}

/** The port of one process. Its heartbeats continue while the process calls `pulse`. */
class ProcessRegistry implements NodeRegistry {
  readonly #registry: SimRegistry
  readonly #process: Process
  readonly #line: DatabaseLine
  #inc: Incarnation | null = null
  #pulsedMs = Number.NEGATIVE_INFINITY
  #isBeating = false
  #inRow = 0
  #newest: Heartbeat | null = null
  #isGone = false
  #turn = 0

  constructor(registry: SimRegistry, process: Process, line: DatabaseLine) {
    this.#registry = registry
    this.#process = process
    this.#line = line
  }

  async register(node: NodeDescription, former?: Incarnation) {
    const rows = ['nodes']
    const inc = await this.#line.write({ rows, mayTell: false, run: async () => this.#registry.register(node, former) })
    this.#inc = inc
    this.#inRow = 0
    this.#newest = null
    this.#isGone = false
    this.#pulsedMs = Number.NEGATIVE_INFINITY
    this.#beatLater(++this.#turn, 0)
    return { kind: 'registered' as const, inc }
  }

  async pulse(inc: Incarnation, atMs: number): Promise<Beating> {
    if (inc !== this.#inc || this.#isGone) return { kind: 'gone' }
    const isFirst = this.#pulsedMs === Number.NEGATIVE_INFINITY
    this.#pulsedMs = atMs
    if (isFirst) this.#beat(this.#turn)
    return { kind: 'beating', newest: this.#newest }
  }

  async drain(inc: Incarnation): Promise<void> {
    await this.#line.write({ rows: ['nodes'], mayTell: false, run: async () => this.#registry.drain(inc) })
  }

  async leave(inc: Incarnation): Promise<void> {
    this.#turn++
    await this.#line.write({ rows: ['nodes'], mayTell: false, run: async () => this.#registry.remove(inc) })
  }

  #beatLater(turn: number, afterMs: number): void {
    this.#process.after(afterMs, () => {
      if (turn !== this.#turn) return
      this.#beatLater(turn, BEAT_MS)
      this.#beat(turn)
    })
  }

  #beat(turn: number): void {
    const inc = this.#inc
    const atMs = this.#pulsedMs
    if (inc === null || this.#isBeating) return
    if (this.#process.clock.monotonicMs() - atMs > PULSE_VALID_MS) {
      this.#inRow = 0
      return
    }
    this.#isBeating = true
    void this.#line
      .read(async () => this.#registry.beat(inc))
      .then(
        (beat) => {
          if (turn !== this.#turn) return
          if (beat === null) this.#isGone = true
          else this.#newest = { ...beat, atMs, inRow: ++this.#inRow }
        },
        () => {
          this.#inRow = 0
        },
      )
      .finally(() => {
        this.#isBeating = false
      })
  }
}
