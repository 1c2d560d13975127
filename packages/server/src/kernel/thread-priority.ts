import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/** The niceness of background threads: on a busy machine one gets about a third of the processor time of another thread. */
const BACKGROUND = 5

/**
 * Lowers the priority of the calling thread, which must not be the main one, below that of the threads for which people wait. Does nothing except on
 * Linux, where each thread has a priority of its own.
 */
export function runInBackground(): void {
  if (process.platform !== 'linux') return
  try {
    const thread = readlinkSync('/proc/thread-self').split('/').at(-1)
    setPriority(Number(thread), BACKGROUND)
  } catch {
    // Without /proc the id of the thread is unknown, so the thread keeps its priority.
  }
}
