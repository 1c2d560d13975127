import { serveTasks } from '../../kernel/task-worker.ts'
import { contentOf, type ReadBody } from './stored-content.ts'

// The entry of a task thread; nothing imports this module.
serveTasks((read: ReadBody) => ({ result: contentOf(read) }))
