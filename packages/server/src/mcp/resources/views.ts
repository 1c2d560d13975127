import { RelayError } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/log.ts'
import { openTaskPool } from '../../kernel/task-pool.ts'
import { runViewTask, type ViewResult, type ViewTask } from './view-task.ts'

/** Longer bodies are never looked into on the main thread. [CONC-13] */
const OFF_MAIN_BYTES = 64 * 1024
const DEADLINE_MS = 10_000
const ENDS_THREAD_BYTES = 16 * 1_048_576
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 1024 }

/** Looks at stored bodies, long ones in a thread. Rejects with UNAVAILABLE when that fails. */
export interface Views extends AsyncDisposable {
  look(task: ViewTask): Promise<ViewResult>
}

export function openViews(log: Logger): Views {
  const pool = openTaskPool<ViewTask, ViewResult>({
    entry: new URL('./view-worker.ts', import.meta.url),
    size: 1,
    resourceLimits: RESOURCE_LIMITS,
  })
  return {
    async look(task) {
      const { byteLength } = task.bytes
      if (byteLength <= OFF_MAIN_BYTES) return runViewTask(task)
      const outcome = await pool.run({ task, deadlineMs: DEADLINE_MS, endsThread: byteLength > ENDS_THREAD_BYTES })
      if (outcome.kind === 'done') return outcome.result
      if (outcome.kind === 'failed') log.error('mcp.view_failed', 'a body could not be looked at', { detail: outcome.detail })
      throw new RelayError('UNAVAILABLE', 'The document could not be read now.')
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}
