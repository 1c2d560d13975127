import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPurse } from '../http/body-budget.ts'
import { type McpRelay, startMcpRelay } from './testing/mcp-relay.ts'
import { EVENTS, legacy, modern } from './testing/requests.ts'

let relay: McpRelay
beforeAll(async () => {
  relay = await startMcpRelay()
})
afterAll(() => relay[Symbol.asyncDispose]())

const look = legacy('tools/call', { name: 'service_look', arguments: { a: 1 } })

describe('one URL', () => {
  it.each(['local', 'public'] as const)('[MCP-1] the %s listener serves all revisions with the same tools', async (mount) => {
    for (const version of ['2025-03-26', '2025-06-18', '2025-11-25']) {
      const answer = await relay.send({ ...look, mount, headers: { 'mcp-protocol-version': version } })
      expect(answer.json.result).toMatchObject({ structuredContent: { seen: { a: 1 } }, isError: false })
    }
    const answer = await relay.send(modern('tools/call', { name: 'service_look', arguments: { a: 1 } }, { mount }))
    expect(answer.json.result).toMatchObject({ structuredContent: { seen: { a: 1 } }, resultType: 'complete' })
  })

  it('[MCP-2] other methods than POST, GET and DELETE answer 405, before any credential is checked', async () => {
    for (const method of ['PUT', 'PATCH', 'HEAD', 'OPTIONS']) {
      const answer = await relay.send({ method, bearer: null })
      expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, POST, DELETE'])
    }
    const answer = await relay.send({ method: 'PUT', bearer: null, mount: 'public' })
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, POST, DELETE, OPTIONS'])
  })

  it('[MCP-2] paths other than that of the endpoint are not handled by it', async () => {
    for (const path of ['/mcp/', '/MCP', '/mcp/x', '/mcp;a'])
      for (const mount of ['local', 'public'] as const) expect((await relay.send({ ...look, path, mount })).status).toBe(404)
    expect((await relay.send({ ...look, path: '/mcp?x=1' })).status).toBe(200)
  })

  it('[MCP-17] GET / describes the loopback listener; the main listener has no such route', async () => {
    const { json } = await relay.send({ method: 'GET', path: '/', bearer: null })
    expect(json).toEqual({
      server: 'docrelay',
      version: '1.2.3',
      endpoint: '/mcp',
      transport: 'streamable-http',
      protocolVersions: ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'],
    })
    expect((await relay.send({ method: 'GET', path: '/', bearer: null, mount: 'public' })).status).toBe(404)
  })

  it('[LIFE-28] new requests are refused while the relay drains', async () => {
    relay.draining = true
    const answer = await relay.send(look)
    relay.draining = false
    expect([answer.status, answer.headers['retry-after'], answer.text]).toEqual([503, '1', 'The relay is shutting down.'])
  })
})

it('[LIFE-28] a call that is running when draining begins is answered', async () => {
  const sent = relay.send(legacy('tools/call', { name: 'service_slow' }))
  await relay.tools.waiting()
  relay.draining = true
  relay.tools.finish()
  const answer = await sent
  relay.draining = false
  expect(answer.json.result).toMatchObject({ structuredContent: { slow: true } })
})

describe('request bodies', () => {
  const big = (bytes: number) => `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${'y'.repeat(bytes - 58)}"}}`

  it('[MCP-6] a body of 8 MiB is accepted, one byte more is refused, with a declared length or chunked', async () => {
    const most = big(8_388_608)
    expect(Buffer.byteLength(most)).toBe(8_388_608)
    expect((await relay.send({ body: most })).json.result).toEqual({})
    const declared = await relay.send({ body: big(8_388_609) })
    expect([declared.status, declared.headers['content-type']]).toEqual([413, 'text/plain'])
    const counted = await relay.send({
      body: big(8_388_609),
      headers: { 'transfer-encoding': 'chunked', 'content-type': 'text/html' },
    })
    expect([counted.status, counted.text]).toEqual([413, 'The request body exceeds 8388608 bytes.'])
  })

  it('[MCP-3] a long body is not read before its credential is accepted', async () => {
    expect((await relay.send({ body: big(8_388_700), bearer: 'nobody' })).status).toBe(401)
  })

  it.each([
    ['application/json', 200],
    ['application/json; charset=utf-8', 200],
    ['Application/JSON ;x=y', 200],
    ['text/json', 415],
    ['application/jsonp', 415],
    ['application/vnd.api+json', 415],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=application/json', 415],
    ['', 415],
  ])('[MCP-7] a POST with content type %j answers %i', async (type, status) => {
    const answer = await relay.send({ ...look, headers: { 'content-type': type } })
    expect(answer.status).toBe(status)
    if (status === 415) expect(answer.headers['content-type']).toBe('text/plain')
  })

  it('[MCP-7] [MCP-8] the content type is checked before the JSON', async () => {
    expect((await relay.send({ body: '{', headers: { 'content-type': 'text/plain' } })).status).toBe(415)
  })

  it.each(['', '{', 'null null', '{"jsonrpc":"2.0",}', '\u{feff}{}', 'NaN', new Uint8Array([0x22, 0xff, 0x22])])(
    '[MCP-8] body %j is not JSON: 400, -32700, id null',
    async (body) => {
      const answer = await relay.send({ body, headers: { accept: EVENTS } })
      expect([answer.status, answer.headers['content-type']]).toEqual([400, 'application/json'])
      expect(answer.json).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32_700 } })
    },
  )

  it('[MCP-9] a batch is refused whole, and no part of it runs', async () => {
    const before = relay.tools.calls.length
    for (const body of [[look.body], []]) {
      const answer = await relay.send({ body })
      expect([answer.status, answer.json]).toMatchObject([400, { id: null, error: { code: -32_600 } }])
    }
    expect(relay.tools.calls).toHaveLength(before)
  })

  it.each([
    [{ jsonrpc: '2.0', id: 7 }, 7],
    [{ jsonrpc: '2.0', id: 7, method: 5 }, 7],
    [{ jsonrpc: '1.0', id: 'a', method: 'ping' }, 'a'],
    [{ id: 'a', method: 'ping' }, 'a'],
    [{ jsonrpc: '2.0', id: null, method: 'ping' }, null],
    [{ jsonrpc: '2.0', id: { a: 1 }, method: 'ping' }, null],
    [{ jsonrpc: '2.0', id: true, method: 'ping' }, null],
    [{ jsonrpc: '2.0', id: 2 ** 53, method: 'ping' }, null],
    [{ jsonrpc: '2.0', id: -1e300, method: 'ping' }, null],
    [{ jsonrpc: '2.0' }, null],
    ['text', null],
    [5, null],
  ])('[MCP-10] %j is not a request: 400, -32600, id %j', async (body, id) => {
    const answer = await relay.send({ body: JSON.stringify(body) })
    expect([answer.status, answer.json]).toMatchObject([400, { id, error: { code: -32_600 } }])
  })

  it.each(['', '0', 'ü\n', 0, -1, 0.5, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
    '[MCP-10] a JSON-RPC answer repeats the id %j unchanged',
    async (id) => {
      const answer = await relay.send({ body: { jsonrpc: '2.0', id, method: 'ping' } })
      expect(answer.json).toEqual({ jsonrpc: '2.0', id, result: {} })
    },
  )

  it('[MCP-10] a response sent by the client is accepted and ignored', async () => {
    for (const body of [
      { jsonrpc: '2.0', id: 3, result: {} },
      { jsonrpc: '2.0', id: 'x', error: { code: 1, message: '' } },
    ]) {
      const answer = await relay.send({ body })
      expect([answer.status, answer.text]).toEqual([202, ''])
    }
  })

  it('[MCP-11] any notification is accepted and runs nothing', async () => {
    const before = relay.tools.calls.length
    for (const method of ['notifications/initialized', 'tools/call', 'no/such', 'subscriptions/listen', 'initialize']) {
      const answer = await relay.send({ body: { jsonrpc: '2.0', method, params: { name: 'service_change' } } })
      expect([method, answer.status, answer.text]).toEqual([method, 202, ''])
    }
    expect(relay.tools.calls).toHaveLength(before)
  })
})

describe('framing of answers', () => {
  it.each([
    ['text/event-stream', true],
    ['application/json, text/event-stream', true],
    ['TEXT/Event-Stream;q=0.1', true],
    ['text/event-stream; charset=utf-8; q=1', true],
    ['application/json', false],
    ['*/*', false],
    ['text/*', false],
    ['text/event-stream;q=0', false],
    ['text/event-stream; q=0.000, application/json', false],
    ['text/event-streams', false],
    ['image/png', false],
    ['', false],
    [undefined, false],
  ])('[MCP-12] Accept %j is answered as an event stream: %s', async (accept, events) => {
    const answer = await relay.send({ ...look, headers: accept === undefined ? {} : { accept } })
    expect([answer.status, answer.headers['content-type']]).toEqual([200, events ? 'text/event-stream' : 'application/json'])
    expect(answer.json.result).toMatchObject({ isError: false })
  })

  it('[MCP-13] an event stream contains the notifications, one event with the answer, and ends', async () => {
    const answer = await relay.send({ ...look, headers: { accept: EVENTS } })
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-cache', 'x-accel-buffering': 'no' })
    expect(answer.text).toMatch(/^event: message\ndata: \{"jsonrpc":"2.0","id":1,"result":.*\}\n\n$/)
  })

  it('[MCP-14] an error status is not framed: JSON for JSON-RPC errors, short text for others', async () => {
    const headers = { accept: EVENTS }
    const unknown = await relay.send(modern('no/such', {}, { headers }))
    expect([unknown.status, unknown.headers['content-type']]).toEqual([404, 'application/json'])
    const version = await relay.send({ ...look, headers: { ...headers, 'mcp-protocol-version': '1999-01-01' } })
    expect([version.status, version.headers['content-type']]).toEqual([400, 'application/json'])
    const refused = await relay.send({ ...look, headers, bearer: 'x' })
    expect([refused.status, refused.headers['content-type'], refused.text]).toEqual([401, 'text/plain', 'unauthorized'])
  })

  it('[REST-9] every response has its request id', async () => {
    const { headers } = await relay.send({ ...look, headers: { 'x-request-id': 'mine-1' } })
    expect(headers).toMatchObject({ 'x-request-id': 'mine-1', 'x-content-type-options': 'nosniff' })
  })
})

describe('while a call runs', () => {
  const slow = { name: 'service_slow', _meta: { progressToken: 'p1' } }

  it('[H3] the body of a call counts in the budget until the call has ended', async () => {
    const purse = createPurse({ totalBytes: 2_000, shareBytes: 1_000 })
    await using tight = await startMcpRelay({ budget: { open: () => purse.open('') } })
    const padded = (name: string) => legacy('tools/call', { name, arguments: { pad: 'x'.repeat(600) } })
    const running = tight.send(padded('service_slow'))
    await tight.tools.waiting()
    expect((await tight.send(padded('service_look'))).status).toBe(503)
    tight.tools.finish()
    expect((await running).status).toBe(200)
    expect((await tight.send(padded('service_look'))).status).toBe(200)
  })

  it('[MCP-16] progress is sent only to a request with a progress token and event framing', async () => {
    const stream = await relay.stream(legacy('tools/call', slow, { headers: { accept: EVENTS } }))
    await stream.until('notifications/progress')
    relay.tools.finish()
    await stream.ended
    expect(stream.messages).toMatchObject([
      { method: 'notifications/progress', params: { progressToken: 'p1', progress: 1, total: 2, message: 'half' } },
      { id: 1, result: { structuredContent: { slow: true } } },
    ])
    for (const [params, accept] of [[{ name: 'service_slow' }, EVENTS] as const, [slow, 'application/json'] as const]) {
      const sent = relay.send(legacy('tools/call', params, { headers: { accept } }))
      await relay.tools.waiting()
      relay.tools.finish()
      const answer = await sent
      expect(answer.text).not.toContain('progress')
      expect(answer.json.result).toMatchObject({ structuredContent: { slow: true } })
    }
  })

  it('[MCP-13] during a long call a comment line is sent every 15 s', async () => {
    const sent = relay.stream(legacy('tools/call', { name: 'service_slow' }, { headers: { accept: EVENTS } }))
    await relay.tools.waiting()
    await relay.time.advance(15_000)
    const stream = await sent
    await stream.until(':\n\n')
    relay.tools.finish()
    await stream.ended
    expect(stream.text).toMatch(/^:\n\nevent: message\n/)
  })

  it('[MCP-15] on the modern leg a client that disconnects cancels its call', async () => {
    const { aborted } = relay.tools
    const stream = await relay.stream(
      modern('tools/call', slow, { headers: { accept: EVENTS }, meta: { ...modernMeta(), progressToken: 1 } }),
    )
    await stream.until('notifications/progress')
    stream.close()
    await expect.poll(() => relay.tools.aborted).toBe(aborted + 1)
  })

  it('[MCP-15] on the legacy leg a client that disconnects cancels nothing', async () => {
    const { aborted } = relay.tools
    const stream = await relay.stream(legacy('tools/call', slow, { headers: { accept: EVENTS } }))
    await stream.until('notifications/progress')
    stream.close()
    await stream.ended
    await relay.send(look)
    expect(relay.tools.calls.findLast(({ name }) => name === 'service_slow')?.context.signal.aborted).toBe(false)
    relay.tools.finish()
    await relay.send(look)
    expect(relay.tools.aborted).toBe(aborted)
  })
})

function modernMeta(): Record<string, unknown> {
  const { params } = modern('tools/list').body as { params: { _meta: Record<string, unknown> } }
  return params._meta
}
