import { parentPort, type Transferable } from 'node:worker_threads'
import type { TaskOutcome } from './task-pool.ts'

/**
 * Answers the tasks of a pool, one after the other. The entry module of a task thread calls it once; when a task
 * throws, its outcome is `failed`.
 */
export function serveTasks<Task, Result>(
  run: (task: Task) => { readonly result: Result; readonly transfer?: readonly Transferable[] },
): void {
  const port = parentPort
  if (port === null) throw new Error('serveTasks runs in a worker thread only')
  port.on('message', (task: Task) => {
    try {
      const { result, transfer } = run(task)
      port.postMessage({ kind: 'done', result } satisfies TaskOutcome<Result>, transfer ?? [])
    } catch (error) {
      port.postMessage({
        kind: 'failed',
        detail: error instanceof Error ? error.message : String(error),
      } satisfies TaskOutcome<Result>)
    }
  })
}
