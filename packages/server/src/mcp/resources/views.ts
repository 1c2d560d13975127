import { RelayError } from '../../kernel/errors.ts'
import { createLanes } from '../../kernel/fair-turns.ts'
import type { Logger } from '../../kernel/log.ts'
import { openTaskPool } from '../../kernel/task-pool.ts'
import { openIconPaths } from '../../previews/icon-paths.ts'
import { runViewTask, type ViewResult, type ViewTask } from './view-task.ts'

/** A body of more bytes is parsed in a task thread, never on the main thread. [CONC-13] */
const OFF_MAIN_BYTES = 64 * 1024
const DEADLINE_MS = 10_000
const ENDS_THREAD_BYTES = 16 * 1_048_576
const THREADS = 2
const HEAVY_BYTES = 4 * 1_048_576
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 1024 }

/** Reads stored bodies; long ones in a task thread. Rejects with UNAVAILABLE when the thread fails. */
export interface Views extends AsyncDisposable {
  /** Runs a read. For long bodies, workspaces take turns at the threads. [C11] */
  look(workspaceId: string, task: ViewTask): Promise<ViewResult>
}

export function openViews(log: Logger): Views {
  const pool = openTaskPool<ViewTask, ViewResult>({
    entry: new URL('./view-worker.ts', import.meta.url),
    size: THREADS,
    resourceLimits: RESOURCE_LIMITS,
  })
  const icons = openIconPaths()
  const lanes = createLanes({ slots: THREADS, perHolder: 1 })
  return {
    async look(holder, task) {
      const { byteLength } = task.bytes
      if (byteLength <= OFF_MAIN_BYTES) return runViewTask(task, icons)
      const call = { task, deadlineMs: DEADLINE_MS, endsThread: byteLength > ENDS_THREAD_BYTES }
      const outcome = await lanes.run({ holder, heavy: byteLength > HEAVY_BYTES }, () => pool.run(call))
      if (outcome.kind === 'done') return outcome.result
      if (outcome.kind === 'failed')
        log.error('mcp.view_failed', 'a document body could not be read for an MCP resource', { detail: outcome.detail })
      throw new RelayError('UNAVAILABLE', 'The document could not be read now.')
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}
