import { RelayError } from '../kernel/errors.ts'

/**
 * The request bodies for which a process waits. A body may take as long as its client likes, so a stop gives up those that have not arrived
 * in a part of its time. [LIFE-28]
 */
export interface Arrivals {
  /**
   * Calls `giveUp` with the error to answer when no body is waited for any more: at once when that is so already. The returned function takes
   * it back.
   */
  wait(giveUp: (reason: RelayError) => void): () => void
  /** From now on no body is waited for. */
  giveUp(): void
}

export function createArrivals(): Arrivals {
  const waiting = new Set<(reason: RelayError) => void>()
  let isOver = false
  const reason = (): RelayError =>
    new RelayError('UNAVAILABLE', 'The relay is shutting down and no longer waits for this request body.')
  return {
    wait(giveUp) {
      if (isOver) giveUp(reason())
      else waiting.add(giveUp)
      return () => void waiting.delete(giveUp)
    },
    giveUp() {
      isOver = true
      for (const giveUp of [...waiting]) giveUp(reason())
      waiting.clear()
    },
  }
}
