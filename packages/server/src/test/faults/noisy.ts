// `npm run faults:noisy [-- --seed 1 --only previews --seconds 8 --json file]`: one workspace runs each attack while an honest workspace
// edits, reads, writes, joins and calls tools, with bursts within its rate limits. Prints the honest workspace's latencies before, during
// and after each attack. Fails when an answer took more than 100 ms and more than twice its quiet time, or when anything of the honest
// workspace was refused.
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { startRelayUnderTest } from '../relay-under-test.ts'
import { changeShares, crowdAwareness, idleSockets, type RunningAttack, sendCostlyUpdates, type Target } from './noisy-attacks.ts'
import { type Experience, faultsOf, figuresOf, KINDS, type Phases } from './noisy-figures.ts'
import type { HonestStart } from './noisy-honest.ts'
import {
  declareBodies,
  floodBodies,
  floodPreviews,
  halfHeaders,
  holdBodies,
  initializeStorm,
  leaveAnswers,
} from './noisy-requests.ts'

interface Attack {
  readonly name: string
  start(target: Target): Promise<RunningAttack>
}

const ATTACKS: readonly Attack[] = [
  { name: 'costly updates: 20 sockets, 96 KB each per second', start: (target) => sendCostlyUpdates(target) },
  { name: 'declared bodies: 40 of 128 MiB, dripping, role viewer', start: (target) => declareBodies(target) },
  { name: 'held bodies: 200 of 1 MiB, dripping', start: (target) => holdBodies(target) },
  {
    name: 'idle sockets: 300 of one address without AUTH',
    start: (target) => idleSockets(target, { localAddress: '127.0.0.9' }),
  },
  { name: 'share changes: 32 PUTs at a time', start: (target) => changeShares(target) },
  { name: 'initialize: MCP sessions without end', start: (target) => initializeStorm(target) },
  { name: 'previews: 60 large PNGs at a time', start: (target) => floodPreviews(target) },
  { name: 'awareness: 5 frames of 32,500 foreign ids per second', start: (target) => crowdAwareness(target) },
  { name: 'half headers: 3,000 connections, dripping', start: (target) => halfHeaders(target) },
  { name: 'large PUTs: 4 of 6 MiB at a time', start: (target) => floodBodies(target) },
  { name: 'unread answers: 100 of 4 MiB', start: (target) => leaveAnswers(target) },
]

interface Outcome {
  readonly name: string
  readonly phases: Phases
  readonly sent: number
  readonly closes: readonly (readonly [code: number, count: number])[]
  readonly faults: readonly string[]
  /** Memory of the relay at the end of the attack, in MiB. */
  readonly rssMib: number
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      only: { type: 'string', default: '' },
      seconds: { type: 'string', default: '8' },
      json: { type: 'string' },
    },
  })
  const attacks = shuffled(
    ATTACKS.filter(({ name }) => name.startsWith(values.only)),
    Number(values.seed),
  )
  const phaseMs = Number(values.seconds) * 1000
  console.log(`Noisy neighbour: ${attacks.length} attacks in an order of seed ${values.seed}, ${values.seconds} s each phase\n`)
  const outcomes: Outcome[] = []
  for (const attack of attacks) {
    const outcome = await play(attack, phaseMs)
    outcomes.push(outcome)
    console.error(`${outcomes.length}/${attacks.length} ${attack.name}: ${outcome.faults.join('; ') || 'kept'}`)
  }
  report(outcomes)
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ seed: values.seed, phaseMs, outcomes }, null, 1))
  return outcomes.every(({ faults }) => faults.length === 0) ? 0 : 1
}

/** Each attack gets its own relay, so that none is affected by an earlier one. */
async function play({ name, start }: Attack, phaseMs: number): Promise<Outcome> {
  const env = { RELAY_TENANCY_MODE: 'shared', RELAY_LOG_LEVEL: 'warn' }
  await using relay = await startRelayUnderTest({ env, mcp: 'public' })
  const { baseUrl, wsUrl, mcpUrl } = relay
  const workerData: HonestStart = {
    baseUrl,
    wsUrl,
    mcpUrl,
    token: relay.token({ sub: 'ann', workspace: 'honest', role: 'owner' }),
  }
  const honest = new Worker(new URL('./noisy-honest.ts', import.meta.url), { workerData })
  try {
    await nextMessage(honest)
    // The first phase is not measured, because it includes compilation and the start of threads.
    await phase(honest, phaseMs / 2)
    const before = await phase(honest, phaseMs)
    const attack = await start({ relay, workspace: 'noisy' })
    const during = await phase(honest, phaseMs)
    const rssMib = residentMib(relay.pid)
    await attack.stop()
    const { sent, closes } = attack
    const after = await phase(honest, phaseMs)
    const phases = { before, during, after }
    return { name, phases, sent, closes: [...closes], faults: faultsOf(phases), rssMib }
  } finally {
    await honest.terminate()
  }
}

/** Measures the honest workspace for `ms` from now on. */
async function phase(honest: Worker, ms: number): Promise<Experience> {
  await ask(honest)
  await sleep(ms)
  return ask(honest)
}

function ask(honest: Worker): Promise<Experience> {
  honest.postMessage('take')
  return nextMessage(honest)
}

function nextMessage<T>(worker: Worker): Promise<T> {
  return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
}

function residentMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
}

function report(outcomes: readonly Outcome[]): void {
  const [load = 0] = loadavg()
  console.log(
    `Honest p99 in ms before / during / after; load ${load.toFixed(1)} on ${availableParallelism()} processors at the end\n`,
  )
  console.log(`| one workspace plays | ${KINDS.join(' | ')} | sent | relay answered or closed | RSS MiB | goal |`)
  console.log(`|---|${KINDS.map(() => '---|').join('')}---|---|---|---|`)
  for (const { name, phases, sent, closes, faults, rssMib } of outcomes) {
    const figures = KINDS.map((kind) => figuresOf(phases, kind)).join(' | ')
    const answers = closes.map(([code, count]) => `${count} × ${code === 0 ? 'cut' : code}`).join(', ') || '–'
    console.log(
      `| ${name} | ${figures} | ${sent.toLocaleString('en')} | ${answers} | ${rssMib} | ${faults.length === 0 ? 'kept' : 'MISSED'} |`,
    )
  }
  console.log('')
  for (const { name, faults } of outcomes) for (const fault of faults) console.log(`- ${name}: ${fault}`)
}

function shuffled<T>(items: readonly T[], seed: number): T[] {
  let state = seed | 0 || 1
  const next = (): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
  return items
    .map((item) => ({ item, at: next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

process.exit(await main())
