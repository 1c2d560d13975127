import { RelayError } from '../kernel/errors.ts'

/**
 * The request bodies that a process waits for. A body may take as long as its client likes, so a stopping relay gives up the bodies that have
 * not arrived within a part of its grace time. [LIFE-28]
 */
export interface Arrivals {
  /**
   * Registers a body. `giveUp` is called with the error to answer once bodies are given up; at once if they already are. The returned function
   * unregisters the body.
   */
  wait(giveUp: (reason: RelayError) => void): () => void
  /** Gives up all bodies that have not arrived, and every later one. */
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
