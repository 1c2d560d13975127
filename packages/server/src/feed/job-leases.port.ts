export interface LeaseAnswer {
  readonly isMine: boolean
  /** How long the lease lasts from now, whoever has it. */
  readonly leftMs: number
}

/**
 * Which of several nodes does a job that one node is enough for. A lease saves work and is no fence: a node that was
 * paused may go on for a while beside the next one, so such a job must be right when two nodes do it at once. [LIFE-30]
 */
export interface JobLeases {
  /**
   * Takes the lease of a job when nobody has it or its time is over, or renews it, for `forMs` from now by the clock of
   * the database. Durable when it resolves; rejects with UNAVAILABLE or NOT_PERSISTED.
   *
   * @param holder - names this process; another one for each start.
   */
  claim(job: string, holder: string, forMs: number): Promise<LeaseAnswer>
  /** Gives the lease up, so that the next node need not wait. Does nothing when another has it. */
  release(job: string, holder: string): Promise<void>
}
