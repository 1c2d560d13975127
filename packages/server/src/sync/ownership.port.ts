import type { Incarnation, Tenure } from '../documents/tenure.ts'

export type { Incarnation, Tenure }

export type AcquireOutcome =
  /**
   * The node `owner`, which is this one, owns the document from now on. `lastSeq`: the end of the log, to which no other node can
   * append. `takeovers`: how often the document was taken from a node that had not given it up, within 10 min and since the last
   * release or hand-over; a document that makes its owners crash shows here. `taken`: set when the document was taken from
   * another node just now, which was `silent` for more than 3 s, or had `ended`: its lease was over or its row gone.
   */
  | {
      readonly kind: 'acquired'
      readonly owner: Incarnation
      readonly epoch: number
      readonly lastSeq: number
      readonly takeovers: number
      readonly taken?: 'silent' | 'ended'
    }
  /** Another node owns the document, which may not be taken from it now. */
  | { readonly kind: 'owned'; readonly by: Tenure }
  | { readonly kind: 'gone' }

/**
 * Which node owns which document. A node owns a document from `acquire` until `release`, `handOver` or until another node takes
 * it; every append and save names the epoch, which the storing statement compares, so that a node that lost a document without
 * noticing stores nothing more. All times are those of the database. [LIFE-25, LIFE-26]
 *
 * What a promise resolves with is durable. The verbs reject with RelayError UNAVAILABLE when nothing was changed (also in a relay
 * that is not one of several nodes), and with NOT_PERSISTED when the outcome is not known: then `acquire` is called again, which
 * begins a new epoch even if the first call had succeeded.
 */
export interface Ownership {
  /**
   * Takes a document that nobody owns, whose owner's lease is over, or that this node owns already (with a new epoch).
   * With `seen` also from an owner that cannot be reached: when the document is still owned as `seen` says, the heartbeat
   * of that owner is older than 3 s, and the document was not taken from another owner in the last 5 s. An owner that loses
   * a document this way learns it from `robbed` in its row of `nodes`.
   */
  acquire(key: number, seen?: Tenure): Promise<AcquireOutcome>
  /**
   * Gives up a document that needs no owner any more. `fenced`: this tenure is over already, because another one has begun or
   * because it was given up before.
   */
  release(key: number, epoch: number): Promise<'released' | 'fenced' | 'gone'>
  /** Makes another node the owner, with the next epoch, which is returned. `fenced` as in `release`. */
  handOver(key: number, epoch: number, to: Incarnation): Promise<number | 'fenced' | 'gone'>
}
