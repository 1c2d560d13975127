import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { INSTRUCTIONS, type McpRelay, startMcpRelay } from './testing/mcp-relay.ts'
import { legacy, META, modern } from './testing/requests.ts'

let relay: McpRelay
beforeAll(async () => {
  relay = await startMcpRelay()
})
afterAll(() => relay[Symbol.asyncDispose]())

const look = { name: 'service_look' }
const SERVER = { 'io.modelcontextprotocol/serverInfo': { name: 'docrelay', version: '1.2.3' } }

describe('which leg a request is on', () => {
  it('[MCP-40] a request is modern by its version in _meta, its header, or one of the two modern methods', async () => {
    const byMeta = await relay.send(legacy('tools/list', { _meta: META }))
    const byHeader = await relay.send(legacy('tools/list', {}, { headers: { 'mcp-protocol-version': '2026-07-28' } }))
    const byMethod = await relay.send(legacy('server/discover'))
    const listening = await relay.send(legacy('subscriptions/listen'))
    // Each of the four requests lacks something that the modern leg requires, so each gets an error of that leg.
    expect([byMeta, byHeader, byMethod, listening].map(({ status, json }) => [status, json.error?.code])).toEqual([
      [400, -32_020],
      [400, -32_602],
      [400, -32_602],
      [400, -32_602],
    ])
    expect((await relay.send(legacy('tools/list', { _meta: { progressToken: 1 } }))).status).toBe(200)
  })
})

describe('requirements for a modern request', () => {
  const outcome = async (...args: Parameters<typeof modern>) => {
    const { status, json } = await relay.send(modern(...args))
    expect(json.id).toBe('m1')
    return [status, json.error?.code]
  }

  it.each([
    ['nothing', null],
    ['text', 'x'],
    ['no version', { 'io.modelcontextprotocol/clientCapabilities': {} }],
    ['no capabilities', { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }],
    ['a version that is no text', { ...META, 'io.modelcontextprotocol/protocolVersion': 5 }],
    ['capabilities that are no object', { ...META, 'io.modelcontextprotocol/clientCapabilities': true }],
  ])('[MCP-41] %s in _meta answers 400 with -32602', async (_, meta) => {
    expect(await outcome('tools/list', {}, { meta })).toEqual([400, -32_602])
  })

  it('[MCP-41] a request without clientInfo is accepted', async () => {
    const { 'io.modelcontextprotocol/clientInfo': _, ...meta } = META
    expect((await relay.send(modern('tools/call', look, { meta }))).json.result).toMatchObject({ isError: false })
    expect(relay.tools.calls.at(-1)?.context.clientName).toBeNull()
    await relay.send(modern('tools/call', look))
    expect(relay.tools.calls.at(-1)?.context.clientName).toBe('tester')
  })

  it('[MCP-42] each required header must be present and agree with the body', async () => {
    const read = { uri: 'relay://icons' }
    const prompt = { name: 'recipe', arguments: { docId: 'd' } }
    for (const [method, params, header] of [
      ['tools/list', {}, 'mcp-protocol-version'],
      ['tools/list', {}, 'mcp-method'],
      ['tools/call', look, 'mcp-method'],
      ['tools/call', look, 'mcp-name'],
      ['resources/read', read, 'mcp-name'],
      ['prompts/get', prompt, 'mcp-name'],
    ] as const) {
      expect([header, ...(await outcome(method, params, { headers: { [header]: undefined } }))]).toEqual([header, 400, -32_020])
      expect([header, ...(await outcome(method, params, { headers: { [header]: 'other' } }))]).toEqual([header, 400, -32_020])
      expect([header, ...(await outcome(method, params))]).toEqual([header, 200, undefined])
    }
  })

  it('[MCP-43] header names match in any case; values match exactly, apart from spaces and tabs around them', async () => {
    const headers = {
      'mcp-method': undefined,
      'MCP-METHOD': ' \ttools/call\t ',
      'mcp-name': undefined,
      'Mcp-NAME': '  service_look ',
    }
    expect(await outcome('tools/call', look, { headers })).toEqual([200, undefined])
    expect(await outcome('tools/call', look, { headers: { 'mcp-method': 'Tools/Call' } })).toEqual([400, -32_020])
    expect(await outcome('tools/call', look, { headers: { 'mcp-name': 'Service_look' } })).toEqual([400, -32_020])
    expect(await outcome('tools/call', look, { headers: { 'mcp-param-docid': 'x' } })).toEqual([200, undefined])
  })

  it.each([
    [`=?base64?${Buffer.from('service_look').toString('base64')}?=`, 200],
    [` =?base64?${Buffer.from('service_look').toString('base64')}?=\t`, 200],
    [`=?base64?${Buffer.from('service_loom').toString('base64')}?=`, 400],
    ['=?base64?c2Vydmlj ZV9sb29r?=', 400],
    ['=?base64?c2VydmljZV9sb29rXw?=', 400],
    ['=?base64?!!!!?=', 400],
    ['=?base64?/w==?=', 400],
    ['=?Base64?c2VydmljZV9sb29r?=', 400],
  ])('[MCP-43] Mcp-Name %j answers %i', async (name, status) => {
    expect(await outcome('tools/call', look, { headers: { 'mcp-name': name } })).toEqual([
      status,
      status === 200 ? undefined : -32_020,
    ])
  })

  it('[MCP-43] a name with non-ASCII characters is compared as text', async () => {
    const name = 'crème 🍮'
    const headers = { 'mcp-name': `=?base64?${Buffer.from(name).toString('base64')}?=` }
    const { json } = await relay.send(modern('tools/call', { name }, { headers }))
    expect(json.error?.code).toBe(-32_602)
  })

  it('[MCP-44] an unsupported version is answered with the supported one, after the headers are checked', async () => {
    for (const version of ['2025-11-25', '2027-01-01', '']) {
      const meta = { ...META, 'io.modelcontextprotocol/protocolVersion': version }
      const { status, json } = await relay.send(modern('tools/list', {}, { meta, headers: { 'mcp-protocol-version': version } }))
      expect([status, json]).toMatchObject([
        400,
        { id: 'm1', error: { code: -32_022, data: { supported: ['2026-07-28'], requested: version } } },
      ])
      expect(await outcome('tools/list', {}, { meta })).toEqual([400, -32_020])
    }
  })

  it('[MCP-45] a method unknown to this leg answers 404 with -32601', async () => {
    for (const method of [
      'initialize',
      'ping',
      'logging/setLevel',
      'resources/subscribe',
      'resources/unsubscribe',
      'no/such',
      'toString',
    ])
      expect([method, ...(await outcome(method))]).toEqual([method, 404, -32_601])
  })
})

describe('results', () => {
  const result = async (...args: Parameters<typeof modern>) => (await relay.send(modern(...args))).json.result

  it('[MCP-46] [MCP-47] [MCP-49] server/discover answers capabilities that may be cached', async () => {
    expect(await result('server/discover')).toEqual({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {}, resources: { subscribe: true, listChanged: true }, prompts: {}, completions: {} },
      instructions: INSTRUCTIONS,
      ttlMs: 300_000,
      cacheScope: 'public',
      resultType: 'complete',
      _meta: SERVER,
    })
  })

  it.each([
    ['prompts/list', {}, 300_000, 'public'],
    ['resources/templates/list', {}, 300_000, 'public'],
    ['tools/list', {}, 300_000, 'private'],
    ['resources/list', {}, 0, 'private'],
    ['resources/read', { uri: 'relay://icons' }, 3_600_000, 'public'],
    ['resources/read', { uri: 'relay://doc/1' }, 0, 'private'],
    ['tools/call', look, undefined, undefined],
    ['prompts/get', { name: 'recipe', arguments: { docId: 'd' } }, undefined, undefined],
    ['completion/complete', { ref: { type: 'ref/prompt' }, argument: { name: 'a', value: '' } }, undefined, undefined],
  ])(
    '[MCP-47] [MCP-49] the answer to %s of %j is complete and may be cached %j, %j',
    async (method, params, ttlMs, cacheScope) => {
      const answer = await result(method, params)
      expect(answer).toMatchObject({ resultType: 'complete', _meta: SERVER })
      expect([answer?.['ttlMs'], answer?.['cacheScope']]).toEqual([ttlMs, cacheScope])
    },
  )

  it('[MCP-48] session ids are ignored, even those of closed sessions', async () => {
    const { headers } = await relay.send(legacy('initialize', {}))
    const closed = String(headers['mcp-session-id'])
    await relay.send({ method: 'DELETE', headers: { 'mcp-session-id': closed } })
    for (const id of [closed, 'unknown']) {
      const answer = await relay.send(modern('tools/call', look, { headers: { 'mcp-session-id': id, 'last-event-id': '5' } }))
      expect([answer.status, answer.headers['mcp-session-id']]).toEqual([200, undefined])
    }
  })

  it('[MCP-61] wrong arguments answer 200, a missing resource -32602 with its URI', async () => {
    const { status, json } = await relay.send(modern('resources/read', { uri: 'relay://doc/none' }))
    expect([status, json.error]).toMatchObject([200, { code: -32_602, data: { uri: 'relay://doc/none' } }])
    for (const [method, params] of [
      ['tools/call', { name: 'none' }],
      ['tools/call', { name: 'service_look', arguments: 5 }],
      ['tools/list', { cursor: 'x' }],
      ['prompts/get', { name: 'none' }],
    ] as const) {
      const answer = await relay.send(modern(method, params))
      expect([answer.status, answer.json.error?.code]).toEqual([200, -32_602])
    }
  })

  it('[MCP-53] a refusal by a tool is a result, not a JSON-RPC error', async () => {
    expect(await result('tools/call', { name: 'service_refuses' })).toMatchObject({ isError: true, resultType: 'complete' })
  })
})
