import type { Transferable } from 'node:worker_threads'
import { serveTasks } from '../kernel/task-worker.ts'
import { type BodyTask, type BodyTaskResult, runBodyTask } from './body-task.ts'

// The entry of a task thread; nothing imports this module.
serveTasks((task: BodyTask): { result: BodyTaskResult; transfer: Transferable[] } => {
  const result = runBodyTask(task)
  return { result, transfer: madeBytes(result).map(({ buffer }) => buffer as ArrayBuffer) }
})

function madeBytes(result: BodyTaskResult): Uint8Array[] {
  if (result.kind === 'edit')
    return result.outcome.kind === 'refused' || result.outcome.stored === null ? [] : [result.outcome.stored.bytes]
  if (result.kind === 'point') return result.bytes === null ? [] : [result.bytes]
  if (result.kind === 'local') return result.reading.kind === 'local' ? [result.reading.bytes] : []
  if (result.kind === 'prepared' || result.kind === 'restored') return result.body === null ? [] : [result.body.bytes]
  return []
}
