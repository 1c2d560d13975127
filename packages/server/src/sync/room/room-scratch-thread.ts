import { serveTasks } from '../../kernel/task-worker.ts'
import { runScratch, type ScratchResult, type ScratchTask } from './room-scratch.ts'

serveTasks<ScratchTask, ScratchResult>((task) => ({ result: runScratch(task) }))
