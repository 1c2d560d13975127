import type { Clock } from '../../kernel/clock.ts'
import type { AcquireOutcome, Incarnation, Ownership, Tenure } from '../ownership.port.ts'

/** A node is taken for dead by whoever cannot reach it after this time without a heartbeat, and by everybody when its lease is over. */
const DEAD_MS = 3_000
const LEASE_MS = 15_000
/** A document is not taken twice from owners that cannot be reached within this time. */
const TAKEN_MS = 5_000

interface Owned {
  tenure: Tenure | null
  epoch: number
  takenAtMs: number
}

export interface MemoryOwnershipOptions {
  readonly clock: Clock
  readonly deadMs?: number
  readonly leaseMs?: number
  /** The end of the log of a document; `null` when it is gone. */
  readonly lastSeq?: (key: number) => Promise<number | null>
}

/**
 * Who owns which document, as the tables of the database would say it, for several nodes in one process. Nodes have heartbeats until they fall
 * silent. [LIFE-26]
 */
export class MemoryOwnership {
  readonly #documents = new Map<number, Owned>()
  /** Since when a node sends no heartbeats. */
  readonly #silent = new Map<Incarnation, number>()
  readonly #given: MemoryOwnershipOptions
  #turn: Promise<unknown> = Promise.resolve()

  constructor(given: MemoryOwnershipOptions) {
    this.#given = given
  }

  /** The node sends no heartbeats from now on. */
  silence(node: Incarnation): void {
    if (!this.#silent.has(node)) this.#silent.set(node, this.#given.clock.monotonicMs())
  }

  /** The node sends heartbeats again. */
  revive(node: Incarnation): void {
    this.#silent.delete(node)
  }

  /** Whether the lease of a node is over. */
  isDead(node: Incarnation): boolean {
    const { clock, leaseMs = LEASE_MS } = this.#given
    return clock.monotonicMs() - (this.#silent.get(node) ?? Number.POSITIVE_INFINITY) > leaseMs
  }

  ownerOf(key: number): Tenure | null {
    return this.#documents.get(key)?.tenure ?? null
  }

  /** Makes a node the owner, whoever is it now, as when that one was taken for dead. */
  rob(key: number, by: Incarnation): number {
    return this.#give(this.#of(key), by)
  }

  holds(node: Incarnation, key: number, epoch: number): boolean {
    const tenure = this.ownerOf(key)
    return tenure !== null && tenure.owner === node && tenure.epoch === epoch
  }

  /** Runs a write, and the comparison that it makes first, before or after every change of owners. */
  inTurn<T>(write: () => Promise<T>): Promise<T> {
    const run = this.#turn.then(write)
    this.#turn = run.catch(() => undefined)
    return run
  }

  /** The port as one node sees it. */
  of(node: Incarnation): Ownership {
    return {
      acquire: (key, seen) => this.inTurn(() => this.#acquire(node, key, seen)),
      release: (key, epoch) =>
        this.inTurn(async () => {
          if ((await this.#lastSeq(key)) === null) return 'gone'
          if (!this.holds(node, key, epoch)) return 'fenced'
          this.#of(key).tenure = null
          return 'released'
        }),
      handOver: (key, epoch, to) =>
        this.inTurn(async () => {
          if ((await this.#lastSeq(key)) === null) return 'gone'
          return this.holds(node, key, epoch) ? this.#give(this.#of(key), to) : 'fenced'
        }),
    }
  }

  async #acquire(node: Incarnation, key: number, seen: Tenure | undefined): Promise<AcquireOutcome> {
    const lastSeq = await this.#lastSeq(key)
    if (lastSeq === null) return { kind: 'gone' }
    const { clock, deadMs = DEAD_MS, leaseMs = LEASE_MS } = this.#given
    const document = this.#of(key)
    const { tenure } = document
    if (tenure !== null && tenure.owner !== node) {
      const silentMs = clock.monotonicMs() - (this.#silent.get(tenure.owner) ?? Number.POSITIVE_INFINITY)
      const isSeen = seen?.owner === tenure.owner && seen.epoch === tenure.epoch
      const wasTaken = clock.monotonicMs() - document.takenAtMs < TAKEN_MS
      const mayRob = isSeen && silentMs > deadMs && !wasTaken
      if (silentMs <= leaseMs && !mayRob) return { kind: 'owned', by: tenure }
      document.takenAtMs = clock.monotonicMs()
    }
    return { kind: 'acquired', epoch: this.#give(document, node), lastSeq, takeovers: 0 }
  }

  #give(document: Owned, owner: Incarnation): number {
    document.epoch++
    document.tenure = { owner, epoch: document.epoch }
    return document.epoch
  }

  #of(key: number): Owned {
    const known = this.#documents.get(key)
    if (known !== undefined) return known
    const fresh = { tenure: null, epoch: 0, takenAtMs: Number.NEGATIVE_INFINITY }
    this.#documents.set(key, fresh)
    return fresh
  }

  #lastSeq(key: number): Promise<number | null> {
    return this.#given.lastSeq?.(key) ?? Promise.resolve(0)
  }
}
