import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type McpRelay, type OpenStream, startMcpRelay, STATIC_TOKEN } from './testing/mcp-relay.ts'
import { EVENTS, legacy, modern } from './testing/requests.ts'

let relay: McpRelay
beforeEach(async () => {
  relay = await startMcpRelay()
})
afterEach(() => relay[Symbol.asyncDispose]())

const ICONS = 'relay://icons'
const ID = { 'io.modelcontextprotocol/subscriptionId': 'm1' }
const session = async () => ({ 'mcp-session-id': String((await relay.send(legacy('initialize', {}))).headers['mcp-session-id']) })
const subscribe = (uri: string, headers: Record<string, string>) =>
  relay.send(legacy('resources/subscribe', { uri }, { headers }))
const get = (headers: Record<string, string> = {}, bearer?: string) =>
  relay.stream({ method: 'GET', headers, ...(bearer !== undefined && { bearer }) })
const listen = (notifications: unknown, headers: Record<string, string> = {}) =>
  relay.stream(modern('subscriptions/listen', { notifications }, { headers }))

describe('GET', () => {
  it('[MCP-37] GET opens a stream whatever its Accept header is, with a comment at once and every 15 s', async () => {
    for (const accept of ['application/json', '*/*', EVENTS]) {
      const stream = await get({ accept })
      expect([stream.status, stream.headers['content-type'], stream.headers['cache-control']]).toEqual([200, EVENTS, 'no-cache'])
      await stream.until(':\n\n')
      await relay.time.advance(14_999)
      expect(stream.text).toBe(':\n\n')
      await relay.time.advance(1)
      await stream.until(':\n\n:\n\n')
      stream.close()
    }
  })

  it('[MCP-37] a GET stream carries list changes and the subscriptions of its session, older and newer ones', async () => {
    const headers = await session()
    await subscribe(ICONS, headers)
    const stream = await get(headers)
    await subscribe('relay://doc/1', headers)
    for (const uri of [ICONS, 'relay://doc/1', 'relay://doc/2']) relay.content.change(uri)
    relay.content.changeList()
    await stream.until('list_changed')
    expect(stream.messages).toEqual([
      { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: ICONS } },
      { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'relay://doc/1' } },
      { jsonrpc: '2.0', method: 'notifications/resources/list_changed', params: {} },
    ])
    await relay.send(legacy('resources/unsubscribe', { uri: ICONS }, { headers }))
    relay.content.change(ICONS)
    relay.content.change('relay://doc/1')
    await expect.poll(() => stream.messages.length).toBe(4)
    expect(stream.messages.at(-1)?.params).toEqual({ uri: 'relay://doc/1' })
  })

  it('[MCP-37] GET without a session is kept open and carries nothing', async () => {
    const stream = await get()
    expect([stream.status, relay.content.watches]).toEqual([200, 0])
  })

  it('[MCP-37] a newer GET of a session replaces the older one', async () => {
    const headers = await session()
    await subscribe(ICONS, headers)
    const older = await get(headers)
    const newer = await get(headers)
    await older.ended
    relay.content.change(ICONS)
    await newer.until('updated')
    expect([older.messages, newer.messages.length, relay.content.watches]).toEqual([[], 1, 1])
  })

  it('[MCP-37] a client that disconnects leaves no stream behind', async () => {
    const stream = await get(await session())
    expect(relay.content.watches).toBe(1)
    stream.close()
    await expect.poll(() => relay.content.watches).toBe(0)
    await expect.poll(() => relay.time.waiting()).toBe(0)
  })

  it('[MCP-38] a principal has at most 16 streams; a replacing stream and other principals are not refused', async () => {
    const headers = await session()
    const streams: OpenStream[] = [await get(headers)]
    for (let i = 1; i < 16; i++) streams.push(await get())
    expect(streams.map(({ status }) => status)).toEqual(Array(16).fill(200))
    const refused = await get()
    await refused.ended
    expect([refused.status, refused.headers['content-type']]).toEqual([429, 'text/plain'])
    expect((await get(headers)).status).toBe(200)
    expect((await get({}, relay.issuer.token({ sub: 'ben' }))).status).toBe(200)
    streams[5]?.close()
    await expect.poll(async () => (await get()).status).toBe(200)
  })

  it('[MCP-38] a session has at most 100 subscriptions, not counting repeats', async () => {
    const headers = await session()
    for (let i = 0; i < 100; i++) expect((await subscribe(`relay://doc/${i}`, headers)).status).toBe(200)
    expect((await subscribe('relay://doc/5', headers)).status).toBe(200)
    const refused = await subscribe(ICONS, headers)
    expect([refused.status, refused.json.error]).toMatchObject([429, { code: 429, data: { limit: 100 } }])
  })
})

describe('subscriptions/listen', () => {
  it('[MCP-50] [MCP-51] listen acknowledges the filters it accepts, then sends only matching messages, each with its id', async () => {
    for (const accept of ['application/json', EVENTS]) {
      const stream = await listen(
        { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: [ICONS, 'relay://doc/none', ICONS] },
        { accept },
      )
      expect([stream.status, stream.headers['content-type']]).toEqual([200, EVENTS])
      await stream.until('acknowledged')
      for (const uri of ['relay://doc/1', ICONS]) relay.content.change(uri)
      relay.content.changeList()
      await stream.until('updated')
      expect(stream.messages).toEqual([
        {
          jsonrpc: '2.0',
          method: 'notifications/subscriptions/acknowledged',
          params: { notifications: { resourceSubscriptions: [ICONS] }, _meta: ID },
        },
        { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: ICONS, _meta: ID } },
      ])
      stream.close()
    }
  })

  it('[MCP-51] list changes go to a listener that asked for them', async () => {
    const stream = await listen({ resourcesListChanged: true })
    await stream.until('acknowledged')
    relay.content.changeList()
    await stream.until('list_changed')
    expect(stream.messages.map(({ params }) => params)).toEqual([
      { notifications: { resourcesListChanged: true }, _meta: ID },
      { _meta: ID },
    ])
  })

  it('[MCP-51] at most 100 URIs are accepted', async () => {
    const stream = await listen({ resourceSubscriptions: Array.from({ length: 150 }, (_, i) => `relay://doc/${i}`) })
    await stream.until('acknowledged')
    const honoured = stream.messages[0]?.params?.['notifications'] as { resourceSubscriptions: string[] }
    expect([honoured.resourceSubscriptions.length, honoured.resourceSubscriptions[99]]).toEqual([100, 'relay://doc/99'])
  })

  it('[MCP-61] a filter that is not an object answers -32602', async () => {
    const answer = await relay.send(modern('subscriptions/listen', { notifications: [] }))
    expect([answer.status, answer.json.error?.code]).toEqual([200, -32_602])
  })

  it('[MCP-50] a client that disconnects before the acknowledgement leaves nothing behind', async () => {
    const { begun, release } = relay.content.holdLooks()
    const caller = new AbortController()
    const { headers, body } = modern('subscriptions/listen', { notifications: { resourceSubscriptions: [ICONS] } })
    const left = fetch(relay.urls.local, {
      method: 'POST',
      headers: {
        ...(headers as Record<string, string>),
        authorization: `Bearer ${STATIC_TOKEN}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
      signal: caller.signal,
    }).catch(() => 'left')
    await begun
    caller.abort()
    expect(await left).toBe('left')
    await relay.send(legacy('ping'))
    release()
    await relay.send(legacy('ping'))
    await expect.poll(() => [relay.content.watches, relay.time.waiting()]).toEqual([0, 0])
  })

  it('[MCP-52] listen sends a comment every 15 s, and its result at shutdown; GET streams end then too', async () => {
    const [stream, plain] = [await listen({}), await get()]
    await relay.time.advance(15_000)
    await stream.until(':\n\n')
    relay.draining = true
    relay.drain()
    await Promise.all([stream.ended, plain.ended])
    const _meta = { ...ID, 'io.modelcontextprotocol/serverInfo': { name: 'docrelay', version: '1.2.3' } }
    expect(stream.messages.at(-1)).toEqual({ jsonrpc: '2.0', id: 'm1', result: { resultType: 'complete', _meta } })
    expect(plain.text).toBe(':\n\n:\n\n')
    await Promise.all(relay.servers.map((server) => server.finishRequests()))
  })

  it('[MCP-52] one principal has at most 16 listeners', async () => {
    for (let i = 0; i < 16; i++) expect((await listen({})).status).toBe(200)
    const refused = await relay.send(modern('subscriptions/listen', { notifications: {} }, { headers: { accept: EVENTS } }))
    expect([refused.status, refused.json.error?.data]).toEqual([429, { limit: 16 }])
  })

  it('[MCP-52] [MCP-38] a listener above the limit is refused before its resources are read', async () => {
    for (let i = 0; i < 16; i++) expect((await listen({})).status).toBe(200)
    const { begun, release } = relay.content.holdLooks()
    const asked = relay.send(modern('subscriptions/listen', { notifications: { resourceSubscriptions: [ICONS] } }))
    const first = await Promise.race([asked.then(({ status }) => status), begun.then(() => 'looked')])
    release()
    await asked
    expect(first).toBe(429)
  })

  it('[MCP-52] [MCP-38] a listener counts while its resources are read, and no longer once its filter is refused', async () => {
    for (let i = 0; i < 17; i++)
      expect((await relay.send(modern('subscriptions/listen', { notifications: [] }))).json.error?.code).toBe(-32_602)
    const { release } = relay.content.holdLooks()
    const listeners = Array.from({ length: 17 }, () => listen({ resourceSubscriptions: [ICONS] }))
    expect((await Promise.race(listeners)).status).toBe(429)
    release()
    const statuses = (await Promise.all(listeners)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(16)
  })

  it('[MCP-38] [MCP-52] GET streams and listeners count together', async () => {
    for (let i = 0; i < 8; i++) expect([(await get()).status, (await listen({})).status]).toEqual([200, 200])
    const get17 = await get()
    await get17.ended
    const refused = await relay.send(modern('subscriptions/listen', { notifications: {} }))
    expect([get17.status, refused.status]).toEqual([429, 429])
  })
})

describe('the credential of an open stream', () => {
  it('[MCP-28] a stream ends within 5 s of the expiry of its token', async () => {
    const bearer = relay.issuer.token({ sub: 'short', expiresInSec: 40 })
    const [stream, listening] = [await get({}, bearer), await relay.stream(modern('subscriptions/listen', {}, { bearer }))]
    await relay.time.advance(39_000)
    await expect.poll(() => stream.text).toBe(':\n\n:\n\n:\n\n')
    await relay.time.advance(6_000)
    await Promise.all([stream.ended, listening.ended])
  })

  it('[MCP-28] a stream ends within 5 s of the revocation of its token; streams of other tokens stay', async () => {
    const [revoked, other] = [await get({}, relay.issuer.token({ jti: 'r1' })), await get()]
    const listening = await relay.stream(modern('subscriptions/listen', {}, { bearer: relay.issuer.token({ jti: 'r1' }) }))
    relay.revoked.add('r1')
    await relay.time.advance(5_000)
    await Promise.all([revoked.ended, listening.ended])
    await relay.time.advance(10_000)
    await other.until(':\n\n:\n\n')
  })
})
