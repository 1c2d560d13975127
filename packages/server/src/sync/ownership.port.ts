import type { Incarnation, Tenure } from '../documents/tenure.ts'

export type { Incarnation, Tenure }

export type AcquireOutcome =
  /**
   * This node, `owner`, owns the document from now on. `lastSeq` is the end of the log, to which no other node can append. `takeovers`
   * counts how often the document was taken from a node that had not given it up, within 10 min and since the last release or hand-over.
   * A document that makes its owners crash has a high count. `taken` is set when this call took the document from another node. With
   * `silent`, the last heartbeat of that node was more than 3 s ago. With `ended`, its lease was over or its row gone.
   */
  | {
      readonly kind: 'acquired'
      readonly owner: Incarnation
      readonly epoch: number
      readonly lastSeq: number
      readonly takeovers: number
      readonly taken?: 'silent' | 'ended'
    }
  /** Another node owns the document, and the document may not be taken from it now. */
  | { readonly kind: 'owned'; readonly by: Tenure }
  | { readonly kind: 'gone' }

/**
 * Stores which node owns which document. A node owns a document from `acquire` until `release`, until `handOver` or until another node takes
 * it. Every append and save contains the epoch, and the storing statement compares it. So a node that has lost a document and has not noticed
 * it cannot store anything more. All times are times of the database. [LIFE-25, LIFE-26]
 *
 * When a promise resolves, its outcome is durable. The methods reject with RelayError UNAVAILABLE when nothing was changed, and always in a
 * relay of one node. They reject with NOT_PERSISTED when the outcome is unknown. The caller then calls `acquire` again, which begins a new
 * epoch even if the first call has succeeded.
 */
export interface Ownership {
  /**
   * Takes a document that nobody owns, or whose owner's lease is over, or that this node owns already (with a new epoch). With `seen` it
   * also takes a document from an owner that cannot be reached. For this, `seen` must still be the tenure of the document, the heartbeat of
   * that owner must be older than 3 s, and the document must not have been taken in the last 5 s. An owner that loses a document in this
   * way notices it by `robbed` in its row of `nodes`.
   */
  acquire(key: number, seen?: Tenure): Promise<AcquireOutcome>
  /**
   * Gives up a document that needs no owner any more. Answers `fenced` when this tenure is over already, because another tenure has begun
   * or because the document was given up before.
   */
  release(key: number, epoch: number): Promise<'released' | 'fenced' | 'gone'>
  /** Makes another node the owner and returns its epoch, which is the next one. Answers `fenced` as `release` does. */
  handOver(key: number, epoch: number, to: Incarnation): Promise<number | 'fenced' | 'gone'>
}
