import { setFlagsFromString } from 'node:v8'
import type { Worker } from 'node:worker_threads'

/** V8 begins with one and takes this much only after many collections. */
const YOUNG_MIB = 16

/**
 * Starts threads whose heap for new objects is as large from the beginning as a busy thread's becomes. An edit that writes hundreds of shapes
 * makes ten megabytes of objects that live until it is stored: a small heap copies them again and again, in threads of the garbage collector
 * that take the cores from everybody who waits for an ack. [DIAG-17]
 *
 * V8 has no such setting for one thread, so it is set for the process until the thread runs; another thread that starts meanwhile has it too.
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
