/** One start of one node: a number of the database, never used again. [LIFE-26] */
export type Incarnation = number

/** Who may add to the log of a document, and since which acquisition. `epoch` counts the acquisitions of one document. [LIFE-26] */
export interface Tenure {
  readonly owner: Incarnation
  readonly epoch: number
}

export type AcquireOutcome =
  /** `lastSeq`: the end of the log, to which nobody but this node can add from now on. */
  | { readonly kind: 'acquired'; readonly epoch: number; readonly lastSeq: number }
  /** Another node owns the document, and its lease is not over. */
  | { readonly kind: 'owned'; readonly by: Tenure }
  | { readonly kind: 'gone' }

/**
 * Which node owns which document. A node owns a document from `acquire` until `release`, `handOver` or until another node
 * takes it; every append and save names the epoch, and the statement that stores it compares it, so a node that lost a
 * document without noticing stores nothing more. All times are those of the database. [LIFE-25, LIFE-26]
 */
export interface Ownership {
  /**
   * Takes a document that nobody owns, whose owner's lease is over, or that this node owns already (with a new epoch).
   * With `seen` also from an owner that cannot be reached: when the document is still owned as `seen` says and the
   * heartbeat of that owner is older than 3 s.
   */
  acquire(key: number, seen?: Tenure): Promise<AcquireOutcome>
  /** Gives a document up that needs no owner. `fenced`: another tenure has begun. */
  release(key: number, epoch: number): Promise<'released' | 'fenced' | 'gone'>
  /** Makes another node the owner, with the next epoch, which is returned. */
  handOver(key: number, epoch: number, to: Incarnation): Promise<number | 'fenced' | 'gone'>
}
