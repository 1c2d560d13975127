import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, it } from 'vitest'
import { type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.ts'

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }

/** One POST to an address, with this bearer; by fetch, so that nothing is compared with OpenAPI. */
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

it('[MCP-1] [MCP-2] [MCP-18] [MCP-19] [LIFE-28] a local endpoint has a listener of its own and takes the token of the host', async () => {
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
  // Not a credential of REST, and no REST on this listener. [AUTH-1]
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
})

it('[MCP-2] [MCP-21] [MCP-52] [LIFE-28] a public endpoint is on the main listener, knows revocations, and ends its streams at shutdown', async () => {
  await using relay = await startRelayUnderTest({ mcp: 'public' })
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

it('[MCP-2] an endpoint that is switched off is not there', async () => {
  await using relay = await startRelayUnderTest()
  expect(relay.mcpUrl).toBe('')
  expect((await post(`${relay.baseUrl}/mcp`, relay.token())).status).toBe(404)
})

it('[MCP-2] [MCP-18] a public endpoint never takes the token of the host', async () => {
  await using relay = await startRelayUnderTest({ mcp: 'local' })
  const token = readFileSync(join(relay.dataDir, 'mcp_token'), 'utf8').trim()
  await relay.kill()
  await using open = await startRelayUnderTest({ mcp: 'public', dataDir: relay.dataDir })
  expect([(await post(open.mcpUrl, token)).status, (await post(open.mcpUrl, open.token())).status]).toEqual([401, 200])
})
