import type { Worker } from 'node:worker_threads'
import { systemClock } from './clock.ts'

/**
 * An operation that has used this share of its allowed processor time is ended, because others wait for the thread. The share is below 1, since the
 * measurement begins shortly after the operation.
 */
const ENOUGH = 0.75
/**
 * A thread that gets no processor is not stuck; a thread that has waited for this many times the allowed time counts as
 * stuck.
 */
const LONGEST_WAIT = 5

/**
 * Returns the milliseconds of processor time that a thread has used; `null` before Node 24.6, which cannot report it.
 * Rejects when the thread does not run.
 */
export async function threadCpuMs(thread: Worker): Promise<number | null> {
  if (!('cpuUsage' in thread)) return null
  const { user, system } = await thread.cpuUsage()
  return (user + system) / 1000
}

/**
 * Returns the milliseconds of processor time that the calling thread has used; before Node 23.9 the time that has
 * passed. Only differences have a meaning.
 */
export function ownThreadMs(): number {
  if (!('threadCpuUsage' in process)) return systemClock.monotonicMs()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/**
 * The processor time that one operation has used, as far as its thread has reported it. A late report still belongs to
 * that operation.
 */
export class SpentTime {
  /**
   * 0 until the thread has reported: a thread that gets no processor does not answer. `null`: the thread cannot report
   * it.
   */
  usedMs: number | null = 0
  private beganMs: number | null

  /** `beganMs`: the thread's time before the operation, when it is known; otherwise the first report counts as that. */
  constructor(beganMs: number | null = null) {
    this.beganMs = beganMs
  }

  async measure(cpuMs: () => Promise<number | null>): Promise<void> {
    try {
      const nowMs = await cpuMs()
      if (nowMs !== null) this.beganMs ??= nowMs
      this.usedMs = nowMs === null || this.beganMs === null ? null : nowMs - this.beganMs
    } catch {
      // The thread does not run yet, or has ended: it reports later or never.
    }
  }
}

/**
 * Whether an operation has used its allowed time. Wall time alone would end honest work on an overloaded machine, where
 * its thread hardly ran. So the operation goes on until it has used most of that time on the processor, or five times
 * that time has passed. `usedMs`: processor time, `null` when not known. [C4, C5]
 */
export function hadItsTime(allowedMs: number, { waitedMs, usedMs }: { waitedMs: number; usedMs: number | null }): boolean {
  return waitedMs >= allowedMs && ((usedMs ?? waitedMs) >= allowedMs * ENOUGH || waitedMs >= allowedMs * LONGEST_WAIT)
}
