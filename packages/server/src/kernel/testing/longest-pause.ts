import { threadTime } from '@docrelay/model/testing/thread-time'

const TICK_MS = 5

/**
 * Runs `work` and tells the longest time in which the event loop did nothing else: processor time of this thread between two ticks, so that
 * the time in which others had the machine is not counted.
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
