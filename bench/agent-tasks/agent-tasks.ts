// `npm run bench:agent-tasks`: plays the twenty tasks of AG-104 through the official MCP client, on live documents in which two people type,
// and prints calls and bytes beside their bounds. With `-- --base URL --mcp URL --agent TOKEN --person TOKEN` it plays them on any relay.
// Exits 1 when a task fails or needs more than its bounds.
import { parseArgs } from 'node:util'
import { startRelayUnderTest } from '@docrelay/server/test/relay-under-test'
import { DRAWING } from './drawing.ts'
import { FINDING } from './finding.ts'
import { type Endpoint, openStage, type Task, type Used } from './stage.ts'
import { WRITING } from './writing.ts'

const TASKS: readonly Task[] = [...WRITING, ...FINDING, ...DRAWING]

interface Played {
  readonly used: Used
  readonly failures: readonly string[]
}

/** Plays a task as often as it says; the most that one time used counts. */
async function play(endpoint: Endpoint, task: Task, run: string): Promise<Played> {
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

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      base: { type: 'string' },
      mcp: { type: 'string' },
      agent: { type: 'string' },
      person: { type: 'string' },
      task: { type: 'string' },
    },
  })
  await using stack = new AsyncDisposableStack()
  const endpoint = await endpointOf(values, stack)
  const run = Date.now().toString(36)
  const tasks = TASKS.filter(({ number }) => values.task === undefined || values.task.split(',').includes(String(number)))
  let missed = 0
  console.log('| Task | Passed | Calls | Bytes in | Bytes out |\n|---|---|---|---|---|')
  for (const task of tasks) {
    const { used, failures } = await play(endpoint, task, run)
    const times = task.times ?? 1
    const cells = (['calls', 'sent', 'answered'] as const).map((member) => `${used[member]} of ${task.most[member]}`)
    console.log(`| ${task.number} ${task.name} | ${times - failures.length} of ${times} | ${cells.join(' | ')} |`)
    for (const failure of new Set(failures)) console.log(`  FAILED: ${failure}`)
    const isWithin = (['calls', 'sent', 'answered'] as const).every((member) => used[member] <= task.most[member])
    if (failures.length > 0 || !isWithin) missed++
  }
  console.log(`${tasks.length - missed} of ${tasks.length} within their bounds`)
  if (missed > 0) process.exitCode = 1
}

async function endpointOf(
  given: { base?: string | undefined; mcp?: string | undefined; agent?: string | undefined; person?: string | undefined },
  stack: AsyncDisposableStack,
): Promise<Endpoint> {
  const { base, mcp, agent, person } = given
  if (base !== undefined && mcp !== undefined && agent !== undefined)
    return { baseUrl: base, mcpUrl: mcp, tokens: [agent, person ?? agent] }
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

await main()
