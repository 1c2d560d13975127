import type { Worker } from 'node:worker_threads'

/** The processor time of a piece of work is known only from a little after its begin. */
const KNOWN_SHARE = 0.9
/** A thread that gets no processor is not stuck; one that waits for this many times its time is. */
const LONGEST_WAIT = 5

/** Milliseconds of processor time that a thread has had, busy or not; `null` when it has ended, or before Node 24.6, which cannot tell. */
export async function threadCpuMs(thread: Worker): Promise<number | null> {
  if (!('cpuUsage' in thread)) return null
  try {
    const { user, system } = await thread.cpuUsage()
    return (user + system) / 1000
  } catch {
    return null
  }
}

/**
 * Whether work has had its time. Wall time alone would end honest work on an overloaded machine, where its thread hardly ran; so it is waited
 * for until it had the processor that long, or five times the time has passed. `usedMs`: processor time, `null` when not known. [C4, C5]
 */
export function hadItsTime(allowedMs: number, { waitedMs, usedMs }: { waitedMs: number; usedMs: number | null }): boolean {
  return waitedMs >= allowedMs && ((usedMs ?? waitedMs) >= allowedMs * KNOWN_SHARE || waitedMs >= allowedMs * LONGEST_WAIT)
}
