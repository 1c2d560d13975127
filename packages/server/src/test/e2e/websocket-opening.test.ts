import { connect as connectTcp } from 'node:net'
import { TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'
import { metric, openWire, rawUpgrade } from '../wire-client.ts'

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

describe('opening a socket', () => {
  let relay: RelayUnderTest
  beforeAll(async () => {
    relay = await startRelayUnderTest({
      env: {
        RELAY_CORS_ORIGINS: 'https://app.example',
        RELAY_REGION: 'eu',
        RELAY_AUTH_TIMEOUT_SECS: '1',
        RELAY_MAX_UNAUTHENTICATED_SOCKETS: '3',
      },
    })
  })
  afterAll(() => relay?.[Symbol.asyncDispose]())

  it('[WS-2] 426 is a complete HTTP answer that names both versions', async () => {
    const answer = await rawUpgrade(relay, '/ws?protocolVersion=5.0')
    expect(answer.line).toMatch(/^HTTP\/1\.1 426 /)
    expect(answer.headers['upgrade']).toBe('websocket')
    expect(answer.headers['connection']?.toLowerCase().split(/, */)).toContain('upgrade')
    expect(answer.headers['content-type']).toBe('text/plain')
    expect(Number(answer.headers['content-length'])).toBe(answer.body.length)
    expect(answer.body).toMatch(/^ERR_PROTOCOL_VERSION_MISMATCH:.*5\.0.*4\.2/)
  })

  it('[REST-9] [REST-10] [REST-11] a refused upgrade is answered with a request id, nosniff and CORS headers', async () => {
    for (const [path, more] of [
      ['/ws?protocolVersion=5.0', {}],
      ['/nowhere', {}],
      ['/ws', { Authorization: 'Basic x' }],
    ] as const) {
      const own = { 'X-Request-Id': 'Mine.1_2-3', Origin: 'https://app.example', ...more }
      const { status, headers } = await rawUpgrade(relay, path, own)
      expect(status).toBeGreaterThanOrEqual(400)
      expect(headers).toMatchObject({
        'x-request-id': 'Mine.1_2-3',
        'x-content-type-options': 'nosniff',
        'access-control-allow-origin': 'https://app.example',
        vary: 'Origin',
      })
    }
    const { headers } = await rawUpgrade(relay, '/nowhere', { 'X-Request-Id': 'not one' })
    expect(headers['x-request-id']).toMatch(/^req-/)
    expect(headers['access-control-allow-origin']).toBeUndefined()
  })

  it('[WS-2] a hostile version header cannot inject text into the answer', async () => {
    const answer = await rawUpgrade(relay, `/ws?protocolVersion=%0d%0aX-Injected:1%0d%0a%0d%0a${'9'.repeat(200)}`)
    expect(answer.status).toBe(426)
    expect(answer.headers['x-injected']).toBeUndefined()
    expect(answer.body.length).toBeLessThan(200)
  })

  it.each([
    ['one', 'one'],
    ['relay.v4, other', 'relay.v4'],
    ['same, same', 'same'],
    ['a, b, a', 'a'],
    ['eyJhbGciOiJSUzI1NiJ9.e30.c2ln, x', 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln'],
  ])('[WS-3] an offer of subprotocols %j is answered with exactly its first value and no extension', async (offer, first) => {
    const answer = await rawUpgrade(relay, '/ws', {
      'Sec-WebSocket-Protocol': offer,
      'Sec-WebSocket-Extensions': 'permessage-deflate; client_max_window_bits',
    })
    expect(answer.status).toBe(101)
    expect(answer.headers['sec-websocket-protocol']).toBe(first)
    expect(answer.headers['sec-websocket-extensions']).toBeUndefined()
    expect(answer.headers['sec-websocket-accept']).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
  })

  it('[WS-3] without an offer no subprotocol is sent, and an offered one is never logged', async () => {
    expect((await rawUpgrade(relay, '/ws')).headers['sec-websocket-protocol']).toBeUndefined()
    await rawUpgrade(relay, '/ws?token=in-the-query', { 'Sec-WebSocket-Protocol': 'planted-subprotocol' })
    expect(relay.logLines.join('\n')).not.toMatch(/planted-subprotocol|in-the-query/)
  })

  it('[WS-4] an Origin outside the list answers 403; a missing or listed one passes', async () => {
    expect((await rawUpgrade(relay, '/ws', { Origin: 'https://evil.example' })).status).toBe(403)
    expect((await rawUpgrade(relay, '/ws', { Origin: 'null' })).status).toBe(403)
    expect((await rawUpgrade(relay, '/ws', { Origin: 'https://app.example' })).status).toBe(101)
  })

  it('[WS-5] [AUTH-1] [AUTH-2] a bad bearer answers 400 or 401 over HTTP with the members of a REST error', async () => {
    const malformed = await rawUpgrade(relay, '/ws', bearer('not-a-jwt'))
    expect([malformed.status, JSON.parse(malformed.body).errorCode]).toEqual([400, 'TOKEN_MALFORMED'])
    const expired = await rawUpgrade(relay, '/ws', bearer(relay.token({ region: 'eu', expiresInSec: -1 })))
    expect(expired.status).toBe(401)
    expect(expired.headers['www-authenticate']).toBe('Bearer error="invalid_token"')
    expect(expired.headers['content-type']).toBe('application/json')
    expect(await metric(relay, 'relay_auth_failures_total', { reason: 'token malformed' })).toBe(1)
    expect(await metric(relay, 'relay_auth_failures_total', { reason: 'token expired' })).toBe(1)
    const basic = await rawUpgrade(relay, '/ws', { Authorization: 'Basic eDp5' })
    expect([basic.status, basic.headers['www-authenticate']]).toEqual([401, 'Bearer'])
  })

  it('[WS-5] [AUTH-6] [AUTH-8] a bearer of another region or workspace answers 403, without details in dedicated tenancy', async () => {
    expect((await rawUpgrade(relay, '/ws', bearer(relay.token({ region: 'us' })))).status).toBe(403)
    expect((await rawUpgrade(relay, '/ws', bearer(relay.token()))).status).toBe(403)
    for (const [path, token] of [
      ['/ws', relay.token({ region: 'eu', workspace: 'elsewhere' })],
      ['/ws?workspace=elsewhere', relay.token({ region: 'eu' })],
    ] as const) {
      const answer = await rawUpgrade(relay, path, bearer(token))
      expect([answer.status, answer.body]).toEqual([403, 'forbidden'])
      expect(answer.headers['content-type']).toMatch(/^text\/plain/)
    }
  })

  it('[WS-5] with a valid bearer AUTH_RESPONSE is the first frame, and the scheme matches in any case', async () => {
    const client = await openWire(relay, { headers: { Authorization: `bEaReR ${relay.token({ region: 'eu', sub: 'bo' })}` } })
    client.join('no-such-document')
    await client.next(TAG.error)
    expect(client.tags()).toEqual([TAG.authResponse, TAG.error])
    expect(client.jsonOf(TAG.authResponse)).toEqual([
      { success: true, userId: 'bo', username: 'bo', role: 'owner', maxMessageSize: 262_144 },
    ])
    client.socket.close()
  })

  it('[AUTH-8] [WS-60] AUTH with a token of another region answers forbidden and closes with 4403', async () => {
    const client = await openWire(relay)
    client.auth(relay.token({ region: 'us' }))
    expect(await client.nextJson(TAG.authResponse)).toEqual({ success: false, error: 'forbidden' })
    expect(await client.closed).toEqual({ code: 4403, reason: 'forbidden' })
  })

  it('[WS-6] [WS-7] [WS-58] unauthenticated sockets are limited, and closed with 4408 whatever they send', async () => {
    await until(
      'earlier sockets to be gone',
      async () => (await metric(relay, 'relay_ws_connections', { role: 'unauthenticated' })) === 0,
    )
    const waiting = await Promise.all([1, 2, 3].map(() => openWire(relay)))
    const refused = await rawUpgrade(relay, '/ws')
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1'])
    expect((await rawUpgrade(relay, '/ws', bearer(relay.token({ region: 'eu' })))).status).toBe(101)
    const chatter = setInterval(() => waiting[0]?.send(TAG.heartbeat), 100)
    const closes = await Promise.all(waiting.map(({ closed }) => closed))
    clearInterval(chatter)
    expect(closes).toEqual(Array(3).fill({ code: 4408, reason: 'auth-timeout' }))
    expect(waiting[0]?.of(TAG.heartbeat).length).toBeGreaterThan(3)
    expect((await rawUpgrade(relay, '/ws')).status).toBe(101)
    await until('three closes', async () => (await metric(relay, 'relay_ws_closes_total', { code: '4408' })) >= 3)
  })

  it('[WS-6] a socket that closes before AUTH frees its place at once, also when it never answers the close frame', async () => {
    const half = connectTcp(Number(new URL(relay.baseUrl).port), '127.0.0.1')
    await new Promise((resolve) => half.once('connect', resolve))
    half.write(
      'GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    )
    await new Promise((resolve) => half.once('data', resolve))
    half.write(Buffer.from([0x88, 0x80, 1, 2, 3, 4]))
    await until(
      'the place to be free',
      async () => (await metric(relay, 'relay_ws_connections', { role: 'unauthenticated' })) === 0,
      800,
    )
    half.destroy()
  })

  it('[WS-13] [WS-58] a frame above the cap, chunk headers excluded, closes with 1009 before and after AUTH and is counted', async () => {
    const before = await metric(relay, 'relay_ws_closes_total', { code: '1009' })
    const early = await openWire(relay)
    early.send(TAG.awareness, Buffer.alloc(262_144))
    expect(await early.closed).toEqual({ code: 1009, reason: 'frame-too-large' })
    const late = await openWire(relay)
    late.auth(relay.token({ region: 'eu' }))
    await late.next(TAG.authResponse)
    late.sendChunk(1, 0, 1, Buffer.alloc(262_144))
    late.send(Buffer.alloc(262_144, TAG.awareness))
    await late.settled()
    // Larger than anything that the frame parser accepts.
    late.sendChunk(2, 0, 1, Buffer.alloc(262_145))
    expect(await late.closed).toEqual({ code: 1009, reason: 'frame-too-large' })
    await until('both closes', async () => (await metric(relay, 'relay_ws_closes_total', { code: '1009' })) === before + 2)
  })
})
