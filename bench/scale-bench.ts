// `npm run bench:scale [-- many hot readers --rounds 10 --seconds 10 --warm-up 20 --rate 1 --record --resume --profile <folder>]`: how much CPU time
// a delivery costs when the same load is spread over one, two or four nodes on one PostgreSQL and one Redis. It measures cost and not throughput: all
// processes share one machine. bench/README.md says how to read the output.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join, resolve } from 'node:path'
import type { Measured } from './generator.ts'
import { type Cost, confidenceLine, costTable, figure, ratioTable, type Row } from './scale-figures.ts'
import { type Nodes, startNodes, startStores, type Stores } from './scale-nodes.ts'
import { readOptions, type ScaleOptions } from './scale-options.ts'
import { forwardedShare, ownedBy, placesOf, type Run, SHAPES } from './scale-plan.ts'
import { added, parse, render, rowsOf, type Section, type Setup } from './scale-results.ts'
import { generate } from './sync-run.ts'

const ROOT = join(import.meta.dirname, '..')
const RESULTS = join(import.meta.dirname, 'results/scale.md')
/** Paths of the measured programs and of this bench; results are recorded under the newest commit that changed one of them. */
const PROGRAMS = ['packages', 'bench/*.ts', 'package-lock.json']

async function measureRun(run: Run, round: number, stores: Stores, options: ScaleOptions): Promise<Row> {
  const { docs, clientsPerDoc, editorsPerDoc, rate, hasRates } = SHAPES[run.shape]
  const ids = Array.from({ length: docs }, (_, i) => `bench-${i}`)
  const places = placesOf(run)
  const profile = options.profile === null ? null : resolve(options.profile, `${run.name}-${round}`)
  const isAlone = run.spread === 'alone'
  await using nodes = await startNodes(stores, { count: run.nodes, isAlone, docs: ids, hasRates, profile })
  const measured = await generate({
    dialect: 'relay',
    servers: nodes.servers,
    beside: stores.pids,
    docs: ids.map((id, i) => ({ id, token: nodes.tokens[i] as string, at: places[i] as readonly number[] })),
    clientsPerDoc,
    ...(editorsPerDoc !== undefined && { editorsPerDoc }),
    rate: rate * options.rate,
    window: 0,
    warmUpSec: options.warmUpSec,
    measureSec: options.seconds,
  })
  const isUsable = measured !== null && (await isPlaced(run, places, nodes))
  const owner = places[0]?.[0] ?? 0
  return {
    round,
    run: run.name,
    forwarded: forwardedShare(places, editorsPerDoc),
    cost: isUsable ? costOf(measured, owner, clientsPerDoc) : null,
  }
}

/** Whether each node owns the documents that the plan gives it. Otherwise the share of forwarded edits differs from the plan. */
async function isPlaced(run: Run, places: ReturnType<typeof placesOf>, nodes: Nodes): Promise<boolean> {
  if (run.spread === 'alone') return true
  const [wanted, found] = [ownedBy(places, run.nodes), await nodes.owned()]
  const isSame = wanted.every((count, node) => count === found[node])
  if (!isSame) console.error(`${run.name}: the nodes own ${found.join(', ')} documents instead of ${wanted.join(', ')}`)
  return isSame
}

function costOf(measured: Measured, owner: number, clientsPerDoc: number): Cost {
  const { deliveries, edits, seconds, serverCpuSec, serversCpuSec, besideCpuSec, generatorCpuSec, missing } = measured
  const perDelivery = (sec: number): number => (sec / deliveries) * 1e6
  const { postgres = 0, redis = 0 } = besideCpuSec
  return {
    relays: perDelivery(serverCpuSec),
    owner: perDelivery(serversCpuSec[owner] ?? 0),
    postgres: perDelivery(postgres),
    redis: perDelivery(redis),
    cores: (serverCpuSec + postgres + redis + generatorCpuSec) / seconds,
    deliveries,
    keptUp: deliveries / (edits * (clientsPerDoc - 1)),
    missing,
  }
}

function setupOf({ warmUpSec, seconds, rate }: ScaleOptions): Setup {
  const git = (...args: readonly string[]): string => spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout.trim()
  const commit = git('log', '-1', '--format=%h', '--', ...PROGRAMS) || 'unknown'
  const isChanged = git('status', '--porcelain', '--', ...PROGRAMS) !== ''
  const [processor] = cpus()
  const machine = `${cpus().length} × ${processor?.model.trim() ?? 'unknown'}, Node ${process.versions.node}`
  return { commit: `${commit}${isChanged ? '+' : ''}`, machine, warmUpSec, seconds, rate }
}

/** The runs to make, one round after the other. With `--resume`, runs that are already recorded are left out. */
function planned(options: ScaleOptions, done: readonly Row[]): readonly { readonly round: number; readonly run: Run }[] {
  const { record, rounds, runs } = options
  const last = record === 'append' ? Math.max(0, ...done.map(({ round }) => round)) : 0
  const all = Array.from({ length: rounds }, (_, i) => runs.map((run) => ({ round: last + i + 1, run }))).flat()
  if (record !== 'resume') return all
  const isDone = new Set(done.map(({ round, run }) => `${round} ${run}`))
  return all.filter(({ round, run }) => !isDone.has(`${round} ${run.name}`))
}

function describe({ round, run, forwarded, cost }: Row): string {
  if (cost === null) return `round ${round}, ${run}: given up`
  const { relays, owner, postgres, redis, cores, keptUp, missing } = cost
  const shares = `relays ${figure(relays)} µs (owner of the first document ${figure(owner)}), PostgreSQL ${figure(postgres)}, Redis ${figure(redis)}`
  return `round ${round}, ${run}: ${shares}; f ${figure(forwarded)}, ${figure(cores)} cores in use, kept up ${figure(keptUp)}, ${missing} missing`
}

async function main(options: ScaleOptions): Promise<void> {
  const setup = setupOf(options)
  let sections: readonly Section[] = existsSync(RESULTS) ? parse(readFileSync(RESULTS, 'utf8')) : []
  const rows: Row[] = []
  const todo = planned(options, rowsOf(sections, setup))
  if (options.profile !== null) mkdirSync(options.profile, { recursive: true })
  if (todo.length > 0) {
    await using stores = await startStores()
    for (const { round, run } of todo) {
      const row = await measureRun(run, round, stores, options)
      console.error(describe(row))
      rows.push(row)
      if (options.record === 'no') continue
      sections = added(sections, setup, { ...row, date: new Date().toISOString().slice(0, 10) })
      writeFileSync(RESULTS, render(sections))
    }
  }
  const shown = options.record === 'no' ? rows : rowsOf(sections, setup)
  for (const line of [...ratioTable(shown), '', ...costTable(shown), '', confidenceLine(shown)]) console.log(line)
}

/** Reads the options. Returns `null` after it has printed what is wrong with the arguments. */
function optionsOrNull(): ScaleOptions | null {
  try {
    return readOptions(process.argv.slice(2))
  } catch (error) {
    console.error(`bench:scale: ${error instanceof Error ? error.message : String(error)}`)
    return null
  }
}

const options = optionsOrNull()
if (options === null) process.exitCode = 2
else await main(options)
