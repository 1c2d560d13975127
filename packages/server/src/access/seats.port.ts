/** Counted connections per workspace over all nodes; checks and counting are one atomic step. [WS-15, WS-17] */
export interface Seats {
  /**
   * Takes a connection seat and, for an editor, an editor seat; total connections are checked before editors.
   * Limits of `null` are unlimited. A refusal takes nothing.
   */
  take(
    seat: { readonly workspaceId: string; readonly connectionId: string; readonly editor: boolean },
    limits: SeatLimits,
  ): Promise<SeatOutcome>
  /** Changes a held seat between editor and viewer; an upgrade may be refused and then changes nothing. [WS-19] */
  change(
    seat: { readonly workspaceId: string; readonly connectionId: string; readonly editor: boolean },
    limits: SeatLimits,
  ): Promise<SeatOutcome>
  /** Idempotent. */
  release(workspaceId: string, connectionId: string): Promise<void>
  /** Editor seats held now. */
  editors(workspaceId: string): Promise<number>
}

export interface SeatLimits {
  readonly connections: number | null
  readonly editors: number | null
}

export type SeatOutcome = 'taken' | 'connection-limit' | 'editor-limit'
