import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/log.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { NodeLinks } from '../node-links.port.ts'
import type { AcquireOutcome, Incarnation, Ownership, Tenure } from '../ownership.port.ts'
import { homeOfNode } from '../worker-pool.port.ts'
import type { KnownNodes, NodePermits } from './rooms-deps.ts'

/** Where the room of a document has to run. */
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
 * How long the search for an owner that cannot be reached goes on. A node that ended counts as dead 3 s after its last heartbeat, and
 * a node sends one every second. A document that was just taken from another node is not taken again for 5 s.
 */
const PATIENCE_MS = 5_000
/** How long the search goes on for an owner that is known to live. Only its link is missing, so nobody will take its document. */
const UNREACHABLE_MS = 2_000
/**
 * A heartbeat proves that an owner lives when it was sent at least this long after the search began. An earlier heartbeat may come
 * from a node whose main thread has stopped: heartbeats go on for 2 s after that, and its link goes down after 2 s of silence. Such a
 * node may stop only for a moment, and then its link comes up again.
 */
const LIVES_AFTER_MS = 500
const AGAIN_MS = 300

export const NO_TAKEOVERS = { silent: 0, ended: 0 }

/** Finds the node that owns a document, or makes this node the owner when nobody else is. [LIFE-25, LIFE-26] */
export class RoomPlaces {
  readonly #deps: RoomPlacesDeps

  /**
   * The number of documents that this node took from other nodes: from nodes without heartbeats (`silent`) and from nodes that had ended
   * (`ended`).
   */
  readonly takeovers = { ...NO_TAKEOVERS }

  constructor(deps: RoomPlacesDeps) {
    this.#deps = deps
  }

  /**
   * Searches until the place is found or `isWanted` returns false (result `null`). Gives up when the owner cannot be reached for 2 s,
   * if it is known to live, and otherwise after `patienceMs`.
   *
   * @param read the owner that was read with the document; `null` when there was none or it was this node; absent when it was not read
   */
  async find(key: number, isWanted: () => boolean, read?: Tenure | null, patienceMs = PATIENCE_MS): Promise<Place | null> {
    const { links, clock, timers, may } = this.#deps
    if (read && links.peers().includes(read.owner)) return { kind: 'there', home: homeOfNode(read.owner) }
    const beganMs = clock.monotonicMs()
    let seen: Tenure | undefined
    for (;;) {
      // Right after an outage of the database all nodes seem dead until their heartbeats work again, so nothing may be taken then.
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

  /** Acquires the document in the store. Returns `null` when the store does not answer. */
  async #acquire(key: number, seen: Tenure | undefined): Promise<AcquireOutcome | null> {
    try {
      return await this.#deps.ownership.acquire(key, seen)
    } catch {
      return null
    }
  }

  /** Makes another node the owner. Returns false when this node was no longer the owner, or when the store did not answer. Never rejects. */
  async handOver(key: number, epoch: number, to: Incarnation): Promise<boolean> {
    try {
      return typeof (await this.#deps.ownership.handOver(key, epoch, to)) === 'number'
    } catch {
      return false
    }
  }

  /**
   * Gives up a document that is stored and closed. Never rejects. When the store does not answer, this node stays the owner and opens the
   * document for other nodes.
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
