import { setFlagsFromString } from 'node:v8'
import type { Worker } from 'node:worker_threads'

/** The size of the heap for new objects. V8 itself starts with 1 MiB and reaches this size only after many collections. */
const YOUNG_MIB = 16

/**
 * Starts threads whose heap for new objects is large from the beginning. In a busy thread this heap would grow to the same size anyway. An
 * edit that writes hundreds of shapes makes ten megabytes of objects that stay in use until the edit is stored. With a small heap the garbage
 * collector copies them again and again, and its threads take processor time from all who wait for an acknowledgement. [DIAG-17]
 *
 * V8 has no such setting for a single thread. So the setting is changed for the whole process until the thread runs, and another thread that
 * starts meanwhile gets it too.
 */
export class YoungHeap {
  private starting = 0

  start(make: () => Worker): Worker {
    this.starting++
    setFlagsFromString(`--min-semi-space-size=${YOUNG_MIB}`)
    const thread = make()
    let isStarting = true
    const started = (): void => {
      if (!isStarting) return
      isStarting = false
      // 0 stands for the size that V8 chooses.
      if (--this.starting === 0) setFlagsFromString('--min-semi-space-size=0')
    }
    thread.once('online', started)
    thread.once('exit', started)
    return thread
  }
}
