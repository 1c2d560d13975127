// `npm run bench:start [-- --rounds 5 --seconds 20]`: the memory of an idle relay, the time to its first answer, and its CPU time while it gets no
// requests. Compares the sources and the bundle in interleaved rounds and prints the table that bench/README.md publishes.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { startTestIssuer } from '@docrelay/server/auth/testing/test-issuer'
import { bundledRelay } from '../scripts/relay-bundle.ts'
import { medianInterval } from './medians.ts'
import { stopChild } from './servers.ts'

/** The work of a start has ended after this time. */
const SETTLE_MS = 3_000
/** A tick of the clock in /proc: 100 Hz on every Linux that Node runs on. */
const TICK_MS = 10

interface Program {
  readonly name: string
  readonly file: string
  readonly env: Readonly<Record<string, string>>
}

interface Figures {
  readonly rssMib: number
  readonly firstAnswerMs: number
  readonly startCpuMs: number
  /** CPU time while idle, in percent of one core. */
  readonly idlePercent: number
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '20' } },
  })
  const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
  const sources = join(import.meta.dirname, '../packages/server/src/main.ts')
  const bundle = await bundledRelay()
  const programs: readonly Program[] = [
    { name: 'sources', file: sources, env: {} },
    { name: 'bundle', file: bundle, env: {} },
    { name: 'bundle, `MALLOC_ARENA_MAX=2`', file: bundle, env: { MALLOC_ARENA_MAX: '2' } },
  ]
  const issuer = await startTestIssuer()
  const folders = programs.map(() => mkdtempSync(join(tmpdir(), 'docrelay-start-bench-')))
  const measured = programs.map((): Figures[] => [])
  const one = (at: number, idleSeconds: number): Promise<Figures> =>
    measure(programs[at] as Program, folders[at] as string, issuer, idleSeconds)
  try {
    // The first start creates the store and the cache of compiled code; its figures are dropped.
    for (const at of programs.keys()) await one(at, 0)
    for (let round = 0; round < rounds; round++) for (const at of programs.keys()) measured[at]?.push(await one(at, seconds))
  } finally {
    await issuer.close()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  }
  console.log('| Relay | memory, MiB | first answer, ms | processor time of the start, ms | idle, % of a core |')
  console.log('| --- | --- | --- | --- | --- |')
  for (const [at, { name }] of programs.entries()) console.log(row(name, measured[at] ?? []))
}

function row(name: string, figures: readonly Figures[]): string {
  const cell = (of: (one: Figures) => number, digits: number): string => {
    const { median, low, high } = medianInterval(figures.map(of))
    return `${median.toFixed(digits)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`
  }
  const cells = [
    cell((one) => one.rssMib, 0),
    cell((one) => one.firstAnswerMs, 0),
    cell((one) => one.startCpuMs, 0),
    cell((one) => one.idlePercent, 2),
  ]
  return `| ${[name, ...cells].join(' | ')} |`
}

/**
 * Starts the relay as an operator would, with all listeners, and measures it. Ends it with a clean stop, so that it writes its cache of compiled
 * code.
 */
async function measure(
  program: Program,
  folder: string,
  issuer: { readonly issuer: string; readonly jwksUrl: string },
  idleSeconds: number,
): Promise<Figures> {
  const startedMs = performance.now()
  const child = spawn(process.execPath, [program.file, 'serve'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      RELAY_HOST: '127.0.0.1',
      RELAY_PORT: '0',
      RELAY_MCP_PORT: '0',
      RELAY_METRICS_PORT: '0',
      RELAY_DATA_DIR: join(folder, 'data'),
      RELAY_JWT_ISSUER: issuer.issuer,
      RELAY_JWT_JWKS_URL: issuer.jwksUrl,
      RELAY_LOG_LEVEL: 'error',
      ...program.env,
    },
  })
  try {
    const address = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => line.startsWith('main ') && resolve(line.slice(5)))
      child.once('exit', () => reject(new Error('the relay ended before it took requests')))
    })
    const answer = await fetch(`${address}/health`)
    if (!answer.ok) throw new Error(`/health answered ${answer.status}`)
    const firstAnswerMs = performance.now() - startedMs
    await sleep(SETTLE_MS)
    const pid = child.pid as number
    const [startCpuMs, rssMib] = [cpuMs(pid), residentMib(pid)]
    const idleFromMs = performance.now()
    await sleep(idleSeconds * 1000)
    const idlePercent = (100 * (cpuMs(pid) - startCpuMs)) / (performance.now() - idleFromMs)
    return { rssMib, firstAnswerMs, startCpuMs, idlePercent }
  } finally {
    await stopChild(child)
  }
}

/** User and system time of all threads of a process so far, in ms. */
function cpuMs(pid: number): number {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const numbers = fields.split(' ').map(Number)
  return ((numbers[11] ?? 0) + (numbers[12] ?? 0)) * TICK_MS
}

function residentMib(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

await main()
