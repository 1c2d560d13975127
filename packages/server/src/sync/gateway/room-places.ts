import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/log.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { NodeLinks } from '../node-links.port.ts'
import type { AcquireOutcome, Incarnation, Ownership, Tenure } from '../ownership.port.ts'
import { homeOfNode } from '../worker-pool.port.ts'
import type { KnownNodes, NodePermits } from './rooms-deps.ts'

/** Where the room of a document is to run. */
export type Place =
  /** At this node, which owns the document in this tenure. `lastSeq` and `takeovers` as in `AcquireOutcome`. */
  | { readonly kind: 'here'; readonly tenure: Tenure; readonly lastSeq: number; readonly takeovers: number }
  | { readonly kind: 'there'; readonly home: number }
  | { readonly kind: 'gone' }
  /** The owner lives, and has no link to this node. */
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'unavailable' }

export interface RoomPlacesDeps {
  readonly may?: NodePermits
  readonly known?: KnownNodes
  readonly ownership: Ownership
  readonly links: Pick<NodeLinks, 'peers'>
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
}

/**
 * How long the owner of a document is looked for when it cannot be reached. A node that ended is taken for dead 3 s after its last
 * heartbeat, and a node sends one every second. A document that was just taken from another node is not taken again for 5 s.
 */
const PATIENCE_MS = 5_000
/** How long an owner is looked for that is known to live: only its link is missing, so nobody will take the document from it. */
const UNREACHABLE_MS = 2_000
/**
 * A heartbeat shows that an owner lives when it was sent at least this long after the search began. Heartbeats go on for 2 s
 * after the main thread of a node has stopped running, and a link goes down after 2 s of silence. So an earlier heartbeat may
 * come from a node that only hangs for a moment, and whose link will come up again.
 */
const LIVES_AFTER_MS = 500
const AGAIN_MS = 300

export const NO_TAKEOVERS = { silent: 0, ended: 0 }

/** Finds the node that owns a document, or makes this node the owner when nobody else is. [LIFE-25, LIFE-26] */
export class RoomPlaces {
  readonly #deps: RoomPlacesDeps

  /** How many documents were taken from another node, by what was known of that node. */
  readonly takeovers = { ...NO_TAKEOVERS }

  constructor(deps: RoomPlacesDeps) {
    this.#deps = deps
  }

  /**
   * Searches until the place is found, until nobody wants it any more (`null`), or until the owner has been out of reach for too
   * long: 2 s for an owner that is known to live, `patienceMs` for any other. `read`: the owner as it was read with the document,
   * `null` when there was none or it was this node; absent when it was not read.
   */
  async find(key: number, isWanted: () => boolean, read?: Tenure | null, patienceMs = PATIENCE_MS): Promise<Place | null> {
    const { links, clock, timers, may } = this.#deps
    if (read && links.peers().includes(read.owner)) return { kind: 'there', home: homeOfNode(read.owner) }
    const beganMs = clock.monotonicMs()
    let seen: Tenure | undefined
    for (;;) {
      // Right after an outage of the database all nodes look dead, until their heartbeats work again.
      const isAllowed = read === null || may?.takeOver() !== false
      const outcome = isAllowed ? await this.#acquire(key, seen) : null
      if (outcome?.kind === 'acquired') {
        if (outcome.taken !== undefined) this.takeovers[outcome.taken]++
        const { owner, epoch, lastSeq, takeovers } = outcome
        return { kind: 'here', tenure: { owner, epoch }, lastSeq, takeovers }
      }
      if (outcome?.kind === 'gone') return outcome
      if (outcome !== null) {
        if (links.peers().includes(outcome.by.owner)) return { kind: 'there', home: homeOfNode(outcome.by.owner) }
        seen = outcome.by
      }
      if (!isWanted()) return null
      const searchedMs = clock.monotonicMs() - beganMs
      if (searchedMs >= UNREACHABLE_MS && seen !== undefined && this.#lives(seen.owner, beganMs)) return { kind: 'unreachable' }
      if (searchedMs >= patienceMs) return { kind: 'unavailable' }
      await new Promise<void>((resolve) => void timers.after(AGAIN_MS, resolve))
    }
  }

  #lives(owner: Incarnation, sinceMs: number): boolean {
    return this.#deps.known?.hasBeatSince(owner, sinceMs + LIVES_AFTER_MS) === true
  }

  /** `null`: the store did not answer. */
  async #acquire(key: number, seen: Tenure | undefined): Promise<AcquireOutcome | null> {
    try {
      return await this.#deps.ownership.acquire(key, seen)
    } catch {
      return null
    }
  }

  /** Makes another node the owner; false when this node was not the owner any more, or that is not known. Never rejects. */
  async handOver(key: number, epoch: number, to: Incarnation): Promise<boolean> {
    try {
      return typeof (await this.#deps.ownership.handOver(key, epoch, to)) === 'number'
    } catch {
      return false
    }
  }

  /**
   * Gives up a document that is stored and closed. When that fails, this node stays its owner and opens it for others. Never
   * rejects.
   */
  async release(key: number, epoch: number): Promise<void> {
    try {
      await this.#deps.ownership.release(key, epoch)
    } catch (error) {
      this.#deps.log.warn(
        'room.release_failed',
        'A document that nobody has open could not be given up; this node goes on to own it.',
        {
          error: String(error),
        },
      )
    }
  }
}
