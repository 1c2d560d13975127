import type { Timers } from '../kernel/timers.ts'

/**
 * Resolves or rejects as `work` does. When `work` takes longer than `ms`, aborts the signal that it passed to `work` and resolves with `null`; a late
 * result or failure of `work` is ignored.
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
