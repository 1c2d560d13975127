import type { Timers } from '../kernel/timers.ts'

/**
 * Resolves or rejects as `work` does, or resolves with `null` when it takes longer than `ms`. The signal that `work` got is aborted then;
 * what late work answers, and how it fails, is ignored.
 */
export async function inTime<T>(timers: Timers, ms: number, work: (over: AbortSignal) => Promise<T>): Promise<T | null> {
  const over = new AbortController()
  const late = Promise.withResolvers<null>()
  const cancel = timers.after(ms, () => {
    over.abort()
    late.resolve(null)
  })
  try {
    return await Promise.race([work(over.signal), late.promise])
  } finally {
    cancel()
  }
}
