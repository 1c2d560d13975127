import { serveTasks } from '../../kernel/task-worker.ts'
import { runInBackground } from '../../kernel/thread-priority.ts'
import { type DiagramTask, type DiagramTaskResult, runDiagramTask } from './diagram-task.ts'

// The entry of a task thread; nothing imports this module.
runInBackground()
serveTasks((task: DiagramTask): { result: DiagramTaskResult } => ({ result: runDiagramTask(task) }))
