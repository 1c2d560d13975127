import type { Random } from '../kernel/ids.ts'

/** The times of a link. Tests use other values. */
export interface LinkTimes {
  /** Time between two pings of one side. */
  readonly pingMs: number
  /**
   * A side treats the link as dead after it sent this many pings in a row and received nothing. It counts pings instead of time, so that
   * a process that was paused first reads the frames that arrived during the pause.
   */
  readonly silentPings: number
  /** The longest time from the connection until both sides have proved the secret. */
  readonly handshakeMs: number
  readonly redialFirstMs: number
  readonly redialMostMs: number
  /** The longest time for which a closing link goes on sending the bytes in its socket. */
  readonly closeMs: number
}

/** The times in production: a link counts as dead after 2 s in which nothing arrived. */
export const LINK_TIMES: LinkTimes = {
  pingMs: 500,
  silentPings: 4,
  handshakeMs: 2_000,
  redialFirstMs: 50,
  redialMostMs: 2_000,
  closeMs: 1_000,
}

/**
 * Returns the pause before the next dial after this many failures in a row. The pause doubles up to `redialMostMs`, and is
 * shortened by up to a half at random, so that nodes that lost their links at the same moment do not dial at the same moments.
 */
export function redialPauseMs(failures: number, times: LinkTimes, random: Pick<Random, 'integer'>): number {
  const fullMs = Math.min(times.redialMostMs, times.redialFirstMs * 2 ** Math.min(failures, 16))
  return (fullMs * random.integer(500, 1_000)) / 1_000
}
