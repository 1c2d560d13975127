import type { Random } from '../../kernel/ids.ts'

/** The range of the retry-after of a close after which the client should reconnect. [WS-57] */
const FROM_MS = 250
const TO_MS = 5_000
/** The range of the retry-after of a close when another node can serve the client at once. */
const ELSEWHERE_FROM_MS = 50
const ELSEWHERE_TO_MS = 800

/** Returns a random retry-after in ms. Each connection gets another value, so that not all clients reconnect at the same moment. */
export function retryMs(random: Random): number {
  return random.integer(FROM_MS, TO_MS + 1)
}

export function retryElsewhereMs(random: Random): number {
  return random.integer(ELSEWHERE_FROM_MS, ELSEWHERE_TO_MS + 1)
}
