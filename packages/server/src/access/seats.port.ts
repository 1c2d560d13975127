/** Counted connections per workspace over all nodes; checks and counting are one atomic step. [WS-15, WS-17] */
export interface Seats {
  /**
   * Takes a connection seat and, for an editor, also an editor seat. Connections are checked before editors. A limit of
   * `null` is unlimited. A refusal takes nothing.
   */
  take(
    seat: { readonly workspaceId: string; readonly connectionId: string; readonly editor: boolean },
    limits: SeatLimits,
  ): Promise<SeatOutcome>
  /**
   * Changes a held seat between editor and viewer. A change to editor may be refused, and then nothing changes. [WS-19]
   */
  change(
    seat: { readonly workspaceId: string; readonly connectionId: string; readonly editor: boolean },
    limits: SeatLimits,
  ): Promise<SeatOutcome>
  /** Gives the seat of a connection back. Does nothing for a connection without a seat. */
  release(workspaceId: string, connectionId: string): Promise<void>
  /** Number of connections that hold a seat now, those of viewers included. */
  connections(workspaceId: string): Promise<number>
  /** Number of editor seats held now. */
  editors(workspaceId: string): Promise<number>
}

/**
 * Decides whether a connection gets the seat it asks for. `held`: the seat that it already has. [WS-17, WS-19]
 */
export function seatOutcome(
  {
    held,
    connections,
    editors,
  }: { readonly held: 'editor' | 'viewer' | null; readonly connections: number; readonly editors: number },
  editor: boolean,
  limits: SeatLimits,
): SeatOutcome {
  if (held === null && limits.connections !== null && connections >= limits.connections) return 'connection-limit'
  if (editor && held !== 'editor' && limits.editors !== null && editors >= limits.editors) return 'editor-limit'
  return 'taken'
}

export interface SeatLimits {
  readonly connections: number | null
  readonly editors: number | null
}

export type SeatOutcome = 'taken' | 'connection-limit' | 'editor-limit'
