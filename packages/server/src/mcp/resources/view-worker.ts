import { serveTasks } from '../../kernel/task-worker.ts'
import { openIconPaths } from '../../previews/icon-paths.ts'
import { runViewTask, type ViewResult, type ViewTask } from './view-task.ts'

const icons = openIconPaths()

// The entry of a task thread; nothing imports this module.
serveTasks((task: ViewTask): { result: ViewResult } => ({ result: runViewTask(task, icons) }))
