import { threadTime } from '@docrelay/model/testing/thread-time'

const TICK_MS = 5

/**
 * Runs `work` and returns its result with the longest pause of the event loop: the most processor time of this thread between two ticks. Time in which
 * other processes had the processor does not count.
 */
export async function longestPauseMs<T>(work: () => Promise<T>): Promise<{ result: T; pauseMs: number }> {
  let pauseMs = 0
  let sinceTick = threadTime()
  const look = (): void => {
    pauseMs = Math.max(pauseMs, sinceTick())
    sinceTick = threadTime()
  }
  const timer = setInterval(look, TICK_MS)
  try {
    const result = await work()
    look()
    return { result, pauseMs }
  } finally {
    clearInterval(timer)
  }
}
