import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { INSTRUCTIONS, type McpRelay, type McpRequest, startMcpRelay, STATIC_TOKEN } from './testing/mcp-relay.ts'
import { EVENTS, legacy, META } from './testing/requests.ts'

let relay: McpRelay
beforeAll(async () => {
  relay = await startMcpRelay()
})
afterAll(() => relay[Symbol.asyncDispose]())

const ALL = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']
const NONE: Readonly<Record<string, string>> = {}
const look = legacy('tools/call', { name: 'service_look' })

/** Opens a session and returns the header that names it. */
async function session(params: unknown = {}, more: McpRequest = {}): Promise<{ readonly 'mcp-session-id': string }> {
  const { headers } = await relay.send(legacy('initialize', params, more))
  return { 'mcp-session-id': String(headers['mcp-session-id']) }
}

describe('initialize', () => {
  const AGREED: readonly (readonly [unknown, string])[] = [
    ['2025-03-26', '2025-03-26'],
    ['2025-06-18', '2025-06-18'],
    ['2025-11-25', '2025-11-25'],
    ['2024-11-05', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
    [5, '2025-11-25'],
    [undefined, '2025-11-25'],
  ]

  it.each(AGREED)('[MCP-29] initialize with version %j agrees on %j, whatever the headers', async (asked, agreed) => {
    for (const version of [undefined, '2026-07-28', 'nonsense']) {
      const headers: Record<string, string> = version === undefined ? {} : { 'mcp-protocol-version': version }
      const answer = await relay.send(legacy('initialize', { protocolVersion: asked }, { headers }))
      expect([answer.status, answer.json.result?.['protocolVersion']]).toEqual([200, agreed])
    }
  })

  it('[MCP-30] [MCP-39] initialize lists the capabilities, without members of the modern leg', async () => {
    const { json } = await relay.send(legacy('initialize', { protocolVersion: '2025-11-25' }))
    expect(json.result).toEqual({
      protocolVersion: '2025-11-25',
      serverInfo: { name: 'docrelay', title: 'Docrelay', version: '1.2.3' },
      instructions: INSTRUCTIONS,
      capabilities: { tools: {}, resources: { subscribe: true, listChanged: true }, prompts: {}, completions: {}, logging: {} },
    })
  })

  it('[MCP-31] initialize returns an unpredictable session id of visible ASCII, framed or not', async () => {
    const ids = new Set<string>()
    for (let i = 0; i < 20; i++)
      ids.add((await session({}, i % 2 === 0 ? {} : { headers: { accept: EVENTS } }))['mcp-session-id'])
    expect(ids.size).toBe(20)
    // The alphabet has 62 characters, so 22 of them hold 130 bits.
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9]{22,}$/)
  })

  it('[MCP-29] initialize with modern _meta is handled as a modern request', async () => {
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'initialize' }
    const answer = await relay.send(legacy('initialize', { _meta: META }, { headers }))
    expect([answer.status, answer.json.error?.code, answer.headers['mcp-session-id']]).toEqual([404, -32_601, undefined])
  })
})

describe('sessions', () => {
  it('[MCP-32] a call without initialize works, also with an unknown session id', async () => {
    for (const headers of [NONE, { 'mcp-session-id': 'unknown' }, { 'mcp-session-id': '' }])
      expect((await relay.send({ ...look, headers })).json.result).toMatchObject({ isError: false })
  })

  it('[MCP-31] [PRES-2] a session keeps the name of its client', async () => {
    const named = await session({ clientInfo: { name: 'bot', title: 'The Bot' } })
    await relay.send({ ...look, headers: named })
    expect(relay.tools.calls.at(-1)?.context.clientName).toBe('The Bot')
    await relay.send(look)
    expect(relay.tools.calls.at(-1)?.context.clientName).toBeNull()
  })

  it('[MCP-32] a session of another principal or credential is treated as unknown', async () => {
    const headers = await session({ clientInfo: { name: 'mine' } })
    for (const bearer of [relay.issuer.token({ sub: 'eve' }), STATIC_TOKEN]) {
      await relay.send({ ...look, headers, bearer })
      expect(relay.tools.calls.at(-1)?.context.clientName).toBeNull()
      const subscribed = await relay.send(legacy('resources/subscribe', { uri: 'relay://icons' }, { headers, bearer }))
      expect(subscribed.json.error?.code).toBe(-32_602)
      // A DELETE by another caller changes nothing.
      expect((await relay.send({ method: 'DELETE', headers, bearer })).status).toBe(204)
    }
    await relay.send({ ...look, headers })
    expect(relay.tools.calls.at(-1)?.context.clientName).toBe('mine')
  })

  it('[MCP-33] [MCP-34] DELETE closes a session with its stream, and every later request to it is refused', async () => {
    const headers = await session()
    const stream = await relay.stream({ method: 'GET', headers })
    expect((await relay.send({ method: 'DELETE', headers })).status).toBe(204)
    await stream.ended
    for (const request of [
      look,
      legacy('ping'),
      legacy('initialize', {}),
      { method: 'GET' },
      { method: 'DELETE' },
      { body: { jsonrpc: '2.0', method: 'x' } },
    ]) {
      const answer = await relay.send({ ...request, headers: { ...headers, accept: EVENTS } })
      expect([answer.status, answer.headers['content-type']]).toEqual([404, 'text/plain'])
    }
    await relay.time.advance(3_599_000)
    expect((await relay.send({ ...look, headers })).status).toBe(404)
  })

  it('[MCP-33] DELETE without a session id or with an unknown one answers 204', async () => {
    for (const headers of [NONE, { 'mcp-session-id': 'unknown' }])
      expect((await relay.send({ method: 'DELETE', headers })).status).toBe(204)
  })

  it('[MCP-34] [MCP-3] a bad protocol version is reported before a closed session', async () => {
    const headers = await session()
    await relay.send({ method: 'DELETE', headers })
    expect((await relay.send({ ...look, headers: { ...headers, 'mcp-protocol-version': 'x' } })).status).toBe(400)
  })

  it('[MCP-15] a cancelled call of a session ends without an answer', async () => {
    const headers = { ...(await session()), accept: EVENTS }
    const params = { name: 'service_slow', _meta: { progressToken: 1 } }
    const stream = await relay.stream(legacy('tools/call', params, { headers }))
    await stream.until('notifications/progress')
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
    await relay.send({ body: cancel })
    await relay.send({ body: cancel, headers: await session() })
    expect(relay.tools.aborted).toBe(0)
    expect((await relay.send({ body: cancel, headers })).status).toBe(202)
    await stream.ended
    expect([relay.tools.aborted, stream.messages.length]).toEqual([1, 1])
  })
})

describe('protocol versions', () => {
  it('[MCP-35] an unknown version in the header is answered with the four supported ones; initialize is not checked', async () => {
    for (const version of ['2024-11-05', '1', 'latest']) {
      const answer = await relay.send({ ...look, headers: { 'mcp-protocol-version': version, ...(await session()) } })
      expect([answer.status, answer.json]).toMatchObject([
        400,
        { id: 1, error: { code: -32_022, data: { supported: ALL, requested: version } } },
      ])
    }
  })
})

describe('methods', () => {
  const result = async (method: string, params?: unknown, headers: Record<string, string> = {}) =>
    (await relay.send(legacy(method, params, { headers }))).json.result
  const code = async (method: string, params?: unknown) => {
    const { status, json } = await relay.send(legacy(method, params))
    return [status, json.error?.code]
  }

  it('[MCP-36] [MCP-39] each legacy method answers without members of the modern leg', async () => {
    const answers = {
      ping: await result('ping'),
      tools: await result('tools/list'),
      call: await result('tools/call', { name: 'service_look', arguments: {} }),
      resources: await result('resources/list'),
      next: await result('resources/list', { cursor: 'second' }),
      templates: await result('resources/templates/list'),
      read: await result('resources/read', { uri: 'relay://icons' }),
      prompts: await result('prompts/list'),
      prompt: await result('prompts/get', { name: 'recipe', arguments: { docId: 'd' } }),
      completion: await result('completion/complete', {
        ref: { type: 'ref/prompt', name: 'recipe' },
        argument: { name: 'docId', value: 'd' },
      }),
      level: await result('logging/setLevel', { level: 'debug' }),
      subscribed: await result('resources/subscribe', { uri: 'relay://icons' }, await session()),
      unsubscribed: await result('resources/unsubscribe', { uri: 'relay://icons' }, await session()),
    }
    expect(answers).toMatchObject({
      ping: {},
      tools: { tools: [{ name: 'service_look' }, {}, {}, {}, {}] },
      resources: { nextCursor: 'second', resources: [{ uri: 'relay://icons' }] },
      next: { resources: [{ uri: 'relay://doc/1' }] },
      templates: { resourceTemplates: [{ uriTemplate: 'relay://doc/{id}' }] },
      read: { contents: [{ uri: 'relay://icons', text: '{}' }] },
      prompts: { prompts: [{ name: 'recipe' }] },
      prompt: { messages: [{ content: { text: 'cook d' } }] },
      completion: { completion: { values: ['d!'] } },
      level: {},
      subscribed: {},
      unsubscribed: {},
    })
    for (const answer of Object.values(answers))
      for (const member of ['resultType', 'ttlMs', 'cacheScope', '_meta']) expect(answer).not.toHaveProperty(member)
  })

  it('[MCP-36] an unknown JSON-RPC method answers 200 with -32601', async () => {
    for (const method of ['server/info', 'roots/list', 'sampling/createMessage', 'toString', 'constructor', '__proto__', ''])
      expect(await code(method)).toEqual([200, -32_601])
  })

  it.each([
    ['tools/call', {}],
    ['tools/call', undefined],
    ['tools/call', { name: 5 }],
    ['tools/call', { name: 'service_look', arguments: [] }],
    ['tools/call', { name: 'service_look', arguments: 'x' }],
    ['tools/call', { name: 'toString' }],
    ['tools/list', { cursor: 'x' }],
    ['tools/list', { cursor: 5 }],
    ['resources/list', { cursor: 'x' }],
    ['prompts/list', { cursor: 'x' }],
    ['resources/templates/list', { cursor: 'x' }],
    ['resources/read', {}],
    ['prompts/get', { name: 'none' }],
    ['prompts/get', { name: 'recipe' }],
    ['prompts/get', { name: 'recipe', arguments: [] }],
    ['completion/complete', {}],
    ['completion/complete', { ref: { type: 'ref/other' }, argument: { name: 'a', value: '' } }],
    ['completion/complete', { ref: { type: 'ref/prompt' }, argument: { name: 'a' } }],
    ['logging/setLevel', { level: 'loud' }],
    ['logging/setLevel', {}],
    ['resources/subscribe', { uri: 'relay://icons' }],
  ])('[MCP-61] %s with %j answers 200 with -32602', async (method, params) => {
    expect(await code(method, params)).toEqual([200, -32_602])
  })

  it('[MCP-61] an unknown tool is answered with the most similar name', async () => {
    const { json } = await relay.send(legacy('tools/call', { name: 'service_lok' }))
    expect(json.error).toMatchObject({ code: -32_602, message: expect.stringContaining('service_look') })
  })

  it('[MCP-53] a refusal by a tool is a result, not a JSON-RPC error', async () => {
    const { json } = await relay.send(legacy('tools/call', { name: 'service_refuses' }))
    expect(json).toMatchObject({ result: { isError: true, structuredContent: { code: 'ERR_LAST_PAGE' } } })
  })

  it('[MCP-61] a missing resource answers -32002', async () => {
    expect(await code('resources/read', { uri: 'relay://doc/none' })).toEqual([200, -32_002])
    const { json } = await relay.send(legacy('resources/subscribe', { uri: 'relay://doc/none' }, { headers: await session() }))
    expect(json.error?.code).toBe(-32_002)
  })

  it('[MCP-61] [OPS-8] an unexpected error answers -32603 with an incident id only, and the log has the details', async () => {
    for (const request of [
      legacy('tools/call', { name: 'service_broken' }),
      legacy('resources/read', { uri: 'relay://broken' }),
      legacy('resources/read', { uri: 'relay://vanished' }),
    ]) {
      const { status, json, text } = await relay.send(request)
      expect([status, json.error?.code, Object.keys(json.error?.data ?? {})]).toEqual([200, -32_603, ['incident']])
      expect(text).not.toContain('secret')
      expect(relay.logLines.join('\n')).toContain(String(json.error?.data?.['incident']))
    }
  })

  it('[TOOL-10] [TOOL-11] URL and header select the toolsets of a request; an unknown toolset answers -32602', async () => {
    const viewOf = async (path: string, headers: Record<string, string> = {}) => {
      await relay.send({ ...look, path, headers })
      return relay.tools.calls.at(-1)?.context.view
    }
    expect(await viewOf('/mcp')).toEqual({ toolsets: null, readonly: false, extra: true })
    expect(await viewOf('/mcp?toolsets=read,%20prose')).toEqual({ toolsets: ['read', 'prose'], readonly: false, extra: true })
    expect(await viewOf('/mcp?readonly=1', { 'x-mcp-toolsets': 'diagram' })).toEqual({
      toolsets: ['diagram'],
      readonly: true,
      extra: true,
    })
    expect(await viewOf('/mcp?toolsets=read', { 'x-mcp-toolsets': 'nonsense' })).toEqual({
      toolsets: ['read'],
      readonly: false,
      extra: true,
    })
    expect(await viewOf('/mcp?extra=0')).toEqual({ toolsets: null, readonly: false, extra: false })
    // A `toolsets` parameter without a value does not override the header.
    for (const nothing of ['', ',', '%20', '&toolsets=read'])
      expect(await viewOf(`/mcp?toolsets=${nothing}`, { 'x-mcp-toolsets': 'read' })).toMatchObject({ toolsets: ['read'] })
    for (const method of ['tools/list', 'tools/call']) {
      const { status, json } = await relay.send(legacy(method, { name: 'service_look' }, { path: '/mcp?toolsets=read,all' }))
      expect([status, json.error]).toMatchObject([200, { code: -32_602, message: expect.stringContaining('citations') }])
    }
    expect((await relay.send(legacy('ping', {}, { path: '/mcp?toolsets=nonsense' }))).json.result).toEqual({})
  })

  it('[TOOL-10] [TOOL-11] readonly and extra in the URL are read in each spelling; other values answer -32602', async () => {
    const viewOf = async (query: string) => {
      const { json } = await relay.send({ ...look, path: `/mcp?${query}` })
      return json.error?.code ?? relay.tools.calls.at(-1)?.context.view
    }
    for (const word of ['1', 'true', 'TRUE', '1%20', '0&readonly=1'])
      expect(await viewOf(`readonly=${word}`)).toMatchObject({ readonly: true })
    for (const word of ['0', 'false']) expect(await viewOf(`readonly=${word}`)).toMatchObject({ readonly: false })
    for (const word of ['0', 'False', '1&extra=0']) expect(await viewOf(`extra=${word}`)).toMatchObject({ extra: false })
    for (const word of ['yes', 'on', '2', ''])
      for (const name of ['readonly', 'extra']) expect(await viewOf(`${name}=${word}`)).toBe(-32_602)
    expect((await relay.send(legacy('tools/list', {}, { path: '/mcp?readonly=yes' }))).json.error?.message).toBe(
      'The address says readonly="yes"; readonly is 1, true, 0 or false.',
    )
  })
})
