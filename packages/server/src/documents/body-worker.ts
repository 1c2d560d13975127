import type { Transferable } from 'node:worker_threads'
import { serveTasks } from '../kernel/task-worker.ts'
import { type BodyTask, type BodyTaskResult, runBodyTask } from './body-task.ts'

// The entry of a task thread; nothing imports this module.
serveTasks((task: BodyTask): { result: BodyTaskResult; transfer: Transferable[] } => {
  const result = runBodyTask(task)
  return { result, transfer: result.kind === 'prepared' ? [result.body.bytes.buffer as ArrayBuffer] : [] }
})
