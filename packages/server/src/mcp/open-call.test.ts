import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemRandom } from '../kernel/ids.ts'
import type { EndpointCaller } from './credentials.ts'
import type { Exchange, RpcResponder } from './exchange.ts'
import type { RequestContext } from './methods.ts'
import { openCall } from './open-call.ts'
import { newSession } from './sessions.ts'
import { type McpRelay, startMcpRelay } from './testing/mcp-relay.ts'
import { EVENTS, legacy, META, modern } from './testing/requests.ts'
import type { JsonObject, ToolServer } from './tool.ts'

/** A tool server that uses abilities of the endpoint which no tool of the relay uses. */
const talkative: ToolServer = {
  toolsets: [],
  list: () => [],
  find: () => ({ kind: 'known', bucket: 'read', tokens: 1 }),
  async call(name, args, given) {
    const context = given as RequestContext
    if (name === 'pause') await wait(Number(args['ms']))
    if (name === 'log') for (const level of ['debug', 'info', 'error'] as const) context.log(level, `at ${level}`)
    if (name === 'ask') return { content: [], answer: await context.ask('sampling/createMessage', { maxTokens: 1 }) }
    if (name === 'input')
      return { resultType: 'input_required', requestState: 'opaque', inputRequests: {}, given: context.params['requestState'] }
    return { content: [], isError: false }
  },
}

let relay: McpRelay
beforeAll(async () => {
  relay = await startMcpRelay({ tools: talkative, timeouts: { headersMs: 15_000, stallMs: 200 } })
})
afterAll(() => relay[Symbol.asyncDispose]())

const session = async () => ({ 'mcp-session-id': String((await relay.send(legacy('initialize', {}))).headers['mcp-session-id']) })
const levels = (messages: readonly { readonly params?: JsonObject }[]) =>
  messages.flatMap(({ params }) => params?.['level'] ?? [])

describe('log messages', () => {
  it('[MCP-58] [MCP-31] a session gets log messages of its level and above, only with event framing', async () => {
    const headers = { ...(await session()), accept: EVENTS }
    const call = legacy('tools/call', { name: 'log' }, { headers })
    expect(levels((await relay.send(call)).messages)).toEqual(['info', 'error'])
    await relay.send(legacy('logging/setLevel', { level: 'warning' }, { headers }))
    expect(levels((await relay.send(call)).messages)).toEqual(['error'])
    expect((await relay.send({ ...call, headers: { ...headers, accept: 'application/json' } })).text).not.toContain('at error')
  })

  it('[MCP-58] [MCP-48] on the modern leg a request that names a log level gets log messages', async () => {
    const log = (meta: JsonObject) =>
      relay.send(modern('tools/call', { name: 'log' }, { meta: { ...META, ...meta }, headers: { accept: EVENTS } }))
    expect(levels((await log({})).messages)).toEqual([])
    expect(levels((await log({ 'io.modelcontextprotocol/logLevel': 'debug' })).messages)).toEqual(['debug', 'info', 'error'])
  })
})

describe('asking the client', () => {
  it('[MCP-58] [MCP-10] a question goes out on the stream of the call and is answered by a POST of the session', async () => {
    const headers = { ...(await session()), accept: EVENTS }
    const stream = await relay.stream(legacy('tools/call', { name: 'ask' }, { headers }))
    await stream.until('sampling/createMessage')
    const id = stream.messages[0]?.id
    const answer = { jsonrpc: '2.0', id, result: { text: 'yes' } }
    // An answer POSTed without the session, or in another session, does not answer the question.
    for (const other of [{}, await session()]) expect((await relay.send({ body: answer, headers: other })).status).toBe(202)
    expect(stream.messages).toHaveLength(1)
    expect((await relay.send({ body: answer, headers })).status).toBe(202)
    await stream.ended
    expect(stream.messages.at(-1)).toMatchObject({ id: 1, result: { answer: { text: 'yes' } } })
    expect((await relay.send({ body: answer, headers })).status).toBe(202)
  })

  it('[MCP-58] a question fails without a client that can answer, and when the client refuses', async () => {
    for (const headers of [{ accept: EVENTS }, await session()])
      expect((await relay.send(legacy('tools/call', { name: 'ask' }, { headers }))).json.error?.code).toBe(-32_602)
    const headers = { ...(await session()), accept: EVENTS }
    const stream = await relay.stream(legacy('tools/call', { name: 'ask' }, { headers }))
    await stream.until('sampling/createMessage')
    await relay.send({ body: { jsonrpc: '2.0', id: stream.messages[0]?.id, error: { code: -1, message: 'no' } }, headers })
    await stream.ended
    expect(stream.messages.at(-1)?.error?.message).toContain('refused')
  })
})

it('[MCP-58] [MCP-47] a result may ask for input, and its state comes back with the answer', async () => {
  const { json } = await relay.send(modern('tools/call', { name: 'input', requestState: 'opaque' }))
  expect(json.result).toMatchObject({ resultType: 'input_required', requestState: 'opaque', given: 'opaque' })
})

it('[MCP-14] a call without events may take longer than the stall limit of connections', async () => {
  const pause = legacy('tools/call', { name: 'pause', arguments: { ms: 700 } }, { headers: { accept: 'application/json' } })
  expect((await relay.send(pause)).status).toBe(200)
})

it('[MCP-31] [AG-15] a request refused for its address is not listed among the running requests of its session', () => {
  const session = newSession(
    's',
    { key: 'k', principalKey: 'k', workspaceId: 'w' },
    { version: '2025-11-25', clientName: null },
    null,
  )
  const open = (address: string) =>
    openCall({
      request: { kind: 'request', id: address, method: 'tools/call', params: {} },
      exchange: { query: new URLSearchParams(address), header: () => undefined, incoming: { socket: {} } } as unknown as Exchange,
      caller: { access: {}, isStatic: false } as EndpointCaller,
      era: 'legacy',
      session,
      responder: {} as RpcResponder,
      random: systemRandom,
      toolsets: [],
      streams: { wait: () => null },
    })
  for (const address of ['ids=none', 'toolsets=none']) expect(() => open(address)).toThrow('none')
  expect(session.running.size).toBe(0)
  const call = open('ids=bare')
  expect(session.running.size).toBe(1)
  call[Symbol.dispose]()
  expect(session.running.size).toBe(0)
})

it('[PRES-2] a client name is cut to 64 characters', async () => {
  const names: unknown[] = []
  const spy = {
    ...talkative,
    call: async (_: string, __: JsonObject, context: { readonly clientName: unknown }) => (names.push(context.clientName), {}),
  }
  await using other = await startMcpRelay({ tools: spy })
  const call = async (clientInfo: unknown) => {
    const { headers } = await other.send(legacy('initialize', { clientInfo }))
    await other.send(legacy('tools/call', { name: 'x' }, { headers: { 'mcp-session-id': String(headers['mcp-session-id']) } }))
  }
  for (const info of [{ name: ` ${'🍮'.repeat(100)}` }, { title: '  ', name: 'n' }, { name: 5 }, 'x', { title: 'T', name: 'n' }])
    await call(info)
  expect(names).toEqual(['🍮'.repeat(64), 'n', null, null, 'T'])
})
