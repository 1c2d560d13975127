import { retryAfterMs } from '@docrelay/protocol/codes'

/** The next step of a client after its socket closed. */
export type Reconnect =
  | { readonly kind: 'retry'; readonly delayMs: number }
  /** Only a fresh token can help: ask for one, then try once more. */
  | { readonly kind: 'renew'; readonly delayMs: number }
  /** Another try would change nothing; the application must act. */
  | { readonly kind: 'stop' }

const FIRST_MS = 500
const LONGEST_MS = 30_000
/** Pause after close code 4409 (the workspace is full). Until then the connection of another person may have ended. [WS-67] */
const FULL_MS = 60_000

/**
 * Decides what to do after a close, by close code, reason and the number of failures in a row (`failures`, 1 for the
 * first).
 *
 * A delay is at least the server's retry-after. All delays are spread over [half, whole], so that the many clients of a
 * restarted relay do not come back at once. [WS-57, WS-58] 4401 asks for a fresh token while `mayRenew` is true: the
 * last token was accepted at some time, or differs from the one before.
 */
export function planReconnect(
  close: { code: number; reason: string },
  failures: number,
  mayRenew: boolean,
  random: number,
): Reconnect {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 10))
  const delayMs = Math.round((retryAfterMs(close.reason) ?? 0) + ceiling * (0.5 + random / 2))
  if (close.code === 4401) return mayRenew ? { kind: 'renew', delayMs } : { kind: 'stop' }
  if (close.code === 4408) return { kind: 'retry', delayMs }
  if (close.code === 4409) return { kind: 'retry', delayMs: FULL_MS }
  if (close.code >= 4400 && close.code < 4500) return { kind: 'stop' }
  return { kind: 'retry', delayMs }
}
