import { serveTasks } from '../../kernel/task-worker.ts'
import { type DiagramTask, type DiagramTaskResult, runDiagramTask } from './diagram-task.ts'

// The entry of a task thread; nothing imports this module.
serveTasks((task: DiagramTask): { result: DiagramTaskResult } => ({ result: runDiagramTask(task) }))
