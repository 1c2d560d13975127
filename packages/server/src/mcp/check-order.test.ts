import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type McpAnswer, type McpRelay, startMcpRelay } from './testing/mcp-relay.ts'
import { legacy, META } from './testing/requests.ts'

/** A request to which the faults are already added. */
interface Sent {
  bearer?: string
  path: string
  headers: Record<string, string>
  message: Record<string, unknown>
  params: Record<string, unknown>
  /** Sent instead of the message when present. */
  text?: string
}

/** A fault of a request: the expected answer, and how to put it into a request. */
interface Fault {
  readonly name: string
  readonly answers: string
  readonly put: (sent: Sent) => void
}

const NOTHING_LEFT = { ratePerSec: 0.001, burst: 1 }
let relay: McpRelay
let empty: McpRelay
const closed = new Map<McpRelay, string>()
beforeAll(async () => {
  relay = await startMcpRelay()
  empty = await startMcpRelay({ buckets: { read: NOTHING_LEFT, write: NOTHING_LEFT } })
  for (const each of [relay, empty]) {
    const { headers } = await each.send(legacy('initialize', {}))
    const id = String(headers['mcp-session-id'])
    await each.send({ method: 'DELETE', headers: { 'mcp-session-id': id } })
    closed.set(each, id)
  }
  await empty.send(legacy('tools/call', { name: 'service_look' }))
  await empty.send(legacy('tools/call', { name: 'service_change' }))
})
afterAll(async () => {
  await relay[Symbol.asyncDispose]()
  await empty[Symbol.asyncDispose]()
})

const CLOSED = 'mcp-session-id'
const VERSION = 'io.modelcontextprotocol/protocolVersion'
const RATE: Fault = { name: 'rate', answers: '429 429', put: () => undefined }
const BEFORE: readonly Fault[] = [
  { name: 'host', answers: '403 forbidden', put: (sent) => void (sent.headers['host'] = 'evil.example') },
  { name: 'credential', answers: '401 unauthorized', put: (sent) => void (sent.bearer = 'nobody') },
  { name: 'size', answers: '413 The request body', put: (sent) => void (sent.text = '{'.repeat(8_388_609)) },
  { name: 'content type', answers: '415 The body must', put: (sent) => void (sent.headers['content-type'] = 'text/plain') },
  { name: 'JSON', answers: '400 -32700', put: (sent) => void (sent.text ??= '{') },
  { name: 'shape', answers: '400 -32600', put: (sent) => void (sent.message['jsonrpc'] = '1.0') },
]
const LEGACY: readonly Fault[] = [
  ...BEFORE,
  { name: 'version', answers: '400 -32022', put: (sent) => void (sent.headers['mcp-protocol-version'] = 'x') },
  { name: 'closed session', answers: '404 The session is closed.', put: (sent) => void (sent.headers[CLOSED] = CLOSED) },
  RATE,
  { name: 'method', answers: '200 -32601', put: (sent) => void (sent.message['method'] = 'no/such') },
  { name: 'toolset', answers: '200 -32602', put: (sent) => void (sent.path = '/mcp?toolsets=none') },
  { name: 'tool', answers: '200 ERR_LAST_PAGE', put: (sent) => void (sent.params['name'] = 'service_refuses') },
]
const MODERN: readonly Fault[] = [
  ...BEFORE,
  { name: '_meta', answers: '400 -32602', put: (sent) => void (sent.params['_meta'] = { [VERSION]: '2026-07-28' }) },
  { name: 'headers', answers: '400 -32020', put: (sent) => void delete sent.headers['mcp-method'] },
  {
    name: 'version',
    answers: '400 -32022',
    put({ headers, params }) {
      headers['mcp-protocol-version'] = '2027-01-01'
      params['_meta'] = { ...(params['_meta'] as object), [VERSION]: '2027-01-01' }
    },
  },
  RATE,
  {
    name: 'method',
    answers: '404 -32601',
    put({ headers, message }) {
      message['method'] = 'no/such'
      if (headers['mcp-method'] !== undefined) headers['mcp-method'] = 'no/such'
    },
  },
  { name: 'toolset', answers: '200 -32602', put: (sent) => void (sent.path = '/mcp?toolsets=none') },
  {
    name: 'tool',
    answers: '200 ERR_LAST_PAGE',
    put({ headers, params }) {
      params['name'] = headers['mcp-name'] = 'service_refuses'
    },
  },
]

const LEGS = {
  legacy: { faults: LEGACY, headers: {}, params: {} },
  modern: {
    faults: MODERN,
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'service_look' },
    params: { _meta: META },
  },
}

/** Sends a request with these faults. Returns the status, and the error code or the text of the answer. */
async function answered(leg: keyof typeof LEGS, faults: readonly Fault[]): Promise<string> {
  const on = faults.includes(RATE) ? empty : relay
  const { headers, params } = LEGS[leg]
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
  const sent: Sent = { path: '/mcp', headers: { ...headers }, message, params: { name: 'service_look', ...params } }
  for (const { put } of faults) put(sent)
  if (sent.headers[CLOSED] !== undefined) sent.headers[CLOSED] = closed.get(on) ?? ''
  const { text, message: object, params: given, ...request } = sent
  return told(await on.send({ ...request, body: text ?? { ...object, params: given } }))
}

function told(answer: McpAnswer): string {
  const { status, headers, text } = answer
  if (headers['content-type'] !== 'application/json') return `${status} ${text}`
  const { error, result } = answer.json
  return `${status} ${error?.code ?? (result?.['structuredContent'] as { code?: string } | undefined)?.code ?? 'fine'}`
}

describe.each(['legacy', 'modern'] as const)('a request with two errors on the %s leg', (leg) => {
  const { faults } = LEGS[leg]

  it('[MCP-3] each error alone gets its own answer', async () => {
    expect(await answered(leg, [])).toBe('200 fine')
    for (const fault of faults)
      expect(`${fault.name}: ${await answered(leg, [fault])}`).toContain(`${fault.name}: ${fault.answers}`)
  })

  it.each(faults.map(({ name }, at) => [name, at] as const))(
    '[MCP-3] the error "%s" is answered before errors of all later checks',
    async (_, at) => {
      const [first, ...later] = faults.slice(at)
      if (first === undefined) throw new Error('there is no such fault')
      for (const other of later) {
        const seen = await answered(leg, [first, other])
        expect(`${first.name}, ${other.name}: ${seen}`).toContain(`: ${first.answers}`)
      }
    },
  )
})
