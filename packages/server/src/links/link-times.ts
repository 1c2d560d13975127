import type { Random } from '../kernel/ids.ts'

/** How long things of a link take at most. Tests scale them. */
export interface LinkTimes {
  /** How often each side says that it is there. */
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
  /** How long a link that is closed may take to send what was posted. */
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
