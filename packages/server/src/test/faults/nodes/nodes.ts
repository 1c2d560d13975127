// `npm run faults:nodes [-- --faults kill-owner,links-cut --seed 1 --seeds 3 --sabotage no-epoch --record --resume --json file]`: two or three
// relay processes on one PostgreSQL and one Redis of their own, under people, writers over REST and agents, and one fault of those in
// fault-table.ts; without `--faults` each of them. Nothing acknowledged may be missing afterwards, all replicas must be equal, and no node
// may have written into the log of a document that another one owned. With a number, as in `--faults 200 --seed 7`, so many faults are drawn, and
// played one after the other on three nodes, which are replaced by fresh ones after each 10. `--record` appends a row for each run to
// bench/results, and `--resume` also leaves out those that have one. With `--sabotage no-epoch` the appends do not compare the epoch, and the
// run succeeds only when it finds something lost that was acknowledged.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { anyLost } from '../losses.ts'
import { generator } from '../mixed-load.ts'
import { drawFaults, NODES_FAULTS } from './fault-table.ts'
import { append, isDone, rowOf } from './nodes-results.ts'
import { isKept, missedBounds, type NodesPlayed, type NodesRun, playNodes } from './play-nodes.ts'

const RESULTS = join(import.meta.dirname, '../../../../../../bench/results/faults-nodes.md')
const MOST_LINES = 12
const FAULTS_PER_CLUSTER = 10

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      faults: { type: 'string' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      seeds: { type: 'string', default: '1' },
      sabotage: { type: 'string' },
      former: { type: 'string' },
      record: { type: 'boolean', default: false },
      resume: { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  })
  const sabotaged = values.sabotage === 'no-epoch'
  const seeds = { first: Number(values.seed), count: Number(values.seeds) }
  const count = Number(values.faults)
  const named = values.faults?.split(',') ?? (sabotaged ? ['database-fails-over-then-freeze'] : Object.keys(NODES_FAULTS))
  const runs = (count > 0 ? sequences(count, seeds.first) : single(named, seeds)).map((run) => ({
    ...run,
    sabotaged,
    ...(values.former !== undefined && { former: values.former }),
  }))
  const all: (NodesRun & { readonly played: NodesPlayed })[] = []
  for (const run of runs) {
    if (values.resume && isDone(RESULTS, run)) continue
    const startedMs = performance.now()
    const played = await playNodes(run, (phase) => {
      console.error(`seed ${run.seed}, ${((performance.now() - startedMs) / 1_000).toFixed(0)} s: ${phase}`)
    })
    print(run, played)
    all.push({ ...run, played })
    if (values.record || values.resume) append(RESULTS, rowOf(run, played))
    if (!sabotaged && !isKept(run, played)) process.exitCode = 1
  }
  if (values.json !== undefined)
    writeFileSync(
      values.json,
      JSON.stringify(all, (_, value) => (value instanceof Map ? [...value] : value), 2),
    )
  if (!sabotaged) return
  const isFound = all.some(({ played }) => anyLost(played.losses))
  console.log(isFound ? 'The sabotage was found out, so this check can fail.' : 'The sabotage was NOT found out.')
  process.exitCode = isFound ? 0 : 1
}

type Plan = Omit<NodesRun, 'sabotaged'>

function single(names: readonly string[], { first, count }: { readonly first: number; readonly count: number }): readonly Plan[] {
  return Array.from({ length: count }, (_, i) => names.map((name) => ({ faults: [name], seed: first + i }))).flat()
}

/** Divides `count` faults into runs with a seed each, so that one run can be repeated alone. */
function sequences(count: number, seed: number): readonly Plan[] {
  return Array.from({ length: Math.ceil(count / FAULTS_PER_CLUSTER) }, (_, i) => {
    const ofThis = Math.min(FAULTS_PER_CLUSTER, count - i * FAULTS_PER_CLUSTER)
    return { faults: drawFaults(ofThis, generator(seed + i)), seed: seed + i }
  })
}

function print(run: NodesRun, played: NodesPlayed): void {
  list('MISSING', played.missing)
  list('FOREIGN APPEND', played.foreignAppends)
  list('STALE', played.staleReads)
  list('EVENT', played.wrongEvents)
  for (const one of played.faults) {
    list(`${one.fault}: DIFFERENT`, one.differences)
    list(`${one.fault}: WRONG`, one.wrong)
    list(`${one.fault}: CLOSED ELSEWHERE`, one.closesElsewhere)
    list(`${one.fault}: BAD ANSWER`, one.badAnswers)
    const missed = missedBounds(one)
    if (missed.length > 0) {
      const times = `events ${Math.round(one.latestEventMs)} ms, pause elsewhere ${Math.round(one.pauseElsewhereMs)} ms, reconnect p99 ${Math.round(one.reconnectP99Ms ?? 0)} ms`
      console.log(`${one.fault}: missed bounds: ${missed.join(', ')}; ${times}`)
    }
  }
  console.log(rowOf(run, played))
  if (played.errors.size > 0) console.log(`error lines: ${[...played.errors].map(([event, n]) => `${event} ${n}`).join(', ')}`)
}

function list(what: string, lines: readonly string[]): void {
  for (const line of lines.slice(0, MOST_LINES)) console.log(`${what}: ${line}`)
  if (lines.length > MOST_LINES) console.log(`${what}: and ${lines.length - MOST_LINES} more`)
}

await main()
