// `npm run simulate:nodes -- [--seeds 2000] [--seed 1] [--record]`: plays seeds of several nodes in memory, as `simulation.laws.test.ts` does with the
// first 500. The first seed in which an invariant is violated ends the run, is made shorter and printed. `--record` appends a row to bench/results.
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { shrunk, told } from '../../../sync/testing/simulation/report.ts'
import { simulate, type SimulationCounts, type SimulationRun } from '../../../sync/testing/simulation/simulation.ts'

const RESULTS = join(import.meta.dirname, '../../../../../../bench/results/simulation-nodes.md')
const HEAD = `# Several nodes in a simulation: results

Each row is one run of \`npm run simulate:nodes\`, which appends it: three nodes, six clients and up to three documents in one process, with faults by
seed. What is real, what is simulated and which invariants are checked stands at the head of \`simulation.laws.test.ts\`. *Takeovers* are documents that
were taken from a node that had not given them up.

| Seeds | Steps | Records of logs | Acknowledged edits | Reads, refused for now | Takeovers | Rows of the feed | Processor time | Result |
|---|---|---|---|---|---|---|---|---|
`
const SAID_EVERY = 100

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '500' },
      record: { type: 'boolean', default: false },
    },
  })
  const from = Number(values.seed)
  const through = from + Number(values.seeds) - 1
  const runs: SimulationRun[] = []
  let found: SimulationRun | null = null
  const begun = process.cpuUsage()
  for (let seed = from; seed <= through && found === null; seed++) {
    const { history: _, ...run } = await simulate({ seed })
    runs.push({ ...run, history: [] })
    if (run.violation !== null) found = await shrunk(await simulate({ seed }), { seed })
    if ((seed - from + 1) % SAID_EVERY === 0) console.error(`through seed ${seed}`)
  }
  const { user, system } = process.cpuUsage(begun)
  if (found !== null) console.log(told(found))
  const row = rowOf(runs, (user + system) / 1_000_000)
  console.log(row)
  if (values.record) {
    if (!existsSync(RESULTS)) writeFileSync(RESULTS, HEAD)
    appendFileSync(RESULTS, `${row}\n`)
  }
  process.exitCode = found === null ? 0 : 1
}

function rowOf(runs: readonly SimulationRun[], processorSec: number): string {
  const sum = (of: (counts: SimulationCounts) => number): string =>
    runs.reduce((total, { counts }) => total + of(counts), 0).toLocaleString('en')
  const last = runs.at(-1)
  const cells = [
    `${runs[0]?.seed} to ${last?.seed}`,
    sum(({ steps }) => steps),
    sum(({ records }) => records),
    sum(({ acknowledged }) => acknowledged),
    `${sum(({ reads }) => reads)}, ${sum(({ refusedReads }) => refusedReads)}`,
    sum(({ takeovers }) => takeovers),
    sum(({ told: rows }) => rows),
    `${processorSec.toFixed(0)} s`,
    last?.violation == null ? 'nothing violated' : `VIOLATED by seed ${last.seed}: ${last.violation.message}`,
  ]
  return `| ${cells.join(' | ')} |`
}

await main()
