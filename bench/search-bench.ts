// `npm run bench:search [-- sqlite postgres]`: what words are found in 10,000 documents of 10 kB and how soon, how large the index is, and how soon edits
// of other workspaces are acknowledged beside searches. Prints what bench/README.md publishes; exits 1 when a limit is missed.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { cpus, tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { openPostgresUnderTest } from '@docrelay/server/drivers/sql/testing/postgres-under-test'
import { searchIndexBytes } from '@docrelay/server/drivers/sql/testing/search-index-bytes'
import { SyncClient } from '@docrelay/client/sync/sync-client'
import * as Y from 'yjs'
import { type RunningRelay, startRelayServer } from './relay-server.ts'

const DOCUMENTS = Number(process.env['BENCH_DOCUMENTS'] ?? 10_000)
const DOCUMENT_BYTES = 10_000
const VOCABULARY = 50_000
const QUERIES = Number(process.env['BENCH_QUERIES'] ?? 200)
const ACKS_MS = Number(process.env['BENCH_ACKS_MS'] ?? 5_000)
/** In fewer documents than this share a word is rare. */
const RARE = 0.01
const LIMITS = { rareP50: 30, rareP95: 200, anyP95: 500, indexShare: 1.5, ackFactor: 2, ackMs: 25 }
/** Between two edits of somebody who types. */
const EDIT_EVERY_MS = 20

const engines = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: 16 })
const missed: string[] = []

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

let seed = 20261123
function random(): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
  return seed / 0x7fffffff
}

/** Words of one to five syllables; the n-th is used about 1/n as often as the first. */
function vocabulary(): readonly string[] {
  const syllables =
    'ba be bi bo bu da de di do ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro sa se si so ta te ti to schu con ver ent'.split(
      ' ',
    )
  const words = new Set<string>()
  while (words.size < VOCABULARY) {
    const length = 1 + Math.floor(random() * 4) + (words.size > 100 ? 1 : 0)
    words.add(Array.from({ length }, () => syllables[Math.floor(random() * syllables.length)]).join(''))
  }
  return [...words]
}

const words = vocabulary()
const sums: number[] = []
for (const n of words.keys()) sums.push((sums.at(-1) ?? 0) + 1 / (n + 2.7))
const total = sums.at(-1) ?? 1

function pick(): number {
  const at = random() * total
  let [low, high] = [0, sums.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sums[middle] ?? 0) < at) low = middle + 1
    else high = middle
  }
  return low
}

interface Corpus {
  readonly textBytes: number
  /** In how many documents each word stands. */
  readonly documentsWith: Uint32Array
}

function textOfDocument(documentsWith: Uint32Array): readonly string[] {
  const blocks: string[] = []
  const seen = new Set<number>()
  for (let bytes = 0; bytes < DOCUMENT_BYTES; ) {
    const block = Array.from({ length: 20 + Math.floor(random() * 50) }, () => {
      const n = pick()
      seen.add(n)
      return words[n]
    }).join(' ')
    blocks.push(block)
    bytes += block.length + 1
  }
  for (const n of seen) documentsWith[n] = (documentsWith[n] ?? 0) + 1
  return blocks
}

interface Answer {
  readonly status: number
  readonly json: { readonly hits?: readonly unknown[]; readonly incomplete?: boolean }
}

function ask(relay: RunningRelay, method: string, path: string, token: string, body?: unknown): Promise<Answer> {
  const payload = body === undefined ? '' : JSON.stringify(body)
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }),
  }
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${relay.baseUrl}${path}`, { method, agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => (text += part))
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, json: JSON.parse(text || '{}') as Answer['json'] }))
    })
    request.on('error', reject)
    request.end(payload)
  })
}

const search = (relay: RunningRelay, q: string): Promise<Answer> =>
  ask(relay, 'GET', `/api/v1/search?${new URLSearchParams({ q })}`, relay.tokens[0] ?? '')

async function fill(relay: RunningRelay): Promise<Corpus> {
  const documentsWith = new Uint32Array(words.length)
  let textBytes = 0
  let next = 0
  const put = async (): Promise<void> => {
    while (next < DOCUMENTS) {
      const n = next++
      const blocks = textOfDocument(documentsWith)
      for (const block of blocks) textBytes += block.length
      const content = blocks.map((block, at) => `<p id="blk-${n}-${at}">${block}</p>`).join('')
      const body = { name: `Document ${n}`, richTextPages: [{ id: 'p', name: 'Page', content }] }
      const { status } = await ask(relay, 'PUT', `/api/docs/doc-${n}`, relay.tokens[0] ?? '', body)
      if (status !== 200 && status !== 201) throw new Error(`PUT answered ${status}`)
    }
  }
  await Promise.all(Array.from({ length: 8 }, put))
  return { textBytes, documentsWith }
}

/** How long the index takes after the last write. */
async function untilComplete(relay: RunningRelay): Promise<number> {
  const startedMs = performance.now()
  while ((await search(relay, words[VOCABULARY - 1] ?? '')).json.incomplete === true) await pause(250)
  return performance.now() - startedMs
}

interface Timed {
  readonly ms: readonly number[]
  /** Processor time of the relay for one search; that of a database server is its own. */
  readonly cpuMs: number
}

/** User and system time of the relay so far, all threads; a tick is 10 ms. */
function cpuMs({ pid }: RunningRelay): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

async function timed(relay: RunningRelay, queries: readonly string[]): Promise<Timed> {
  const times: number[] = []
  const before = cpuMs(relay)
  for (const query of queries) {
    const startedMs = performance.now()
    const { status, json } = await search(relay, query)
    times.push(performance.now() - startedMs)
    if (status !== 200 || json.incomplete === true)
      throw new Error(`a search for ${query} answered ${status} ${JSON.stringify(json)}`)
  }
  return { ms: times, cpuMs: (cpuMs(relay) - before) / queries.length }
}

/** How soon edits of another workspace are durable, for some seconds. */
async function acks(relay: RunningRelay, forMs: number): Promise<readonly number[]> {
  const doc = new Y.Doc()
  let whenSaved: (() => void) | null = null
  const client = await new Promise<SyncClient>((resolve) => {
    const joining: SyncClient = new SyncClient({
      ...{ url: `${relay.baseUrl.replace('http', 'ws')}/ws`, docId: 'other', doc, token: () => relay.tokens[1] ?? '' },
      onState({ synced, saved }) {
        if (synced) resolve(joining)
        if (saved === 'saved') whenSaved?.()
      },
    })
    joining.connect()
  })
  const times: number[] = []
  for (const endMs = performance.now() + forMs; performance.now() < endMs; await pause(EDIT_EVERY_MS)) {
    const startedMs = performance.now()
    const saved = new Promise<void>((resolve) => (whenSaved = resolve))
    doc.getMap('shapes:c').set('mine', { id: 'mine', type: 'rectangle', x: times.length, y: 0 })
    await saved
    times.push(performance.now() - startedMs)
  }
  client.destroy()
  return times
}

/** Runs searches, so many at a time, while `work` runs. */
async function besideSearches<T>(relay: RunningRelay, queries: readonly string[], work: () => Promise<T>): Promise<T> {
  let isOver = false
  let at = 0
  const run = async (): Promise<void> => {
    while (!isOver) await search(relay, queries[at++ % queries.length] ?? '')
  }
  const running = Array.from({ length: 4 }, run)
  const result = await work()
  isOver = true
  await Promise.all(running)
  return result
}

function folderBytes(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(joinPath(folder, name)).size, 0)
}

const row = (...cells: readonly (string | number)[]): void => console.log(`| ${cells.join(' | ')} |`)

async function measure(name: string, url: string | null, indexBytes: (dataDir: string) => Promise<number>): Promise<void> {
  const folder = mkdtempSync(joinPath(tmpdir(), 'docrelay-bench-'))
  const relay = await startRelayServer({
    docs: ['first', 'other'],
    limits: 'raised',
    dataDir: folder,
    env: url === null ? {} : { RELAY_STORAGE_URL: url, RELAY_CLUSTER_SINGLE_NODE: 'true' },
  })
  try {
    const startedMs = performance.now()
    const { textBytes, documentsWith } = await fill(relay)
    const putMs = performance.now() - startedMs
    const behindMs = await untilComplete(relay)
    const used = [...words.keys()].filter((n) => (documentsWith[n] ?? 0) > 0)
    const rare = used.filter((n) => (documentsWith[n] ?? 0) < RARE * DOCUMENTS).map((n) => words[n] ?? '')
    const some = (from: readonly string[]): readonly string[] =>
      Array.from({ length: QUERIES }, () => from[Math.floor(random() * from.length)] ?? '')
    // Half of them are among the hundred most frequent words.
    const any = some(words.slice(0, 100)).map((word, n) => (n % 2 === 0 ? word : (words[used[n * 97] ?? 0] ?? '')))
    const two = any.map((word, n) => `${word} ${any[(n * 7 + 1) % any.length] ?? ''}`)
    await timed(relay, some(rare).slice(0, 20))
    const [ofRare, ofAny, ofTwo] = [await timed(relay, some(rare)), await timed(relay, any), await timed(relay, two)]
    const quiet = await acks(relay, ACKS_MS)
    const beside = await besideSearches(relay, [...any, ...two], () => acks(relay, ACKS_MS))
    const share = (await indexBytes(joinPath(folder, 'data'))) / textBytes
    const load = readFileSync('/proc/loadavg', 'utf8').split(' ')[0]
    console.log(`\n## ${name}: ${DOCUMENTS} documents, ${(textBytes / 1_048_576).toFixed(0)} MiB of text\n`)
    console.log(
      `On ${cpus().length} cores with a load of ${load}, this measurement included. PUT of all: ${(putMs / 1000).toFixed(0)} s; the index was complete ${(behindMs / 1000).toFixed(1)} s later.\n`,
    )
    row('what', 'p50', 'p95 or p99', 'limit', 'CPU ms of the relay, mean')
    row('---', '---', '---', '---', '---')
    const cells = (times: readonly number[], tail: number) =>
      [quantile(times, 0.5).toFixed(1), quantile(times, tail).toFixed(1)] as const
    row(
      'ms, words in under 1 % of the documents',
      ...cells(ofRare.ms, 0.95),
      `${LIMITS.rareP50}; ${LIMITS.rareP95}`,
      ofRare.cpuMs.toFixed(1),
    )
    row('ms, any word, half of them frequent', ...cells(ofAny.ms, 0.95), `p95 ${LIMITS.anyP95}`, ofAny.cpuMs.toFixed(1))
    row('ms, two such words', ...cells(ofTwo.ms, 0.95), `p95 ${LIMITS.anyP95}`, ofTwo.cpuMs.toFixed(1))
    row('ms until an edit elsewhere is acknowledged', ...cells(quiet, 0.99), '', '')
    row('the same beside 4 searches', ...cells(beside, 0.99), `p99 2 × quiet or ${LIMITS.ackMs}`, '')
    row('index, times the text', share.toFixed(2), '', LIMITS.indexShare, '')
    const limit = Math.max(LIMITS.ackMs, LIMITS.ackFactor * quantile(quiet, 0.99))
    const checks: readonly (readonly [string, boolean])[] = [
      ['rare words take too long', quantile(ofRare.ms, 0.5) <= LIMITS.rareP50 && quantile(ofRare.ms, 0.95) <= LIMITS.rareP95],
      ['some words take too long', Math.max(quantile(ofAny.ms, 0.95), quantile(ofTwo.ms, 0.95)) <= LIMITS.anyP95],
      ['edits are acknowledged too late beside searches', quantile(beside, 0.99) <= limit],
      ['the index is too large', share <= LIMITS.indexShare],
    ]
    for (const [what, holds] of checks) if (!holds) missed.push(`${name}: ${what}`)
  } finally {
    await relay.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const isAsked = (engine: string): boolean => engines.length === 0 || engines.includes(engine)
if (isAsked('sqlite')) await measure('SQLite', null, async (dataDir) => folderBytes(joinPath(dataDir, 'relay.db-search')))
if (isAsked('postgres')) {
  const postgres = await openPostgresUnderTest()
  if (typeof postgres === 'string') console.log(`\nPostgreSQL was left out: ${postgres}`)
  else {
    await measure('PostgreSQL', postgres.url, () => searchIndexBytes(postgres.url))
    await postgres[Symbol.asyncDispose]()
  }
}
agent.destroy()
for (const line of missed) console.error(`missed: ${line}`)
if (missed.length > 0) process.exitCode = 1
