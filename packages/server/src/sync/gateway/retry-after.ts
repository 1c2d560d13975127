import type { Random } from '../../kernel/ids.ts'

/** The range of the retry-after of closes after which a client should come back. [WS-57] */
const FROM_MS = 250
const TO_MS = 5_000
/** The range when another node can serve the client at once. */
const ELSEWHERE_FROM_MS = 50
const ELSEWHERE_TO_MS = 800

/** Returns a retry-after that is drawn anew for each connection, so that not all come back at the same moment. */
export function retryMs(random: Random): number {
  return random.integer(FROM_MS, TO_MS + 1)
}

export function retryElsewhereMs(random: Random): number {
  return random.integer(ELSEWHERE_FROM_MS, ELSEWHERE_TO_MS + 1)
}
