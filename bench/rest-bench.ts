// `npm run bench:rest`: how much CPU time REST and MCP calls cost the relay, compared with a bare server (peers/mini-rest.ts) and, with `--former
// <checkout>`, with the relay of another checkout, which has its node_modules. All servers run at the same time, and their measurements take turns.
// `--profile <folder>` writes a CPU profile of each thread of the relay.
import { mkdirSync } from 'node:fs'
import { Agent } from 'node:http'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startTestIssuer } from '@docrelay/server/auth/testing/test-issuer'
import { median, medianInterval } from './medians.ts'
import { startRelayServer } from './relay-server.ts'
import { measureRest, type RestMeasured, type RestRequest, type RestTarget, send } from './rest-load.ts'
import { startPeer } from './servers.ts'

const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    former: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    'warm-up': { type: 'string', default: '1' },
    lanes: { type: 'string', default: '16,1' },
    'log-level': { type: 'string', default: 'info' },
    profile: { type: 'string' },
  },
})
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)
const warmUpShare = Number(options['warm-up'])
const laneCounts = options.lanes.split(',').map(Number)
const mostLanes = Math.max(...laneCounts)

const BODY_BYTES = 20_000
const LISTED_DOCUMENTS = 1_000
const MCP_VERSION = '2026-07-28'
const MCP_META = {
  'io.modelcontextprotocol/protocolVersion': MCP_VERSION,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
}

/** A running server with a token for each workspace that a row uses. */
interface Side {
  readonly name: string
  readonly isRelay: boolean
  readonly pid: number
  readonly port: number
  token(workspace: string): string
  stop(): Promise<unknown>
}

/** A document with one prose page; its body has `BODY_BYTES` bytes unless its page has one block. */
function body(id: string, mark: number, oneBlock = false): string {
  const block = (i: number): string => `<p id="blk-${i}">${`word${i % 10} `.repeat(20)}${String(mark).padStart(8, '0')}</p>`
  const of = (content: string): string =>
    JSON.stringify({ id, name: id, pages: [], richTextPages: [{ id: 'page-0', name: 'Page', order: 0, content }] })
  if (oneBlock) return of(block(0))
  let content = ''
  for (let i = 0; of(content + block(i)).length <= BODY_BYTES; i++) content += block(i)
  return of(content)
}

function restHeaders(side: Side, workspace: string): Record<string, string> {
  return { authorization: `Bearer ${side.token(workspace)}`, 'content-type': 'application/json' }
}

function put(side: Side, workspace: string, id: string, text: string): RestRequest {
  return { method: 'PUT', path: `/api/docs/${id}`, headers: restHeaders(side, workspace), body: text }
}

function toolCall(side: Side, workspace: string, n: number, name: string, args: object): RestRequest {
  const params = { name, arguments: args, _meta: MCP_META }
  const headers = {
    ...restHeaders(side, workspace),
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': MCP_VERSION,
    'mcp-method': 'tools/call',
    'mcp-name': name,
  }
  return { method: 'POST', path: '/mcp', headers, body: JSON.stringify({ jsonrpc: '2.0', id: n, method: 'tools/call', params }) }
}

function checkToolAnswer(answer: Buffer): void {
  const text = answer.toString()
  if (!text.includes('"result"') || text.includes('"isError":true')) throw new Error(`a call was refused: ${text.slice(0, 500)}`)
}

interface Row {
  readonly name: string
  /** Whether the row calls a tool. The bare server is not measured, since it has no tools. */
  readonly isTool?: true
  readonly warmUpCalls: number
  prepare(side: Side, request: (asked: RestRequest) => Promise<Buffer>): Promise<void>
  target(side: Side): Pick<RestTarget, 'request' | 'check'>
}

/** Number of writes so far in all rows. Each write contains its number, so that each changes something. */
let written = 0

const forLanes = async (run: (id: string) => Promise<unknown>): Promise<void> => {
  for (let lane = 0; lane < mostLanes; lane++) await run(`doc-${lane}`)
}

const MARK = '00000000</p>'
/** For each document, the text of its body before and after the first mark. */
const bodies = new Map<string, readonly [string, string]>()

/** The body of the next write: only eight digits differ, so that making it costs the generator little. */
function nextBody(id: string): string {
  let parts = bodies.get(id)
  if (parts === undefined) {
    const text = body(id, 0)
    const at = text.indexOf(MARK)
    parts = [text.slice(0, at), text.slice(at + MARK.length - '</p>'.length)]
    bodies.set(id, parts)
  }
  return `${parts[0]}${String(++written).padStart(8, '0')}${parts[1]}`
}

const ROWS: readonly Row[] = [
  {
    name: 'GET of 20 kB',
    warmUpCalls: 10_000,
    prepare: (side, request) => forLanes((id) => request(put(side, 'get', id, body(id, 0)))),
    target: (side) => {
      const headers = { authorization: `Bearer ${side.token('get')}` }
      return {
        request: (lane) => ({ method: 'GET', path: `/api/docs/doc-${lane}`, headers }),
        check: (answer) => expectLength(answer, BODY_BYTES - 400),
      }
    },
  },
  {
    name: 'list of 1,000',
    warmUpCalls: 400,
    async prepare(side, request) {
      for (let i = 0; i < LISTED_DOCUMENTS; i++) await request(put(side, 'list', `doc-${i}`, body(`doc-${i}`, 0, true)))
    },
    target: (side) => {
      const headers = { authorization: `Bearer ${side.token('list')}` }
      return {
        request: () => ({ method: 'GET', path: '/api/docs', headers }),
        check: (answer) => expectLength(answer, LISTED_DOCUMENTS * 300),
      }
    },
  },
  {
    name: 'PUT of 20 kB',
    warmUpCalls: 5_000,
    prepare: async () => undefined,
    target: (side) => ({ request: (lane) => put(side, 'put', `doc-${lane}`, nextBody(`doc-${lane}`)) }),
  },
  {
    name: 'get_prose of 20 kB',
    warmUpCalls: 4_000,
    isTool: true,
    prepare: (side, request) => forLanes((id) => request(put(side, 'read', id, body(id, 0)))),
    target: (side) => ({
      request: (lane, n) => toolCall(side, 'read', n, 'service_get_prose', { docId: `doc-${lane}`, pageId: 'page-0' }),
      check: checkToolAnswer,
    }),
  },
  {
    name: 'set_prose of one block',
    warmUpCalls: 4_000,
    isTool: true,
    prepare: (side, request) => forLanes((id) => request(put(side, 'write', id, body(id, 0, true)))),
    target: (side) => ({
      request: (lane, n) => {
        const content = `<p>The text of this block is replaced again, for the ${++written}th time.</p>`
        return toolCall(side, 'write', n, 'service_set_prose', {
          docId: `doc-${lane}`,
          pageId: 'page-0',
          content,
          format: 'html',
        })
      },
      check: checkToolAnswer,
    }),
  },
]

function expectLength(answer: Buffer, least: number): void {
  if (answer.byteLength < least) throw new Error(`an answer of ${answer.byteLength} bytes, at least ${least} were expected`)
}

/** Returns a function that signs one token for each workspace and returns the same token on later calls, as a client keeps its token. */
function keeping(sign: (workspace: string) => string): (workspace: string) => string {
  const tokens = new Map<string, string>()
  return (workspace) => {
    const token = tokens.get(workspace) ?? sign(workspace)
    tokens.set(workspace, token)
    return token
  }
}

async function startRelay(name: string, checkout: string, profile: string | undefined): Promise<Side> {
  if (profile !== undefined) mkdirSync(profile, { recursive: true })
  const relay = await startRelayServer({
    docs: [],
    limits: 'raised',
    checkout,
    env: {
      ...{ RELAY_MCP_ENABLED: 'true', RELAY_MCP_EXPOSE: 'public', RELAY_READS_PER_SEC: '0' },
      RELAY_LOG_LEVEL: options['log-level'],
      ...(profile !== undefined && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${resolve(profile)}` }),
    },
    log: 'ignore',
  })
  const token = keeping((workspace) => relay.token({ workspace, role: 'owner' }))
  return { name, isRelay: true, pid: relay.pid, port: relay.port, token, stop: () => relay.stop() }
}

async function startMini(): Promise<Side> {
  const issuer = await startTestIssuer()
  const peer = await startPeer('mini-rest.ts', { args: [issuer.jwksUrl] })
  const token = keeping((workspace) => issuer.token({ workspace, role: 'owner' }))
  const stop = () => Promise.all([peer.stop(), issuer.close()])
  return { name: 'mini', isRelay: false, pid: peer.pid, port: peer.port, token, stop }
}

const cpuMicros = ({ serverCpuSec, requests }: RestMeasured): number => (serverCpuSec / requests) * 1e6
const number = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 1 : 2)
const print = (...cells: readonly string[]): void => console.log(`| ${cells.join(' | ')} |`)

function printRow(row: Row, lanes: number, measured: ReadonlyMap<Side, readonly RestMeasured[]>): void {
  const [relay] = [...measured.keys()]
  for (const [side, runs] of measured) {
    const of = (pick: (run: RestMeasured) => number): string => number(median(runs.map(pick)))
    const ours = (relay && measured.get(relay)) ?? []
    const ratios = ours.map((run, i) => cpuMicros(run) / cpuMicros(runs[i] as RestMeasured))
    const { median: ratio, low, high } = medianInterval(ratios)
    print(
      ...[row.name, String(lanes), side.name, of(cpuMicros), of(({ requests, seconds: took }) => requests / took)],
      ...[of(({ p50 }) => p50), of(({ p99 }) => p99)],
      side === relay ? '' : `${ratio.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`,
    )
  }
}

async function compare(row: Row, sides: readonly Side[]): Promise<void> {
  const asked = sides.filter(({ isRelay }) => isRelay || row.isTool !== true)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (const side of asked) await row.prepare(side, (request) => send(side.port, agent, request))
  agent.destroy()
  const targets = new Map(asked.map((side) => [side, { pid: side.pid, port: side.port, ...row.target(side) }]))
  // The warm-up compiles the code of the servers; its results are dropped.
  for (const target of targets.values()) await measureRest(target, mostLanes, { calls: row.warmUpCalls * warmUpShare })
  for (const lanes of laneCounts) {
    const measured = new Map(asked.map((side) => [side, [] as RestMeasured[]]))
    for (let round = 0; round < rounds; round++)
      for (const [side, target] of targets) measured.get(side)?.push(await measureRest(target, lanes, { seconds }))
    printRow(row, lanes, measured)
  }
}

const sides: Side[] = [await startRelay('relay', resolve(import.meta.dirname, '..'), options.profile)]
try {
  sides.push(await startMini())
  if (options.former !== undefined) sides.push(await startRelay('former', resolve(options.former), undefined))
  print('call', 'at a time', 'server', 'CPU-µs per call', 'calls/s', 'p50 ms', 'p99 ms', 'CPU of the relay against it')
  print(...Array.from({ length: 8 }, () => '---'))
  for (const row of ROWS) if (wanted.length === 0 || wanted.some((name) => row.name.includes(name))) await compare(row, sides)
  const { confidence } = medianInterval(Array.from({ length: rounds }, () => 0))
  console.log(
    `\nMedians of ${rounds} rounds of ${seconds} s. Ratios: the median of the ratios of the rounds, and an interval that holds the ` +
      `true median with a probability of ${Math.round(confidence * 100)} %.`,
  )
} finally {
  for (const side of sides) await side.stop()
}
