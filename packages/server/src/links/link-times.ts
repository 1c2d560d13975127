import type { Random } from '../kernel/ids.ts'

/** The times of a link. Tests scale them. */
export interface LinkTimes {
  /** Time between two pings of one side. */
  readonly pingMs: number
  /**
   * After so many pings in a row of its own, between which nothing came, a side takes the link for dead. Pings are counted,
   * not time, so that a process that was stopped for long reads what came meanwhile before it decides.
   */
  readonly silentPings: number
  /** From the connection until both sides have shown the secret. */
  readonly handshakeMs: number
  readonly redialFirstMs: number
  readonly redialMostMs: number
  /** How long a link that is being closed may take to send the bytes that are in its socket. */
  readonly closeMs: number
}

/** Dead after 2 s without anything. */
export const LINK_TIMES: LinkTimes = {
  pingMs: 500,
  silentPings: 4,
  handshakeMs: 2_000,
  redialFirstMs: 50,
  redialMostMs: 2_000,
  closeMs: 1_000,
}

/**
 * The pause before the next dial after so many that failed in a row. It doubles up to the bound, and is shortened by up to
 * a half at random, so that nodes that lost each other at the same moment do not dial in step.
 */
export function redialPauseMs(failures: number, times: LinkTimes, random: Pick<Random, 'integer'>): number {
  const fullMs = Math.min(times.redialMostMs, times.redialFirstMs * 2 ** Math.min(failures, 16))
  return (fullMs * random.integer(500, 1_000)) / 1_000
}
