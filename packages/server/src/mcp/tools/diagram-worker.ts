import type { DrawnDiagram } from '@docrelay/model/canvas/generate/draw-diagram'
import type { Refusal } from '@docrelay/model/edit'
import { serveTasks } from '../../kernel/task-worker.ts'
import { type DiagramTask, runDiagramTask } from './diagram-task.ts'

// The entry of a task thread; nothing imports this module.
serveTasks((task: DiagramTask): { result: DrawnDiagram | Refusal } => ({ result: runDiagramTask(task) }))
