// `npm run bench:search [-- sqlite postgres]`: how soon words are found in 10,000 documents of 10 kB over REST and by tools, how large the index is,
// whether documents that a caller may not read change the answers of that caller, and how soon edits of other workspaces are acknowledged during
// searches. Prints the table of bench/README.md; exits 1 when a limit is missed. BENCH_DOCUMENTS, BENCH_QUERIES and BENCH_ACKS_MS make the bench
// smaller.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { cpus, tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { openPostgresUnderTest } from '@docrelay/server/drivers/sql/testing/postgres-under-test'
import { searchIndexBytes } from '@docrelay/server/drivers/sql/testing/search-index-bytes'
import { SyncClient } from '@docrelay/client/sync/sync-client'
import * as Y from 'yjs'
import { type RunningRelay, startRelayServer } from './relay-server.ts'
import { Corpus, random, words } from './search-corpus.ts'

const DOCUMENTS = Number(process.env['BENCH_DOCUMENTS'] ?? 10_000)
const QUERIES = Number(process.env['BENCH_QUERIES'] ?? 200)
const ACKS_MS = Number(process.env['BENCH_ACKS_MS'] ?? 15_000)
/** A word is rare when it is in less than this share of the documents. */
const RARE = 0.01
const LIMITS = { rareP50: 30, rareP95: 200, anyP95: 500, indexShare: 1.5, ackFactor: 2, ackMs: 25 }
/** Pause in ms between two edits of a person who types. */
const EDIT_EVERY_MS = 20
/** Number of documents of the caller who may read no other documents. */
const OWN_DOCUMENTS = 20

const engines = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: 16 })
const missed: string[] = []

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const load = (): string => readFileSync('/proc/loadavg', 'utf8').split(' ')[0] ?? ''

interface Answer {
  readonly status: number
  readonly text: string
}

function ask(
  relay: RunningRelay,
  { method, path, token, headers = {}, body }: { method: string; path: string; token: string; headers?: object; body?: unknown },
): Promise<Answer> {
  const payload = body === undefined ? '' : JSON.stringify(body)
  const all = {
    authorization: `Bearer ${token}`,
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }),
    ...headers,
  }
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${relay.baseUrl}${path}`, { method, agent, headers: all }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => (text += part))
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    request.on('error', reject)
    request.end(payload)
  })
}

/** Runs one search and returns its answer. */
type Search = (query: string) => Promise<Answer>

const overRest =
  (relay: RunningRelay, token: string): Search =>
  (q) =>
    ask(relay, { method: 'GET', path: `/api/v1/search?${new URLSearchParams({ q })}`, token })

const VERSION = '2026-07-28'
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
}

const byTool =
  (relay: RunningRelay, token: string): Search =>
  (query) => {
    const params = { name: 'service_search', arguments: { query }, _meta: META }
    const headers = {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': 'tools/call',
      'mcp-name': 'service_search',
    }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    return ask(relay, { method: 'POST', path: '/mcp', token, headers, body })
  }

const isWhole = ({ text }: Answer): boolean => text.includes('"hits"') && !text.includes('"incomplete"')

async function put(relay: RunningRelay, id: string, token: string, body: object): Promise<void> {
  const { status, text } = await ask(relay, { method: 'PUT', path: `/api/docs/${id}`, token, body })
  if (status !== 200 && status !== 201) throw new Error(`PUT of ${id} answered ${status} ${text}`)
}

async function fill(relay: RunningRelay, token: string): Promise<Corpus> {
  const corpus = new Corpus()
  let next = 0
  const some = async (): Promise<void> => {
    while (next < DOCUMENTS) {
      const n = next++
      await put(relay, `doc-${n}`, token, corpus.body(n))
    }
  }
  await Promise.all(Array.from({ length: 8 }, some))
  return corpus
}

/** Returns the milliseconds from now until the index is complete. */
async function untilComplete(search: Search): Promise<number> {
  const startedMs = performance.now()
  while (!isWhole(await search(words.at(-1) ?? ''))) await pause(250)
  return performance.now() - startedMs
}

/**
 * Creates the documents of a member who may read nothing else in the workspace. The returned function searches as that member; its answers must
 * always be the same. [AG-61]
 */
async function openOwnDocuments(relay: RunningRelay): Promise<() => Promise<string>> {
  const token = relay.token({ workspace: 'bench-0', role: 'member', sub: 'reader' })
  const paragraphs = Array.from({ length: 5 }, (_, at) => `<p>so ${words[at]} and ${words[at + 1]} ${words[at + 2]}</p>`)
  for (let n = 0; n < OWN_DOCUMENTS; n++)
    await put(relay, `own-${n}`, token, {
      name: `Own ${n}`,
      richTextPages: [{ id: 'p', name: 'Page', content: paragraphs.join('') }],
    })
  const search = overRest(relay, token)
  const [a, b, c] = words
  const queries = [a, `${a} ${b}`, `"${b} ${c}"`, `${a} ${c} ${words[9]}`, (a ?? '').slice(0, 3)].map(String)
  return async () => {
    await untilComplete(search)
    const answers: Answer[] = []
    for (const query of queries) answers.push(await search(query))
    if (!answers.every(isWhole)) throw new Error(`the reader got ${answers.map(({ text }) => text.slice(0, 200)).join()}`)
    return answers.map(({ text }) => text).join('\n')
  }
}

interface Timed {
  readonly ms: readonly number[]
  /** Number of searches that ended before they had seen every document. */
  readonly cutOff: number
  /** CPU time of the relay for one search, without that of a database server. */
  readonly cpuMs: number
}

/** User and system time of the relay so far, all threads; a tick is 10 ms. */
function cpuMs({ pid }: RunningRelay): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

async function timed(relay: RunningRelay, search: Search, queries: readonly string[]): Promise<Timed> {
  const ms: number[] = []
  let cutOff = 0
  const before = cpuMs(relay)
  for (const query of queries) {
    const startedMs = performance.now()
    const answer = await search(query)
    ms.push(performance.now() - startedMs)
    if (answer.status !== 200 || !answer.text.includes('"hits"'))
      throw new Error(`a search for ${query} answered ${answer.status} ${answer.text.slice(0, 500)}`)
    if (!isWhole(answer)) cutOff++
  }
  return { ms, cutOff, cpuMs: (cpuMs(relay) - before) / queries.length }
}

/** Edits a document of another workspace for `forMs` ms. Returns how many ms each edit took to become durable. */
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

/** Runs four searches at a time while `work` runs. */
async function besideSearches<T>(search: Search, queries: readonly string[], work: () => Promise<T>): Promise<T> {
  let isOver = false
  let at = 0
  const run = async (): Promise<void> => {
    while (!isOver) await search(queries[at++ % queries.length] ?? '')
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
  const loadBefore = load()
  const folder = mkdtempSync(joinPath(tmpdir(), 'docrelay-bench-'))
  const relay = await startRelayServer({
    docs: ['first', 'other'],
    limits: 'raised',
    dataDir: folder,
    env: {
      RELAY_MCP_ENABLED: 'true',
      RELAY_MCP_EXPOSE: 'public',
      RELAY_READS_PER_SEC: '0',
      ...(url !== null && { RELAY_STORAGE_URL: url, RELAY_CLUSTER_SINGLE_NODE: 'true' }),
    },
  })
  try {
    const token = relay.tokens[0] ?? ''
    const [rest, tool] = [overRest(relay, token), byTool(relay, token)]
    const readOwn = await openOwnDocuments(relay)
    const ownBefore = await readOwn()
    const startedMs = performance.now()
    const corpus = await fill(relay, token)
    const putMs = performance.now() - startedMs
    const behindMs = await untilComplete(rest)
    const rare = corpus.rarerThan(RARE, DOCUMENTS)
    const used = corpus.rarerThan(Number.POSITIVE_INFINITY, DOCUMENTS)
    const someRare = (): readonly string[] =>
      Array.from({ length: QUERIES }, () => rare[Math.floor(random() * rare.length)] ?? '')
    // Half of the queried words are among the hundred most frequent words.
    const any = Array.from({ length: QUERIES }, (_, n) =>
      n % 2 === 0 ? (words[Math.floor(random() * 100)] ?? '') : (used[(n * 97) % used.length] ?? ''),
    )
    const two = any.map((word, n) => `${word} ${any[(n * 7 + 1) % any.length] ?? ''}`)
    await timed(relay, rest, someRare().slice(0, 20))
    const searches: readonly (readonly [what: string, timed: Timed, p50: number, p95: number])[] = [
      ['a word in under 1 % of the documents, REST', await timed(relay, rest, someRare()), LIMITS.rareP50, LIMITS.rareP95],
      ['a word in under 1 % of the documents, MCP', await timed(relay, tool, someRare()), LIMITS.rareP50, LIMITS.rareP95],
      ['any word, half of them frequent, REST', await timed(relay, rest, any), LIMITS.anyP95, LIMITS.anyP95],
      ['any word, half of them frequent, MCP', await timed(relay, tool, any), LIMITS.anyP95, LIMITS.anyP95],
      ['two such words, REST', await timed(relay, rest, two), LIMITS.anyP95, LIMITS.anyP95],
    ]
    const hasSameAnswers = (await readOwn()) === ownBefore
    const quiet = await acks(relay, ACKS_MS)
    const beside = await besideSearches(rest, [...any, ...two], () => acks(relay, ACKS_MS))
    const share = (await indexBytes(joinPath(folder, 'data'))) / corpus.textBytes
    console.log(`\n## ${name}: ${DOCUMENTS} documents, ${(corpus.textBytes / 1_048_576).toFixed(0)} MiB of text\n`)
    console.log(
      `On ${cpus().length} cores; load ${loadBefore} before and ${load()} at the end, this measurement included. PUT of all: ${(putMs / 1000).toFixed(0)} s; the index was complete ${(behindMs / 1000).toFixed(1)} s later.\n`,
    )
    row('what', 'p50', 'p95 or p99', 'limit', 'CPU ms of the relay, mean')
    row('---', '---', '---', '---', '---')
    const cells = (times: readonly number[], tail: number) =>
      [quantile(times, 0.5).toFixed(1), quantile(times, tail).toFixed(1)] as const
    for (const [what, { ms, cutOff, cpuMs: mean }, p50, p95] of searches) {
      const limit = p50 === p95 ? `p95 ${p95}` : `p50 ${p50}, p95 ${p95}`
      row(
        `ms, ${what}${cutOff === 0 ? '' : ` (${cutOff} of ${ms.length} incomplete)`}`,
        ...cells(ms, 0.95),
        limit,
        mean.toFixed(1),
      )
    }
    const ackLimit = Math.max(LIMITS.ackMs, LIMITS.ackFactor * quantile(quiet, 0.99))
    row('ms until an edit elsewhere is acknowledged, quiet', ...cells(quiet, 0.99), '', '')
    row('the same beside 4 searches', ...cells(beside, 0.99), `p99 ${ackLimit.toFixed(0)}`, '')
    row('index, times the text', share.toFixed(2), '', LIMITS.indexShare, '')
    row(
      `answers of a reader of ${OWN_DOCUMENTS} documents before and after`,
      hasSameAnswers ? 'equal' : 'DIFFERENT',
      '',
      'equal',
      '',
    )
    const checks: readonly (readonly [string, boolean])[] = [
      ...searches.map(([what, { ms }, p50, p95]) => [what, quantile(ms, 0.5) <= p50 && quantile(ms, 0.95) <= p95] as const),
      ['edits are acknowledged too late beside searches', quantile(beside, 0.99) <= ackLimit],
      ['the index is too large', share <= LIMITS.indexShare],
      ['documents that a caller may not read changed his answers', hasSameAnswers],
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
