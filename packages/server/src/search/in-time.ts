import type { Timers } from '../kernel/timers.ts'

/**
 * Resolves as `work` does, or with `null` after `ms`. Work that takes longer is told by its signal and goes on unheard: what it
 * then answers, or how it fails, nobody learns.
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
