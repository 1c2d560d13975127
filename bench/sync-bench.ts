// `npm run bench:sync`: the relay (durable acks on) compared with its peers in interleaved rounds. Prints the table that bench/README.md
// publishes.
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import type { Load, Measured } from './generator.ts'
import { type RunningRelay, startRelayServer } from './relay-server.ts'
import { type RunningServer, startPeer } from './servers.ts'

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3)
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 8)
/** Long enough for the engines to compile frequently executed code in every thread. */
const WARM_UP_SECONDS = Number(process.env['BENCH_WARM_UP_SECONDS'] ?? 20)

type Target = 'relay' | 'hocuspocus' | 'bare'
type Scenario = Pick<Load, 'clientsPerDoc' | 'rate' | 'window'> & {
  readonly docs: number
  readonly targets: readonly Target[]
  readonly defaults?: true
}

const SCENARIOS: Record<string, Scenario> = {
  hot: { docs: 8, clientsPerDoc: 25, rate: 8, window: 0, targets: ['relay', 'hocuspocus', 'bare'] },
  many: { docs: 400, clientsPerDoc: 5, rate: 1, window: 0, targets: ['relay', 'hocuspocus', 'bare'] },
  saturation: { docs: 8, clientsPerDoc: 25, rate: 'saturate', window: 32, targets: ['relay', 'hocuspocus', 'bare'] },
  // One document per workspace at exactly the default write rate of 40/s.
  'default limits': { docs: 8, clientsPerDoc: 25, rate: 1.6, window: 0, targets: ['relay'], defaults: true },
  lone: { docs: 1, clientsPerDoc: 2, rate: 2, window: 0, targets: ['relay', 'hocuspocus', 'bare'] },
}

async function measure(target: Target, scenario: Scenario): Promise<Measured> {
  const ids = Array.from({ length: scenario.docs }, (_, i) => `bench-${i}`)
  const server: RunningServer =
    target === 'relay'
      ? await startRelayServer({ docs: ids, limits: scenario.defaults ? 'default' : 'raised' })
      : await startPeer(target === 'bare' ? 'bare-ws.ts' : 'hocuspocus.ts')
  try {
    const load: Load = {
      dialect: target,
      port: server.port,
      serverPid: server.pid,
      docs: ids.map((id, i) => ({ id, token: (server as Partial<RunningRelay>).tokens?.[i] ?? 'none' })),
      clientsPerDoc: scenario.clientsPerDoc,
      rate: scenario.rate,
      window: scenario.window,
      warmUpSec: WARM_UP_SECONDS,
      measureSec: SECONDS,
    }
    const generator = spawn(process.execPath, [`${import.meta.dirname}/generator.ts`], { stdio: ['pipe', 'pipe', 'inherit'] })
    generator.stdin.end(JSON.stringify(load))
    return JSON.parse(await text(generator.stdout)) as Measured
  } finally {
    await server.stop()
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

async function main(): Promise<void> {
  const wanted = process.argv.slice(2)
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const results = new Map<Target, Measured[]>(scenario.targets.map((target) => [target, []]))
    for (let round = 0; round < ROUNDS; round++) {
      for (const target of scenario.targets) results.get(target)?.push(await measure(target, scenario))
    }
    print(name, scenario, results)
  }
}

const PICKS: Record<string, (m: Measured) => number> = {
  'CPU-µs per delivery': (m) => (m.serverCpuSec / m.deliveries) * 1e6,
  'deliveries/s': (m) => m.deliveries / m.seconds,
  'frames per delivery': (m) => m.frames / m.deliveries,
  'delivery p50 ms': (m) => m.deliveryMs.p50,
  'delivery p99 ms': (m) => m.deliveryMs.p99,
  'ack p50 ms': (m) => m.ackMs?.p50 ?? Number.NaN,
  'ack p99 ms': (m) => m.ackMs?.p99 ?? Number.NaN,
  'RSS MB': (m) => m.serverRssMb,
  'generator CPU share': (m) => m.generatorCpuSec / m.seconds,
  missing: (m) => m.missing,
}

function print(name: string, scenario: Scenario, results: Map<Target, Measured[]>): void {
  const rate =
    scenario.rate === 'saturate' ? `saturated, ${scenario.window} edits in flight each` : `${scenario.rate} edits/s each`
  console.log(`\n### ${name}: ${scenario.docs} documents × ${scenario.clientsPerDoc} clients, ${rate}\n`)
  const columns = Object.keys(PICKS)
  console.log(`| server | ${columns.join(' | ')} |`)
  console.log(`|---|${columns.map(() => '---').join('|')}|`)
  const medians = new Map<Target, Record<string, number>>()
  for (const [target, runs] of results) {
    const row = Object.fromEntries(Object.entries(PICKS).map(([column, pick]) => [column, median(runs.map(pick))]))
    medians.set(target, row)
    console.log(`| ${target} | ${columns.map((column) => figure(row[column] as number)).join(' | ')} |`)
  }
  const relay = medians.get('relay')
  const peer = medians.get('hocuspocus')
  const bare = medians.get('bare')
  if (!relay || !peer || !bare) return
  const ratio = (column: string, other: Record<string, number>) =>
    ((relay[column] as number) / (other[column] as number)).toFixed(2)
  console.log(
    `\nRelay against the peer: CPU per delivery ${ratio('CPU-µs per delivery', peer)}, deliveries/s ${ratio('deliveries/s', peer)}; against bare ws: deliveries/s ${ratio('deliveries/s', bare)}. Medians of ${ROUNDS} interleaved rounds of ${SECONDS} s.`,
  )
}

function figure(value: number): string {
  if (Number.isNaN(value)) return '–'
  return value >= 1_000
    ? Math.round(value).toLocaleString('en')
    : value >= 100
      ? value.toFixed(0)
      : value >= 10
        ? value.toFixed(1)
        : value.toFixed(2)
}

await main()
