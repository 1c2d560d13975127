export interface LeaseAnswer {
  readonly isMine: boolean
  /** Time until the lease of the present holder ends, in ms. */
  readonly leftMs: number
}

/**
 * Decides which of several nodes does a job that only one node needs to do. A lease saves work and is no fence: a node
 * that was paused may go on for a while beside the next holder, so such a job must be correct when two nodes do it at once.
 * [LIFE-30]
 */
export interface JobLeases {
  /**
   * Takes the lease of a job when it is free or has ended, or renews the holder's own, for `forMs` from now by the clock of
   * the database. Durable when it resolves; rejects with UNAVAILABLE or NOT_PERSISTED.
   *
   * @param holder - identifies this process; different at each start.
   */
  claim(job: string, holder: string, forMs: number): Promise<LeaseAnswer>
  /** Releases the lease, so that the next node need not wait. Does nothing when another holder has it. */
  release(job: string, holder: string): Promise<void>
}
