import type { Transferable } from 'node:worker_threads'
import { serveTasks } from '../kernel/task-worker.ts'
import { openIconPaths } from './icon-paths.ts'
import { type PreviewResult, type PreviewTask, runPreviewTask } from './preview-task.ts'

const icons = openIconPaths()

// The entry of a task thread; nothing imports this module.
serveTasks((task: PreviewTask): { result: PreviewResult; transfer: Transferable[] } => {
  const result = runPreviewTask(task, icons)
  if (result.kind === 'no-page') return { result, transfer: [] }
  // The bytes are copied, because the buffer of the library may be a view on memory that must not be transferred.
  const bytes = new Uint8Array(result.bytes)
  return { result: { ...result, bytes }, transfer: [bytes.buffer] }
})
