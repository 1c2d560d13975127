import type { Worker } from 'node:worker_threads'

/** Work that had most of its time is not waited for: others wait behind it. Its processor time is also known only from a little after its begin. */
const ENOUGH = 0.75
/** A thread that gets no processor is not stuck; one that waits for this many times its time is. */
const LONGEST_WAIT = 5

/** Milliseconds of processor time that a thread has had, busy or not; `null` before Node 24.6, which cannot tell. Rejects unless it runs. */
export async function threadCpuMs(thread: Worker): Promise<number | null> {
  if (!('cpuUsage' in thread)) return null
  const { user, system } = await thread.cpuUsage()
  return (user + system) / 1000
}

/** The processor time that one piece of work has had, as far as its thread has told; what is told late is still of that work. */
export class SpentTime {
  /** 0 until the thread has told: one that gets no processor does not answer. `null`: it cannot tell. */
  usedMs: number | null = 0
  private beganMs: number | null

  /** `beganMs`: what the thread had before, when that is known; else what it tells first. */
  constructor(beganMs: number | null = null) {
    this.beganMs = beganMs
  }

  async measure(cpuMs: () => Promise<number | null>): Promise<void> {
    try {
      const nowMs = await cpuMs()
      if (nowMs !== null) this.beganMs ??= nowMs
      this.usedMs = nowMs === null || this.beganMs === null ? null : nowMs - this.beganMs
    } catch {
      // It does not run yet, or has ended: it tells later or never.
    }
  }
}

/**
 * Whether work has had its time. Wall time alone would end honest work on an overloaded machine, where its thread hardly ran; so it is waited
 * for until it had the processor for most of that, or five times the time has passed. `usedMs`: processor time, `null` when not known. [C4, C5]
 */
export function hadItsTime(allowedMs: number, { waitedMs, usedMs }: { waitedMs: number; usedMs: number | null }): boolean {
  return waitedMs >= allowedMs && ((usedMs ?? waitedMs) >= allowedMs * ENOUGH || waitedMs >= allowedMs * LONGEST_WAIT)
}
