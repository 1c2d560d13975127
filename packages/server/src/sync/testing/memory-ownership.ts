import type { Clock } from '../../kernel/clock.ts'
import type { UpdateLog } from '../update-log.port.ts'
import type { AcquireOutcome, Incarnation, Ownership, Tenure } from '../ownership.port.ts'

/** A node that has sent no heartbeat for `DEAD_MS` is dead for a node that cannot reach it. After `LEASE_MS` it is dead for every node. */
const DEAD_MS = 3_000
const LEASE_MS = 15_000
/** A document is taken from an owner that cannot be reached only once within this time. */
const TAKEN_MS = 5_000
/** Takeovers longer ago than this are not counted. */
const COUNTED_MS = 600_000

interface Owned {
  tenure: Tenure | null
  epoch: number
  takeovers: number
  takenAtMs: number
}

export interface MemoryOwnershipOptions {
  readonly clock: Clock
  readonly deadMs?: number
  readonly takenMs?: number
  /** Returns the end of the log of a document, or `null` when the document is gone. */
  readonly lastSeq?: (key: number) => Promise<number | null>
}

/**
 * Keeps which node owns which document, as the tables of the database do, for several nodes in one process. A node sends heartbeats until
 * `silence` is called for it. `fencedStores` uses this class to compare owners and epochs. Both pass the contract of `Ownership`. [LIFE-26]
 */
export class MemoryOwnership {
  readonly #documents = new Map<number, Owned>()
  /** For each silent node, the time of its last heartbeat in ms. */
  readonly #silent = new Map<Incarnation, number>()
  readonly #robbed = new Map<Incarnation, number>()
  readonly #given: MemoryOwnershipOptions
  #turn: Promise<unknown> = Promise.resolve()

  constructor(given: MemoryOwnershipOptions) {
    this.#given = given
  }

  /** Stops the heartbeats of a node. The last heartbeat was `ms` ago. */
  silence(node: Incarnation, ms = 0): void {
    this.#silent.set(node, this.#given.clock.monotonicMs() - ms)
  }

  /** Starts the heartbeats of a node again. */
  revive(node: Incarnation): void {
    this.#silent.delete(node)
  }

  /** Returns the time of the newest heartbeat of a node, on the clock that all nodes share. */
  lastBeatMs(node: Incarnation): number {
    return this.#silent.get(node) ?? this.#given.clock.monotonicMs()
  }

  robbedOf(node: Incarnation): number {
    return this.#robbed.get(node) ?? 0
  }

  dateBackTakeover(key: number, ms: number): void {
    this.#of(key).takenAtMs = this.#given.clock.monotonicMs() - ms
  }

  takeoversOf(key: number): number {
    return this.#of(key).takeovers
  }

  /** Sets how many takeovers of the document are counted, and allows the next takeover at once. */
  countTakeovers(key: number, takeovers: number): void {
    this.#of(key).takeovers = takeovers
    this.dateBackTakeover(key, TAKEN_MS)
  }

  ownerOf(key: number): Tenure | null {
    return this.#documents.get(key)?.tenure ?? null
  }

  /** Loses the newest acquisition, as a failover to a standby that lags does. The next acquisition gets the same epoch. */
  loseAcquisition(key: number): void {
    const document = this.#of(key)
    document.tenure = null
    document.epoch--
  }

  holds(node: Incarnation, key: number, epoch: number): boolean {
    const tenure = this.ownerOf(key)
    return tenure !== null && tenure.owner === node && tenure.epoch === epoch
  }

  /** Returns whether the lease of a node is over. */
  isDead(node: Incarnation): boolean {
    return this.#silentMs(node) > LEASE_MS
  }

  /** Runs a write together with its comparison of the owner, so that no change of owners happens in between. */
  inTurn<T>(write: () => Promise<T>): Promise<T> {
    const run = this.#turn.then(write)
    this.#turn = run.catch(() => undefined)
    return run
  }

  /** Returns the port of one node. */
  of(node: Incarnation): Ownership {
    const held = async <T>(key: number, epoch: number, change: (document: Owned) => T): Promise<T | 'fenced' | 'gone'> => {
      if ((await this.#lastSeq(key)) === null) return 'gone'
      if (!this.holds(node, key, epoch)) return 'fenced'
      const document = this.#of(key)
      document.takeovers = 0
      document.takenAtMs = Number.NEGATIVE_INFINITY
      return change(document)
    }
    return {
      acquire: (key, seen) => this.inTurn(() => this.#acquire(node, key, seen)),
      release: (key, epoch) =>
        this.inTurn(() =>
          held(key, epoch, (document) => {
            document.tenure = null
            return 'released'
          }),
        ),
      handOver: (key, epoch, to) => this.inTurn(() => held(key, epoch, (document) => give(document, to))),
    }
  }

  async #acquire(node: Incarnation, key: number, seen: Tenure | undefined): Promise<AcquireOutcome> {
    const lastSeq = await this.#lastSeq(key)
    if (lastSeq === null) return { kind: 'gone' }
    const document = this.#of(key)
    const { tenure } = document
    const nowMs = this.#given.clock.monotonicMs()
    const isCounted = nowMs - document.takenAtMs <= COUNTED_MS
    if (tenure !== null && tenure.owner !== node) {
      if (!this.#mayTake(document, tenure, seen)) return { kind: 'owned', by: tenure }
      const taken = this.isDead(tenure.owner) ? 'ended' : 'silent'
      document.takeovers = (isCounted ? document.takeovers : 0) + 1
      document.takenAtMs = nowMs
      this.#robbed.set(tenure.owner, this.robbedOf(tenure.owner) + 1)
      return { kind: 'acquired', owner: node, epoch: give(document, node), lastSeq, takeovers: document.takeovers, taken }
    }
    return { kind: 'acquired', owner: node, epoch: give(document, node), lastSeq, takeovers: isCounted ? document.takeovers : 0 }
  }

  #mayTake({ takenAtMs }: Owned, { owner, epoch }: Tenure, seen: Tenure | undefined): boolean {
    if (this.isDead(owner)) return true
    const { clock, deadMs = DEAD_MS, takenMs = TAKEN_MS } = this.#given
    const isAsSeen = seen?.owner === owner && seen.epoch === epoch
    return isAsSeen && this.#silentMs(owner) > deadMs && clock.monotonicMs() - takenAtMs >= takenMs
  }

  /** Returns how many ms ago the last heartbeat of a node was. */
  #silentMs(node: Incarnation): number {
    const lastMs = this.#silent.get(node)
    return lastMs === undefined ? 0 : this.#given.clock.monotonicMs() - lastMs
  }

  #of(key: number): Owned {
    const known = this.#documents.get(key)
    if (known !== undefined) return known
    const fresh = { tenure: null, epoch: 0, takeovers: 0, takenAtMs: Number.NEGATIVE_INFINITY }
    this.#documents.set(key, fresh)
    return fresh
  }

  #lastSeq(key: number): Promise<number | null> {
    return this.#given.lastSeq?.(key) ?? Promise.resolve(0)
  }
}

function give(document: Owned, owner: Incarnation): number {
  document.epoch++
  document.tenure = { owner, epoch: document.epoch }
  return document.epoch
}

/** Returns a function that reads the end of a log from a store, or `null` when the document is gone. */
export function lastSeqIn(updates: Pick<UpdateLog, 'load'>): (key: number) => Promise<number | null> {
  return async (key) => {
    const log = await updates.load(key)
    return log.kind === 'loaded' ? (log.records.at(-1)?.seq ?? log.snapshot?.throughSeq ?? 0) : null
  }
}
