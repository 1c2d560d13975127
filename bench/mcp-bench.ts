// `npm run bench:mcp`: the CPU cost of tool calls, compared with the official tool server in interleaved rounds, and how that cost grows with the
// size of a live document. Prints the tables that bench/README.md publishes; exits 1 when a limit is missed.
import { readFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { SyncClient } from '@docrelay/client/sync/sync-client'
import * as Y from 'yjs'
import { type RunningRelay, startRelayServer } from './relay-server.ts'
import { startPeer } from './servers.ts'

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5)
const READS = 1_000
const WRITES = 150
const MAX_READ_RATIO = 1.5
const MAX_WRITE_RATIO = 3
const PAGES = 200
const BLOCKS_PER_PAGE = 12
const WORDS_PER_BLOCK = 40

type Members = Readonly<Record<string, unknown>>

interface Target {
  readonly name: string
  readonly pid: number
  readonly url: string
  readonly token: string
  readonly tool: string
  /** Arguments of the n-th call. */
  args(n: number): Members
}

interface ProsePage {
  readonly id: string
  readonly name: string
  readonly order: number
  readonly content: string
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const VERSION = '2026-07-28'
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
}

function post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => (text += part))
      response.on('error', reject)
      response.on('end', () =>
        response.statusCode === 200 ? resolve(text) : reject(new Error(`answered ${response.statusCode}: ${text}`)),
      )
    })
    request.on('error', reject)
    request.end(body)
  })
}

async function call(target: Target, n: number): Promise<void> {
  const params = { name: target.tool, arguments: target.args(n), _meta: META }
  const body = JSON.stringify({ jsonrpc: '2.0', id: n, method: 'tools/call', params })
  const text = await post(
    target.url,
    {
      authorization: `Bearer ${target.token}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': 'tools/call',
      'mcp-name': target.tool,
    },
    body,
  )
  // Both servers may send their answer as an event stream.
  const json = text.startsWith('{') ? text : (/^data: (.+)$/m.exec(text)?.[1] ?? 'null')
  const { result } = JSON.parse(json) as { readonly result?: { readonly isError?: boolean } }
  if (result === undefined || result.isError === true) throw new Error(`${target.name}: ${text}`)
}

interface Cost {
  readonly cpuMs: number
  readonly wallMs: number
}

/** Returns the CPU cost per call, of the whole process with all its threads. */
async function cost(target: Target, calls: number): Promise<Cost> {
  const cpuBeforeMs = cpuMs(target.pid)
  const startedMs = performance.now()
  for (let n = 0; n < calls; n++) await call(target, n)
  const wallMs = (performance.now() - startedMs) / calls
  return { cpuMs: (cpuMs(target.pid) - cpuBeforeMs) / calls, wallMs }
}

/** User and system time of a process so far; one tick is 10 ms. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number

/** Medians of interleaved rounds; the first round is a warm-up. */
async function compare(targets: readonly Target[], calls: number): Promise<readonly Cost[]> {
  const costs = targets.map((): Cost[] => [])
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [i, target] of targets.entries()) {
      const measured = await cost(target, calls)
      if (round > 0) costs[i]?.push(measured)
    }
  }
  return costs.map((of) => ({ cpuMs: median(of.map((one) => one.cpuMs)), wallMs: median(of.map((one) => one.wallMs)) }))
}

const row = (...cells: readonly string[]): void => console.log(`| ${cells.join(' | ')} |`)

/** Prints a table with ratios to the first target. Returns a line for each target whose ratio is above `maxRatio`. */
function table(title: string, targets: readonly Target[], costs: readonly Cost[], maxRatio: number): readonly string[] {
  console.log(`\n### ${title}, medians of ${ROUNDS} interleaved rounds\n`)
  row('call', 'CPU-ms', 'ratio', 'wall-ms')
  row('---', '---', '---', '---')
  const base = costs[0]?.cpuMs ?? 0
  return targets.flatMap(({ name }, i) => {
    const { cpuMs: cpu, wallMs } = costs[i] as Cost
    const ratio = cpu / base
    row(name, cpu.toFixed(3), ratio.toFixed(2), wallMs.toFixed(3))
    return ratio > maxRatio ? [`${name}: ${ratio.toFixed(2)} times, at most ${maxRatio}`] : []
  })
}

function block(page: number, i: number): string {
  return `<p id="blk-${page}-${i}">${`word${i} `.repeat(WORDS_PER_BLOCK).trimEnd()}</p>`
}

function page(number: number, blocks: number): ProsePage {
  const content = Array.from({ length: blocks }, (_, i) => block(number, i)).join('')
  return { id: `page-${number}`, name: `Page ${number}`, order: number, content }
}

const DOCUMENTS: Readonly<Record<string, readonly ProsePage[]>> = {
  cold: [page(0, BLOCKS_PER_PAGE)],
  one: [page(0, BLOCKS_PER_PAGE)],
  many: Array.from({ length: PAGES }, (_, i) => page(i, BLOCKS_PER_PAGE)),
}

async function put(relay: RunningRelay, id: string, token: string, richTextPages: readonly ProsePage[]): Promise<void> {
  const answer = await fetch(`${relay.baseUrl}/api/docs/${id}?expectedVersion=0`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ id, name: id, pages: [], richTextPages }),
  })
  if (!answer.ok) throw new Error(`PUT of ${id} answered ${answer.status}: ${await answer.text()}`)
}

/** Opens the document with a client, so that it is resident. */
async function join(relay: RunningRelay, docId: string, token: string): Promise<SyncClient> {
  const url = `${relay.baseUrl.replace('http', 'ws')}/ws`
  const doc = new Y.Doc()
  return new Promise((resolve) => {
    const client: SyncClient = new SyncClient({
      url,
      docId,
      doc,
      token: () => token,
      onState: ({ synced }) => synced && resolve(client),
    })
    client.connect()
  })
}

const ids = Object.keys(DOCUMENTS)
const rates = { RELAY_READS_PER_SEC: '0', RELAY_WRITES_PER_SEC: '0' }
const relay = await startRelayServer({
  docs: ids,
  limits: 'default',
  create: false,
  env: { RELAY_MCP_ENABLED: 'true', RELAY_MCP_EXPOSE: 'public', ...rates },
})
const peer = await startPeer('mcp-sdk.ts')
const joined: SyncClient[] = []
const missed: string[] = []
try {
  const tokenOf = (id: string): string => relay.tokens[ids.indexOf(id)] as string
  for (const [id, pages] of Object.entries(DOCUMENTS)) await put(relay, id, tokenOf(id), pages)
  const of = (name: string, docId: string, tool: string, args: (n: number) => Members): Target => ({
    name,
    pid: relay.pid,
    url: `${relay.baseUrl}/mcp`,
    token: tokenOf(docId),
    tool: `service_${tool}`,
    args: (n) => ({ docId, ...args(n) }),
  })
  const plain: Target = {
    name: 'echo of the official server',
    pid: peer.pid,
    url: `http://127.0.0.1:${peer.port}/mcp`,
    token: 'none',
    tool: 'echo',
    args: () => ({}),
  }
  const reads = [plain, of('get_prose of a cold page', 'cold', 'get_prose', () => ({ pageId: 'page-0' }))]
  missed.push(...table('Reads', reads, await compare(reads, READS), MAX_READ_RATIO))

  for (const id of ['one', 'many']) joined.push(await join(relay, id, tokenOf(id)))
  // Edits one block after another. Deleted text stays in a Y.Doc, so a block that is replaced repeatedly would become slow for that reason.
  const set = (n: number): Members => ({
    pageId: 'page-0',
    id: `blk-0-${n % BLOCKS_PER_PAGE}`,
    content: `<p>${`word${n % BLOCKS_PER_PAGE} `.repeat(WORDS_PER_BLOCK)}${n}</p>`,
    format: 'html',
  })
  const writes = [
    of('set_prose of a block, live, 1 page', 'one', 'set_prose', set),
    of(`set_prose of a block, live, ${PAGES} pages`, 'many', 'set_prose', set),
  ]
  missed.push(...table('Writes', writes, await compare(writes, WRITES), MAX_WRITE_RATIO))
} finally {
  for (const client of joined) client.destroy()
  await Promise.all([relay.stop(), peer.stop()])
  agent.destroy()
}
for (const line of missed) console.error(`missed: ${line}`)
if (missed.length > 0) process.exitCode = 1
