// `npm run bench:agent-tasks`: plays the twenty tasks of AG-104 through the official MCP client, on live documents in which two people type,
// and prints calls and bytes beside their bounds. With `-- --base URL --mcp URL --agent TOKEN --person TOKEN` it plays them on any relay.
// Exits 1 when a task fails or needs more than its bounds.
import { parseArgs } from 'node:util'
import { isWithin, ownEndpoint, play, TASKS } from './play.ts'
import type { Endpoint } from './stage.ts'

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
  const { base, mcp, agent, person } = values
  await using stack = new AsyncDisposableStack()
  const isGiven = base !== undefined && mcp !== undefined && agent !== undefined
  const endpoint: Endpoint = isGiven ? { baseUrl: base, mcpUrl: mcp, tokens: [agent, person ?? agent] } : await ownEndpoint(stack)
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
    if (failures.length > 0 || !isWithin(used, task)) missed++
  }
  console.log(`${tasks.length - missed} of ${tasks.length} within their bounds`)
  if (missed > 0) process.exitCode = 1
}

await main()
