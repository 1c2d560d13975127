import { startRelayUnderTest } from '@docrelay/server/test/relay-under-test'
import { DRAWING } from './drawing.ts'
import { FINDING } from './finding.ts'
import { type Endpoint, openStage, type Task, type Used } from './stage.ts'
import { WRITING } from './writing.ts'

/** The twenty tasks of AG-104; the second is played on a small and on a large document. */
export const TASKS: readonly Task[] = [...WRITING, ...FINDING, ...DRAWING]

export interface Played {
  /** The most that one time used. */
  readonly used: Used
  /** One sentence for each time that did not succeed. */
  readonly failures: readonly string[]
}

/** Plays a task as often as it says, each time on a new document. `run`: part of the documents' ids. */
export async function play(endpoint: Endpoint, task: Task, run: string): Promise<Played> {
  const used: Used = { calls: 0, sent: 0, answered: 0 }
  const failures: string[] = []
  for (let time = 0; time < (task.times ?? 1); time++) {
    const docId = `task-${run}-${task.number}-${TASKS.indexOf(task)}-${time}`
    await using stage = await openStage(endpoint, docId, task.document)
    await task.play(stage).catch((error: unknown) => failures.push(error instanceof Error ? error.message : String(error)))
    for (const member of ['calls', 'sent', 'answered'] as const) used[member] = Math.max(used[member], stage.agent.used[member])
  }
  return { used, failures }
}

/** Whether a task used no more than its bounds. */
export function isWithin(used: Used, { most }: Task): boolean {
  return (['calls', 'sent', 'answered'] as const).every((member) => used[member] <= most[member])
}

/** A relay of its own for the tasks, with an agent and a person of one workspace; it ends with `stack`. */
export async function ownEndpoint(stack: AsyncDisposableStack): Promise<Endpoint> {
  const env = {
    RELAY_WRITES_PER_SEC: '0',
    RELAY_READS_PER_SEC: '0',
    RELAY_LOG_LEVEL: 'error',
    RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '1000',
  }
  const relay = stack.use(await startRelayUnderTest({ mcp: 'local', env }))
  const token = (sub: string): string => relay.token({ sub, role: 'owner' })
  return { baseUrl: relay.baseUrl, mcpUrl: relay.mcpUrl, tokens: [token('agent'), token('ann')] }
}
