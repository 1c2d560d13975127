import type { Transferable } from 'node:worker_threads'
import { serveTasks } from '../kernel/task-worker.ts'
import { type PreviewResult, type PreviewTask, runPreviewTask } from './preview-task.ts'

// The entry of a task thread; nothing imports this module.
serveTasks((task: PreviewTask): { result: PreviewResult; transfer: Transferable[] } => {
  const result = runPreviewTask(task)
  if (result.kind === 'no-page') return { result, transfer: [] }
  // The library's buffer may be a view on memory that is not ours to hand over.
  const bytes = new Uint8Array(result.bytes)
  return { result: { kind: 'drawn', bytes }, transfer: [bytes.buffer] }
})
