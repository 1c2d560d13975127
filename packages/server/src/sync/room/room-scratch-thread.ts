import { serveTasks } from '../../kernel/task-worker.ts'
import { runScratch, type ScratchTask } from './room-scratch.ts'

serveTasks<ScratchTask, boolean>((task) => ({ result: runScratch(task) }))
