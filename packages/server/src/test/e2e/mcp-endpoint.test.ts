import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { commitHold } from '../commit-hold.ts'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { isCovered } from '../store-file.ts'
import { metric, openWire } from '../wire-client.ts'

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }

/** POSTs to an address with this bearer. Uses fetch directly, so that the answer is not compared with OpenAPI. */
async function post(
  url: string,
  bearer: string,
  body: unknown = PING,
): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, text: await answer.text() }
}

async function connected(relay: RelayUnderTest, bearer: string, mode: 'legacy' | 'auto'): Promise<Client> {
  const client = new Client({ name: 'story', version: '1' }, { versionNegotiation: { mode } })
  const requestInit = { headers: { authorization: `Bearer ${bearer}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(relay.mcpUrl), { requestInit }))
  return client
}

it('[MCP-1] [MCP-2] [MCP-18] [MCP-19] [LIFE-28] a local endpoint has a listener of its own and accepts its static token', async () => {
  await using relay = await startRelayUnderTest({ mcp: 'local' })
  const token = readFileSync(join(relay.dataDir, 'mcp_token'), 'utf8').trim()
  expect(new URL(relay.mcpUrl).hostname).toBe('127.0.0.1')
  for (const mode of ['legacy', 'auto'] as const) {
    const client = await connected(relay, token, mode)
    expect(Array.isArray((await client.listTools()).tools)).toBe(true)
    await client.close()
  }
  expect((await post(relay.mcpUrl, relay.token())).status).toBe(200)
  expect((await post(`${relay.baseUrl}/mcp`, relay.token())).status).toBe(404)
  expect((await fetch(new URL('/', relay.mcpUrl))).status).toBe(200)
  expect((await fetch(new URL('/.well-known/oauth-protected-resource', relay.mcpUrl))).status).toBe(200)
  // The static token is no credential of REST, and REST is not on this listener. [AUTH-1]
  expect((await fetch(`${relay.baseUrl}/api/docs`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(400)
  expect(
    (await fetch(new URL('/api/docs', relay.mcpUrl), { headers: { authorization: `Bearer ${relay.token()}` } })).status,
  ).toBe(404)

  const stream = await fetch(relay.mcpUrl, { headers: { authorization: `Bearer ${token}` } })
  expect(await relay.stop()).toBe(0)
  expect(await stream.text()).toBe(':\n\n')
  await relay.restart()
  expect((await post(relay.mcpUrl, token)).status).toBe(200)
  expect(relay.logLines.join('\n')).not.toContain(token)
  await relay.kill()
  await using open = await startRelayUnderTest({ mcp: 'public', dataDir: relay.dataDir })
  expect([(await post(open.mcpUrl, token)).status, (await post(open.mcpUrl, open.token())).status]).toEqual([401, 200])
})

it('[MCP-54] [MCP-55] [MCP-56] [OPS-4] [WS-28] sockets and write tools share the write rate of the workspace, and tool calls are counted', async () => {
  const env = { RELAY_WRITES_PER_SEC: '1', RELAY_WRITES_BURST: '20' }
  await using relay = await startRelayUnderTest({ mcp: 'public', env })
  await relay.rest().putDocument('d', {})
  const frames = await (await openWire(relay)).enter(relay.token(), 'd')
  // More messages than the bucket holds, so the socket empties it.
  for (let i = 0; i < 30; i++) frames.step2()
  await until('the socket to be refused', () => frames.errors().length > 0)
  const rename = { name: 'service_rename_document', arguments: { docId: 'd', name: 'Renamed' } }
  const list = { name: 'service_list_documents', arguments: {} }
  const call = (params: unknown) => post(relay.mcpUrl, relay.token(), { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const refused = await call(rename)
  expect([refused.status, JSON.parse(refused.text)]).toMatchObject([
    429,
    { error: { data: { bucket: 'write', perSecond: 1, burst: 20 } } },
  ])
  expect((await call(list)).status).toBe(200)
  expect(await metric(relay, 'relay_rate_limit_rejections_total', { surface: 'mcp_write' })).toBe(1)
  const counted = (tool: string, outcome: string) => metric(relay, 'relay_mcp_calls_total', { tool: `service_${tool}`, outcome })
  expect([await counted('rename_document', 'limited'), await counted('list_documents', 'ok')]).toEqual([1, 1])
  await until('a token to be back', async () => (await call(rename)).status === 200)
  frames.socket.close()
})

describe('a public endpoint', () => {
  const commits = commitHold()
  let relay: RelayUnderTest
  beforeAll(async () => void (relay = await startRelayUnderTest({ mcp: 'public', env: commits.env })))
  afterAll(async () => {
    await relay?.[Symbol.asyncDispose]()
    commits.remove()
  })
  afterEach(() => commits.release())

  it.each([
    ['modern', 0],
    ['legacy', 1],
  ] as const)(
    '[MCP-15] on the %s leg, a caller that leaves while its write waits for another one has %i writes stored',
    async (leg, written) => {
      const richTextPages = [{ id: 'p', name: 'Prose', order: 0, content: '<p>one</p>' }]
      await relay.rest().putDocument(leg, { richTextPages })
      await saved(relay.sync(leg))
      await until('what the load itself wrote to be in the body', () => isCovered(relay, leg))
      commits.hold()
      const before = relay.rest().putDocument(leg, { name: 'Before', richTextPages })
      await roundTrips(relay)
      await leave(relay, leg, { name: 'service_set_prose', arguments: { docId: leg, pageId: 'p', content: 'two' } })
      commits.release()
      const { serverVersion } = await before
      const rename = { name: 'service_rename_document', arguments: { docId: leg, name: 'Renamed' } }
      const { text } = await post(relay.mcpUrl, relay.token(), { jsonrpc: '2.0', id: 1, method: 'tools/call', params: rename })
      expect(JSON.parse(text).result.structuredContent).toMatchObject({ serverVersion: serverVersion + written + 1 })
    },
  )

  // Must be the last test of this relay, because it stops the relay.
  it('[MCP-2] [MCP-21] [MCP-52] [LIFE-28] a public endpoint on the main listener checks revocations and ends its streams at shutdown', async () => {
    const client = await connected(relay, relay.token(), 'auto')
    const subscription = await client.listen({ resourcesListChanged: true })
    const pushed = await relay.fetch('/api/v1/internal/revoke', {
      method: 'POST',
      headers: { authorization: 'Bearer revocation-secret-for-tests', 'content-type': 'application/json' },
      body: JSON.stringify({ revocations: [{ jti: 'gone', revoked_at: new Date().toISOString() }] }),
    })
    expect(pushed.status).toBeLessThan(300)
    expect((await post(relay.mcpUrl, relay.token({ jti: 'gone' }))).status).toBe(401)
    const closed = subscription.closed
    expect(await relay.stop()).toBe(0)
    expect(await closed).toBe('graceful')
    await client.close()
  })
})

/** Waits until the relay has handled everything that was sent to it before, on any connection. */
async function roundTrips(relay: RelayUnderTest): Promise<void> {
  for (let i = 0; i < 10; i++) await fetch(`${relay.baseUrl}/livez`)
}

/** Sends a whole call and cuts the connection before its answer, which cannot come yet. Resolves when the relay has noticed. */
async function leave(
  relay: RelayUnderTest,
  leg: 'modern' | 'legacy',
  params: { readonly name: string; readonly arguments: object },
): Promise<void> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': params.name }
  const headers = { authorization: `Bearer ${relay.token()}`, ...(leg === 'modern' && modern) }
  const outgoing = request(relay.mcpUrl, { method: 'POST', headers })
  outgoing.on('error', () => undefined)
  outgoing.end(
    JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { ...params, ...(leg === 'modern' && { _meta }) } }),
  )
  await once(outgoing, 'finish')
  await roundTrips(relay)
  outgoing.destroy()
  await new Promise((resolve) => outgoing.once('close', resolve))
  await roundTrips(relay)
}
