// `npm run bench:join`: the time to join a document with a long history, cold and warm, and the memory cost of documents and idle connections.
// Compares the relay with its peer in interleaved rounds and prints the tables that bench/README.md publishes. `-- join memory idle` selects some of
// these measurements.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dialects } from './dialects.ts'
import { EditStream } from './edit-stream.ts'
import { type History, typedHistory } from './history.ts'
import { JoinClient } from './join-client.ts'
import { startRelayServer } from './relay-server.ts'
import { startPeer } from './servers.ts'

const STEPS = 260_000
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5)
const WARM_JOINS = 15
const MEMORY_RUNS = 3
const IDLE = { docs: 40, clientsPerDoc: 25 }
/** After a burst of work the process needs this long to release memory. */
const SETTLE_MS = 5_000

type Target = 'relay' | 'hocuspocus'
const TARGETS: readonly Target[] = ['relay', 'hocuspocus']

interface Server {
  readonly pid: number
  join(doc: string): ReturnType<typeof JoinClient.join>
  stop(): Promise<void>
}

async function start(target: Target, docs: readonly string[], folder: string, create: boolean): Promise<Server> {
  const dialect = dialects[target]
  if (target === 'hocuspocus') {
    const peer = await startPeer('hocuspocus.ts', { dataDir: folder })
    return { pid: peer.pid, join: (doc) => JoinClient.join(dialect, peer.port, doc, 'none'), stop: () => peer.stop() }
  }
  const relay = await startRelayServer({ docs, limits: 'default', dataDir: folder, create })
  return {
    pid: relay.pid,
    join: (doc) => JoinClient.join(dialect, relay.port, doc, relay.tokens[docs.indexOf(doc)] as string),
    stop: () => relay.stop(),
  }
}

const DOCS = ['long', 'small'] as const

/** Sends the history over the protocol and stops the server cleanly, so that every later start finds it stored. */
async function store(target: Target, history: History, folder: string): Promise<void> {
  const server = await start(target, DOCS, folder, true)
  const { client } = await server.join('long')
  await client.write(history.update)
  // The peer stores after a debounce of two seconds.
  await sleep(4_000)
  client.close()
  await server.stop()
}

interface JoinTimes {
  readonly cold: number
  /** Milliseconds of a join when the document was read but not edited since the start. */
  readonly warm: number
  /** Milliseconds of a join when the document was edited since the start. */
  readonly edited: number
}

async function measureJoins(target: Target, history: History, folder: string, round: number): Promise<JoinTimes> {
  const server = await start(target, DOCS, folder, false)
  try {
    await sleep(1_500)
    const first = await server.join('long')
    history.check(first.state, round)
    const warm = await medianJoin(server)
    await first.client.write(history.edit(round))
    const edited = await medianJoin(server)
    await sleep(target === 'hocuspocus' ? 4_000 : 500)
    first.client.close()
    return { cold: first.ms, warm, edited }
  } finally {
    await server.stop()
  }
}

async function medianJoin(server: Server): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < WARM_JOINS; i++) {
    const { client, ms } = await server.join('long')
    times.push(ms)
    client.close()
    await sleep(20)
  }
  return median(times)
}

async function joinTable(history: History, folders: Record<Target, string>): Promise<void> {
  const times: Record<Target, JoinTimes[]> = { relay: [], hocuspocus: [] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const target of TARGETS) times[target].push(await measureJoins(target, history, folders[target], round))
  }
  console.log(
    `\n### Join of a document with ${history.steps.toLocaleString('en')} steps of typing, ${kb(history.update.length)} kB of state\n`,
  )
  console.log('| server | cold ms | warm ms, only read | warm ms, edited |\n|---|---|---|---|')
  const medians = {} as Record<Target, JoinTimes>
  for (const target of TARGETS) {
    const of = (pick: (times: JoinTimes) => number) => median(times[target].map(pick))
    medians[target] = { cold: of((t) => t.cold), warm: of((t) => t.warm), edited: of((t) => t.edited) }
    const range = times[target].map((t) => t.cold)
    const { cold, warm, edited } = medians[target]
    const spread = `(${Math.min(...range).toFixed(1)}–${Math.max(...range).toFixed(1)})`
    console.log(`| ${target} | ${cold.toFixed(1)} ${spread} | ${warm.toFixed(2)} | ${edited.toFixed(2)} |`)
  }
  const ratio = (pick: (times: JoinTimes) => number) => (pick(medians.relay) / pick(medians.hocuspocus)).toFixed(2)
  console.log(`| **ratio** | ${ratio((t) => t.cold)} | ${ratio((t) => t.warm)} | ${ratio((t) => t.edited)} |`)
  console.log(
    `\nMedians of ${ROUNDS} interleaved rounds, each with a newly started server; warm: the median of ${WARM_JOINS} joins one after the other.`,
  )
}

/**
 * Returns by how much the process grows when the long document is read and edited once. A small document is edited before, so that the code is
 * already loaded and compiled.
 */
async function measureMemory(target: Target, history: History, folder: string, round: number): Promise<number> {
  const server = await start(target, DOCS, folder, false)
  try {
    const small = await server.join('small')
    // The client id is random, because every run continues the same document.
    const typing = new EditStream(100_000 + Math.floor(Math.random() * 1e6))
    await small.client.write(typing.opening)
    for (let i = 0; i < 20; i++) await small.client.write(typing.next())
    await sleep(SETTLE_MS)
    const before = rssKb(server.pid)
    const { client, state } = await server.join('long')
    history.check(state, round)
    await client.write(history.edit(round))
    await sleep(SETTLE_MS)
    const after = rssKb(server.pid)
    small.client.close()
    client.close()
    return (after - before) / 1_024
  } finally {
    await server.stop()
  }
}

/** `first`: number of edits that are already stored. */
async function memoryTable(history: History, folders: Record<Target, string>, first: number): Promise<void> {
  const growth: Record<Target, number[]> = { relay: [], hocuspocus: [] }
  for (let run = 0; run < MEMORY_RUNS; run++) {
    for (const target of TARGETS) growth[target].push(await measureMemory(target, history, folders[target], first + run))
  }
  console.log(`\n### Memory of that document, resident and edited once\n\n| server | RSS growth MB |\n|---|---|`)
  for (const target of TARGETS) {
    const all = growth[target].map((mb) => mb.toFixed(1)).join(', ')
    console.log(`| ${target} | ${median(growth[target]).toFixed(1)} (${all}) |`)
  }
}

interface IdleCost {
  readonly perConnectionKb: number
  readonly withDocumentsKb: number
}

/** Memory of connections that have joined a small document, are in sync and idle. */
async function measureIdle(target: Target): Promise<IdleCost> {
  const folder = mkdtempSync(join(tmpdir(), 'docrelay-bench-'))
  const docs = Array.from({ length: IDLE.docs }, (_, i) => `idle-${i}`)
  const server = await start(target, docs, folder, true)
  const clients: JoinClient[] = []
  const connect = async (doc: string) => clients.push((await server.join(doc)).client)
  try {
    await sleep(SETTLE_MS)
    const empty = rssKb(server.pid)
    for (const doc of docs) await connect(doc)
    await sleep(SETTLE_MS)
    const resident = rssKb(server.pid)
    for (let i = 1; i < IDLE.clientsPerDoc; i++) for (const doc of docs) await connect(doc)
    await sleep(SETTLE_MS)
    const full = rssKb(server.pid)
    return {
      perConnectionKb: (full - resident) / (clients.length - docs.length),
      withDocumentsKb: (full - empty) / clients.length,
    }
  } finally {
    for (const client of clients) client.close()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function idleTable(): Promise<void> {
  const costs: Record<Target, IdleCost[]> = { relay: [], hocuspocus: [] }
  for (let run = 0; run < MEMORY_RUNS; run++) for (const target of TARGETS) costs[target].push(await measureIdle(target))
  console.log(`\n### ${IDLE.docs * IDLE.clientsPerDoc} idle joined connections, ${IDLE.docs} documents × ${IDLE.clientsPerDoc}\n`)
  console.log('| server | KB per connection | KB per connection, first joins and documents included |\n|---|---|---|')
  for (const target of TARGETS) {
    const cell = (pick: (cost: IdleCost) => number) =>
      `${median(costs[target].map(pick)).toFixed(1)} (${costs[target].map((cost) => pick(cost).toFixed(1)).join(', ')})`
    console.log(`| ${target} | ${cell((cost) => cost.perConnectionKb)} | ${cell((cost) => cost.withDocumentsKb)} |`)
  }
}

function rssKb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

function kb(bytes: number): string {
  return (bytes / 1_000).toFixed(0)
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

async function main(): Promise<void> {
  const wanted = process.argv.slice(2)
  const picks = (table: string) => wanted.length === 0 || wanted.includes(table)
  if (picks('join') || picks('memory')) {
    const history = typedHistory(STEPS)
    const folders = {
      relay: mkdtempSync(join(tmpdir(), 'docrelay-bench-')),
      hocuspocus: mkdtempSync(join(tmpdir(), 'docrelay-bench-')),
    }
    try {
      for (const target of TARGETS) await store(target, history, folders[target])
      if (picks('join')) await joinTable(history, folders)
      if (picks('memory')) await memoryTable(history, folders, picks('join') ? ROUNDS : 0)
    } finally {
      for (const folder of Object.values(folders)) rmSync(folder, { recursive: true, force: true })
    }
  }
  if (picks('idle')) await idleTable()
}

await main()
