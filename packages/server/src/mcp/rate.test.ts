import { afterEach, describe, expect, it } from 'vitest'
import { type McpRelay, type McpRelayOptions, type McpRequest, startMcpRelay } from './testing/mcp-relay.ts'
import { EVENTS, legacy, modern } from './testing/requests.ts'

let relay: McpRelay
afterEach(() => relay[Symbol.asyncDispose]())
const start = async (buckets: McpRelayOptions['buckets'] = {}) => {
  relay = await startMcpRelay({ buckets })
}

const look = legacy('tools/call', { name: 'service_look' })
const change = legacy('tools/call', { name: 'service_change' })
const status = async (request: McpRequest) => (await relay.send(request)).status

describe('rate limits of a workspace', () => {
  it('[MCP-54] write tools use the write bucket shared with sockets; every other call uses the read bucket', async () => {
    await start({ read: { ratePerSec: 0.001, burst: 9 }, write: { ratePerSec: 0.001, burst: 2 } })
    // A sync frame of a socket takes a token from the same bucket.
    relay.limiter.take('write:default', { ratePerSec: 0.001, burst: 2 })
    expect([await status(change), await status(change)]).toEqual([200, 429])
    const reads = [
      look,
      legacy('tools/list'),
      legacy('resources/list'),
      legacy('resources/read', { uri: 'relay://icons' }),
      legacy('prompts/list'),
      legacy('no/such'),
      legacy('tools/call', { name: 'no_such_tool' }),
      modern('tools/list'),
      modern('resources/templates/list'),
    ]
    for (const request of reads) expect(await status(request)).toBe(200)
    expect(await status(look)).toBe(429)
    expect(await status(modern('tools/list'))).toBe(429)
  })

  it('[MCP-54] [MCP-11] some methods and all notifications take no token', async () => {
    await start({ read: { ratePerSec: 0.001, burst: 1 }, write: { ratePerSec: 0.001, burst: 1 } })
    const free: McpRequest[] = [
      legacy('initialize', { protocolVersion: '2025-11-25' }),
      legacy('ping'),
      legacy('logging/setLevel', { level: 'info' }),
      modern('server/discover'),
      { body: { jsonrpc: '2.0', method: 'tools/call', params: { name: 'service_change' } } },
    ]
    for (let round = 0; round < 3; round++) for (const request of free) expect(await status(request)).toBeLessThan(300)
    for (let round = 0; round < 3; round++) {
      const stream = await relay.stream(modern('subscriptions/listen', { notifications: {} }))
      expect(stream.status).toBe(200)
      stream.close()
    }
    expect([await status(look), await status(change)]).toEqual([200, 200])
  })

  it('[MCP-54] a request refused before the rate limit takes no token', async () => {
    await start({ read: { ratePerSec: 0.001, burst: 1 } })
    const refused: McpRequest[] = [
      { ...look, bearer: null },
      { ...look, headers: { 'content-type': 'text/plain' } },
      { body: '{' },
      { body: [look.body] },
      { ...look, headers: { 'mcp-protocol-version': 'x' } },
      modern('tools/list', {}, { headers: { 'mcp-method': 'tools/call' } }),
      modern('tools/list', {}, { meta: null }),
    ]
    for (const request of refused) expect(await status(request)).toBeGreaterThanOrEqual(400)
    expect([await status(look), await status(look)]).toEqual([200, 429])
  })

  it('[MCP-54] [MCP-55] a read with a picture takes five tokens or a whole smaller bucket; a refusal says when', async () => {
    const picture = legacy('tools/call', { name: 'service_look', arguments: { image: true } })
    await start({ read: { ratePerSec: 0.5, burst: 12 } })
    expect([await status(picture), await status(picture)]).toEqual([200, 200])
    const refused = await relay.send(picture)
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '6'])
    expect([await status(look), await status(look), await status(look)]).toEqual([200, 200, 429])
    await relay.time.advance(10_000)
    expect([await status(picture), await status(look)]).toEqual([200, 429])
    await relay[Symbol.asyncDispose]()
    await start({ read: { ratePerSec: 0.001, burst: 3 } })
    expect([await status(picture), await status(look)]).toEqual([200, 429])
  })

  it('[MCP-54] workspaces and buckets have separate tokens', async () => {
    const one = { ratePerSec: 0.001, burst: 1 }
    relay = await startMcpRelay({ buckets: { read: one, write: one }, tenancy: { mode: 'shared' } })
    const of = (workspace: string) => relay.issuer.token({ workspace, role: 'member' })
    for (const workspace of ['w1', 'w2']) {
      expect([await status({ ...look, bearer: of(workspace) }), await status({ ...change, bearer: of(workspace) })]).toEqual([
        200, 200,
      ])
      expect([await status({ ...look, bearer: of(workspace) }), await status({ ...change, bearer: of(workspace) })]).toEqual([
        429, 429,
      ])
    }
  })

  it('[MCP-56] without a configured rate no call is refused', async () => {
    await start({ read: { ratePerSec: null, burst: 0 } })
    const answers = await Promise.all(Array.from({ length: 300 }, () => status(legacy('tools/list'))))
    expect(answers.filter((each) => each !== 200)).toEqual([])
  })
})

describe('an empty bucket', () => {
  it('[MCP-55] [MCP-14] a refusal names the waiting time on both legs, and a call after that time succeeds', async () => {
    await start({ write: { ratePerSec: 0.25, burst: 1 } })
    expect(await status(change)).toBe(200)
    await relay.time.advance(900)
    for (const request of [change, modern('tools/call', { name: 'service_change' })]) {
      const answer = await relay.send({ ...request, headers: { ...request.headers, accept: EVENTS } })
      expect([answer.status, answer.headers['retry-after'], answer.headers['content-type']]).toEqual([
        429,
        '4',
        'application/json',
      ])
      expect(answer.json).toMatchObject({
        id: (request.body as { id: unknown }).id,
        error: {
          code: 429,
          message: expect.stringMatching(/^ERR_RATE_LIMIT: /),
          data: { code: 'ERR_RATE_LIMIT', bucket: 'write', retryAfter: 4, perSecond: 0.25, burst: 1 },
        },
      })
    }
    await relay.time.advance(4_000)
    expect(await status(change)).toBe(200)
  })

  it('[MCP-55] the waiting time is at least one second', async () => {
    await start({ read: { ratePerSec: 100, burst: 1 } })
    await status(look)
    const answer = await relay.send(look)
    expect([answer.headers['retry-after'], answer.json.error?.data]).toMatchObject([
      '1',
      { bucket: 'read', retryAfter: 1, perSecond: 100 },
    ])
  })

  it('[MCP-56] a refused call runs nothing and is counted by bucket and tool', async () => {
    await start({ read: { ratePerSec: 0.001, burst: 1 }, write: { ratePerSec: 0.001, burst: 1 } })
    for (const request of [look, look, look, change, change]) await relay.send(request)
    await relay.send(legacy('tools/call', { name: 'service_<script>' }))
    expect(relay.tools.calls).toHaveLength(2)
    const { text } = await relay.metrics.render()
    expect(text).toContain('relay_rate_limit_rejections_total{surface="mcp_read"} 3')
    expect(text).toContain('relay_rate_limit_rejections_total{surface="mcp_write"} 1')
    expect(text).toContain('relay_mcp_calls_total{tool="service_look",outcome="limited"} 2')
    expect(text).toContain('relay_mcp_calls_total{tool="service_change",outcome="limited"} 1')
    expect(text).toContain('relay_mcp_calls_total{tool="unknown",outcome="limited"} 1')
  })
})
