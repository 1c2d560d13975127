import fc from 'fast-check'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type McpRelay, startMcpRelay, STATIC_TOKEN } from './testing/mcp-relay.ts'
import { EVENTS, legacy } from './testing/requests.ts'

let relay: McpRelay
beforeAll(async () => {
  relay = await startMcpRelay()
})
afterAll(() => relay[Symbol.asyncDispose]())

const text = fc.string({ maxLength: 12 })
const method = fc.oneof(
  fc.constantFrom(
    ...[
      'initialize',
      'ping',
      'tools/list',
      'resources/list',
      'resources/templates/list',
      'resources/read',
      'resources/subscribe',
    ],
    ...['resources/unsubscribe', 'prompts/list', 'prompts/get', 'completion/complete', 'logging/setLevel', 'server/discover'],
    ...['toString', '__proto__', 'notifications/cancelled', 'notifications/initialized', ''],
  ),
  text,
)
const key = (name: string) => `io.modelcontextprotocol/${name}`
const meta = fc.record(
  {
    [key('protocolVersion')]: fc.oneof(fc.constantFrom('2026-07-28', '2025-11-25'), fc.jsonValue()),
    [key('clientCapabilities')]: fc.oneof(fc.constant({}), fc.jsonValue()),
    [key('clientInfo')]: fc.jsonValue(),
    progressToken: fc.jsonValue(),
  },
  { requiredKeys: [] },
)
const params = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      _meta: fc.oneof(meta, fc.jsonValue()),
      name: fc.oneof(text, fc.jsonValue()),
      uri: fc.oneof(fc.constant('relay://icons'), fc.jsonValue()),
      cursor: fc.jsonValue(),
      arguments: fc.jsonValue(),
      ref: fc.jsonValue(),
      argument: fc.jsonValue(),
      level: fc.oneof(fc.constant('info'), fc.jsonValue()),
      requestId: fc.jsonValue(),
      protocolVersion: fc.jsonValue(),
      clientInfo: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
)
const headerText = fc.stringMatching(/^[ -~]{0,12}$/)
const headers = fc.record(
  {
    'mcp-protocol-version': fc.oneof(fc.constantFrom('2026-07-28', '2025-06-18'), headerText),
    'mcp-method': fc.oneof(fc.constantFrom('tools/list', 'ping'), headerText),
    'mcp-name': fc.oneof(fc.constantFrom('=?base64?AA==?=', 'relay://icons'), headerText),
    'mcp-session-id': headerText,
    'x-mcp-toolsets': headerText,
    accept: fc.oneof(fc.constantFrom(EVENTS, 'application/json'), headerText),
  },
  { requiredKeys: [] },
)
const id = fc.oneof(fc.integer(), text)

it('[MCP-8] [MCP-10] [MCP-11] [OPS-8] any JSON message is answered with its id and without an unexpected error', async () => {
  const message = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ jsonrpc: fc.constant('2.0'), id, method, params }, { requiredKeys: ['jsonrpc', 'id', 'method'] }),
    },
    fc.record({ jsonrpc: fc.constant('2.0'), method, params }, { requiredKeys: ['jsonrpc', 'method'] }),
    fc.jsonValue(),
  )
  await fc.assert(
    fc.asyncProperty(message, headers, async (body, sent) => {
      const answer = await relay.send({ bearer: STATIC_TOKEN, body: JSON.stringify(body), headers: sent })
      expect([200, 202, 400, 404]).toContain(answer.status)
      if (answer.status === 202) {
        expect(answer.text).toBe('')
        return
      }
      const { id: told, error, result } = answer.json
      expect((error === undefined) !== (result === undefined)).toBe(true)
      const request = body as { readonly jsonrpc?: unknown; readonly id?: unknown; readonly method?: unknown }
      if (request?.jsonrpc === '2.0' && request.method !== undefined) expect(told).toBe(request.id)
    }),
    { seed: 20_261_121, numRuns: 1_500 },
  )
  expect(relay.logLines.filter((line) => line.includes('unexpected'))).toEqual([])
})

it('[MCP-8] [X24] bytes that are not HTTP and bodies that end early leave the endpoint working', async () => {
  const port = Number(new URL(relay.urls.local).port)
  const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${STATIC_TOKEN}\r\n`
  for (const bytes of [
    'NONSENSE\r\n\r\n',
    `${head}Content-Length: 100\r\n\r\n{"jsonrpc"`,
    `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    `${head}Content-Length: -1\r\n\r\n`,
    `${head}Host: evil.example\r\nContent-Length: 0\r\n\r\n`,
    'POST http://evil.example/mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n',
    'POST /mcp HTTP/1.0\r\n\r\n',
  ]) {
    const answer = await new Promise<string>((resolve) => {
      let heard = ''
      const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
      socket.on('data', (chunk) => {
        heard += chunk
      })
      socket.on('error', () => undefined)
      socket.on('close', () => resolve(heard))
      setTimeout(() => socket.destroy(), 100)
    })
    expect(answer).not.toMatch(/^HTTP\/1\.1 [25]/)
  }
  expect((await relay.send(legacy('ping'))).json.result).toEqual({})
  expect(relay.logLines.filter((line) => line.includes('unexpected'))).toEqual([])
})
