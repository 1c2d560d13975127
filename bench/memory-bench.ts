// `npm run bench:memory [-- opened large soak --minutes 30 --seed 1]`: how much memory the relay takes and releases. Exits 1 when a goal is missed, a
// call failed, or an acknowledged edit is not stored.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { RelayClient } from '@docrelay/client/rest/relay-client'
import { dialects } from './dialects.ts'
import { JoinClient } from './join-client.ts'
import { median } from './medians.ts'
import { type RunningRelay, startRelayServer } from './relay-server.ts'
import { largePage, missingMarks, startSoakLoad } from './soak-load.ts'

const PARTS = ['opened', 'large', 'soak'] as const
/** Pause before memory is read, both after the start and after the work. */
const REST_SECONDS = 60
const SMALL_DOCUMENTS = 1_000
/** Number of joins at a time. While many sockets wait for their AUTH, the relay lets at most 16 of them come from one address. */
const JOINING = 16
const LARGE_DOCUMENTS = 12
const SAMPLE_SECONDS = 5
const SLOPE_MINUTES = 15
const GOALS = { backShare: 1.2, soakMb: 350, slopeMbPerMinute: 1 }

let isMissed = false

function verdict(what: string, isMet: boolean): void {
  if (!isMet) isMissed = true
  console.log(`${isMet ? 'met   ' : 'MISSED'} ${what}`)
}

/** Opens and leaves documents. Measures memory before, at its peak, and 60 s after the last document was left. */
async function openedAndLeft(): Promise<void> {
  const docs = Array.from({ length: SMALL_DOCUMENTS }, (_, i) => `bench-${i}`)
  await using stack = new AsyncDisposableStack()
  const relay = stack.adopt(await startRelayServer({ docs: [], limits: 'raised' }), (running) => running.stop())
  const token = ownerToken(relay)
  const owner = new RelayClient({ baseUrl: relay.baseUrl, token: () => token })
  for (const id of docs)
    await owner.putDocument(id, { name: id, pages: [], richTextPages: [{ id: 'text', name: 'T', content: '<p>Short.</p>' }] })
  await comesBack('1,000 small documents opened and left', relay, async () => {
    const waiting = docs.values()
    const joiner = async (): Promise<void> => {
      for (const id of waiting) (await JoinClient.join(dialects.relay, relay.port, id, token)).client.close()
    }
    await Promise.all(Array.from({ length: JOINING }, joiner))
  })
}

/** Puts and joins documents of 1 MB. */
async function putAndJoined(): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const relay = stack.adopt(await startRelayServer({ docs: [], limits: 'raised' }), (running) => running.stop())
  const token = ownerToken(relay)
  const owner = new RelayClient({ baseUrl: relay.baseUrl, token: () => token })
  await comesBack('12 documents of 1 MB put and joined', relay, async () => {
    for (let i = 0; i < LARGE_DOCUMENTS; i++) {
      await owner.putDocument(`large-${i}`, largePage(i))
      const { client } = await JoinClient.join(dialects.relay, relay.port, `large-${i}`, token)
      client.close()
    }
  })
}

async function comesBack(what: string, relay: RunningRelay, work: () => Promise<void>): Promise<void> {
  await sleep(REST_SECONDS * 1_000)
  const beforeMb = residentMb(relay.pid)
  let mostMb = beforeMb
  const sampling = setInterval(() => (mostMb = Math.max(mostMb, residentMb(relay.pid))), 50)
  await work()
  await sleep(REST_SECONDS * 1_000)
  clearInterval(sampling)
  const afterMb = residentMb(relay.pid)
  const share = afterMb / beforeMb
  console.log(`${what}: ${shown(beforeMb)} before, ${shown(mostMb)} at most, ${shown(afterMb)} after ${REST_SECONDS} s`)
  verdict(`${share.toFixed(2)} of the memory before (goal ${GOALS.backShare})`, share <= GOALS.backShare)
}

/** Runs mixed work for `minutes` minutes. Prints a line for each minute, then the problems. */
async function soak(minutes: number, seed: number): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const env = {
    RELAY_MCP_ENABLED: 'true',
    RELAY_MCP_EXPOSE: 'public',
    RELAY_RECOVERY_INTERVAL_SECS: '60',
    RELAY_LOG_LEVEL: 'error',
  }
  const relay = stack.adopt(await startRelayServer({ docs: [], limits: 'raised', env, log: 'inherit' }), (running) =>
    running.stop(),
  )
  await sleep(3_000)
  console.log(`soak of ${minutes} minutes, seed ${seed}: ${shown(residentMb(relay.pid))} at the start`)
  const load = await startSoakLoad(relay, seeded(seed))
  const samples: { readonly minute: number; readonly mb: number }[] = []
  const startedMs = performance.now()
  for (let n = 1; n <= (minutes * 60) / SAMPLE_SECONDS; n++) {
    await sleep(Math.max(0, startedMs + n * SAMPLE_SECONDS * 1_000 - performance.now()))
    samples.push({ minute: (n * SAMPLE_SECONDS) / 60, mb: residentMb(relay.pid) })
    if ((n * SAMPLE_SECONDS) % 60 !== 0) continue
    const lastMinute = samples.slice(-60 / SAMPLE_SECONDS).map(({ mb }) => mb)
    const { edits, joins, reads, writes, tools } = load.counts
    console.log(
      `minute ${(n * SAMPLE_SECONDS) / 60}: ${shown(median(lastMinute))}, ${edits} edits, ${joins} joins, ${reads} reads, ${writes} writes, ${tools} tools, ` +
        `${load.problems.length} problems`,
    )
  }
  await load.stop()
  const missing = await missingMarks(relay, load)
  const last = samples.filter(({ minute }) => minute > minutes - SLOPE_MINUTES)
  const endMb = median(last.slice(-60 / SAMPLE_SECONDS).map(({ mb }) => mb))
  const slope = slopeOf(last)
  await sleep(REST_SECONDS * 1_000)
  console.log(`done: ${JSON.stringify(load.counts)}; ${shown(residentMb(relay.pid))} after ${REST_SECONDS} s of rest`)
  for (const problem of new Set(load.problems)) console.log(`PROBLEM ${problem}`)
  verdict(`no call failed (${load.problems.length})`, load.problems.length === 0)
  verdict(`nothing acknowledged is missing (${missing.length})`, missing.length === 0)
  verdict(`${shown(endMb)} in the last minute (goal ${GOALS.soakMb} MB)`, endMb <= GOALS.soakMb)
  verdict(
    `${slope.toFixed(2)} MB a minute in the last ${Math.min(minutes, SLOPE_MINUTES)} minutes (goal 0 ± ${GOALS.slopeMbPerMinute})`,
    Math.abs(slope) <= GOALS.slopeMbPerMinute,
  )
}

/** Returns the slope in MB per minute of the straight line that fits the samples best. */
function slopeOf(samples: readonly { readonly minute: number; readonly mb: number }[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  const [minutes, megabytes] = [mean(samples.map(({ minute }) => minute)), mean(samples.map(({ mb }) => mb))]
  const up = samples.reduce((sum, { minute, mb }) => sum + (minute - minutes) * (mb - megabytes), 0)
  return up / samples.reduce((sum, { minute }) => sum + (minute - minutes) ** 2, 0)
}

function ownerToken(relay: RunningRelay): string {
  return relay.token({ workspace: 'memory', role: 'owner' })
}

function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

function shown(mb: number): string {
  return `${Math.round(mb)} MB`
}

/** The generator mulberry32: numbers from 0 to 1. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { minutes: { type: 'string', default: '30' }, seed: { type: 'string', default: '1' } },
  })
  const unknown = positionals.filter((name) => !PARTS.some((part) => part === name))
  if (unknown.length > 0) throw new Error(`there is no part ${unknown.join(', ')}; there are ${PARTS.join(', ')}`)
  const minutes = Number(values.minutes)
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > 600)
    throw new Error(`--minutes is a number from 1 to 600 (got ${values.minutes})`)
  const isWanted = (part: (typeof PARTS)[number]): boolean => positionals.length === 0 || positionals.includes(part)
  if (isWanted('opened')) await openedAndLeft()
  if (isWanted('large')) await putAndJoined()
  if (isWanted('soak')) await soak(minutes, Number(values.seed))
  return isMissed ? 1 : 0
}

process.exitCode = await main()
