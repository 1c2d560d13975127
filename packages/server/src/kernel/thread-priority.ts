import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/** The niceness of background threads: on a busy machine one gets about a third of the processor time of another thread. */
const BACKGROUND = 5

/**
 * Gives the calling thread, which must not be the main one, a lower priority than the other threads of this process, for which people wait.
 * Only on Linux does a thread have a priority of its own; elsewhere nothing happens.
 */
export function runInBackground(): void {
  if (process.platform !== 'linux') return
  try {
    const thread = readlinkSync('/proc/thread-self').split('/').at(-1)
    setPriority(Number(thread), BACKGROUND)
  } catch {
    // Without /proc the thread is not known, and it keeps its priority.
  }
}
