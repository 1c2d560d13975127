// `npm run faults:nodes [-- --faults kill-owner,links-cut --seed 1 --seeds 3 --sabotage no-epoch --record --resume --json file]`: two or three
// relay processes on one PostgreSQL and one Redis of their own, under people, writers over REST and agents, and one fault of the table in
// fault-table.ts; without `--faults` each of them. Nothing acknowledged may be missing afterwards, all replicas must be equal, and no node
// may have written into the log of a document that another one owned. `--record` appends a row for each run to bench/results, and
// `--resume` also leaves out those that have one. With `--sabotage no-epoch` the appends do not compare the epoch, and the run succeeds only
// when it finds that out.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { NODES_FAULTS } from './fault-table.ts'
import { append, isDone, rowOf } from './nodes-results.ts'
import { isKept, missedBounds, type NodesPlayed, type NodesRun, playNodes } from './play-nodes.ts'

const RESULTS = join(import.meta.dirname, '../../../../../../bench/results/faults-nodes.md')
const MOST_LINES = 12

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      faults: { type: 'string' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      seeds: { type: 'string', default: '1' },
      sabotage: { type: 'string' },
      record: { type: 'boolean', default: false },
      resume: { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  })
  const sabotaged = values.sabotage === 'no-epoch'
  const faults = values.faults?.split(',') ?? (sabotaged ? ['freeze-briefly-alone'] : Object.keys(NODES_FAULTS))
  const all: (NodesRun & { readonly played: NodesPlayed })[] = []
  for (let i = 0; i < Number(values.seeds); i++) {
    for (const fault of faults) {
      const run: NodesRun = { fault, seed: Number(values.seed) + i, sabotaged }
      if (values.resume && isDone(RESULTS, run)) continue
      const played = await playNodes(run, (phase) => console.error(`${fault}, seed ${run.seed}: ${phase}`))
      print(run, played)
      all.push({ ...run, played })
      if (values.record || values.resume) append(RESULTS, rowOf(run, played))
      if (!sabotaged && !isKept(run, played)) process.exitCode = 1
    }
  }
  if (values.json !== undefined)
    writeFileSync(
      values.json,
      JSON.stringify(all, (_, value) => (value instanceof Map ? [...value] : value), 2),
    )
  if (!sabotaged) return
  const isFound = all.some(({ played, ...run }) => !isKept(run, played))
  console.log(isFound ? 'The sabotage was found out, so this check can fail.' : 'The sabotage was NOT found out.')
  process.exitCode = isFound ? 0 : 1
}

function print(run: NodesRun, played: NodesPlayed): void {
  const parts: readonly (readonly [string, readonly string[]])[] = [
    ['MISSING', played.missing],
    ['FOREIGN APPEND', played.foreignAppends],
    ['DIFFERENT', played.differences],
    ['STALE', played.staleReads],
    ['CLOSED ELSEWHERE', played.closesElsewhere],
    ['BAD ANSWER', played.badAnswers],
  ]
  for (const [what, lines] of parts) {
    for (const line of lines.slice(0, MOST_LINES)) console.log(`${what}: ${line}`)
    if (lines.length > MOST_LINES) console.log(`${what}: and ${lines.length - MOST_LINES} more`)
  }
  console.log(rowOf(run, played))
  const missed = missedBounds(run, played)
  if (missed.length > 0) console.log(`missed bounds: ${missed.join(', ')}`)
  if (played.errors.size > 0) console.log(`error lines: ${[...played.errors].map(([event, n]) => `${event} ${n}`).join(', ')}`)
}

await main()
