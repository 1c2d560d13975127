import { connect } from 'node:net'
import { TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../../kernel/log.ts'
import { type Bench, startBench } from '../testing/gateway-bench.ts'

describe('opening a socket', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await startBench({ settings: { corsOrigins: ['https://app.example'], region: 'eu' } })
  })
  afterAll(() => bench[Symbol.asyncDispose]())

  it('[WS-1] the upgrade ignores unknown query members and doc', async () => {
    const client = await bench.open('?doc=some-document&colour=blue&protocolVersion=4')
    client.auth(bench.issuer.token({ region: 'eu' }))
    expect(await client.nextJson(TAG.authResponse)).toMatchObject({ success: true })
    expect(bench.workers.of('open')).toEqual([])
  })

  it('[WS-1] an upgrade on another path is refused', async () => {
    const answer = await rawUpgrade(bench.port, '/wsx')
    expect(answer).toMatch(/^HTTP\/1\.1 404 /)
  })

  it.each(['', '?protocolVersion=4', '?protocolVersion=4.0', '?protocolVersion=4.17'])(
    '[WS-2] the upgrade accepts the version %j',
    async (query) => {
      const client = await bench.open(query)
      expect(client.socket.readyState).toBe(client.socket.OPEN)
    },
  )

  it.each(['3', '5', '4.', '4.x', '', '04'])('[WS-2] the upgrade answers 426 to the version %j', async (version) => {
    const { status, headers, body } = await bench.refused(`?protocolVersion=${version}`)
    expect(status).toBe(426)
    expect(headers['upgrade']).toBe('websocket')
    expect(headers['content-type']).toBe('text/plain')
    expect(body.startsWith('ERR_PROTOCOL_VERSION_MISMATCH:')).toBe(true)
    expect(body).toContain('4.2')
    expect(body).toContain(version)
  })

  it('[WS-3] the upgrade echoes the first offered subprotocol, none without an offer, and negotiates no extension', async () => {
    const offered = await bench.open('', {}, ['first', 'second'])
    expect(offered.socket.protocol).toBe('first')
    expect(offered.socket.extensions).toBe('')
    const plain = await bench.open()
    expect(plain.socket.protocol).toBe('')
  })

  it('[WS-4] an Origin outside the allowed list answers 403; a listed or missing Origin passes', async () => {
    expect((await bench.refused('', { origin: 'https://evil.example' })).status).toBe(403)
    await bench.open('', { origin: 'https://app.example' })
    await bench.open()
  })

  it('[WS-5] a valid bearer in the upgrade header authenticates the socket, and AUTH_RESPONSE is its first frame', async () => {
    const client = await bench.open('', bearer(bench.issuer.token({ region: 'eu', sub: 'bob', role: 'member' })))
    client.send(TAG.heartbeat)
    expect(await client.nextJson(TAG.authResponse)).toEqual({
      success: true,
      userId: 'bob',
      username: 'bob',
      role: 'member',
      maxMessageSize: 262_144,
    })
    client.join('nothing-here')
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_UNKNOWN_DOC' })
  })

  it('[WS-5] [AUTH-2] an invalid bearer in the upgrade header is refused over HTTP', async () => {
    expect((await bench.refused('', bearer('not-a-token'))).status).toBe(400)
    const expired = await bench.refused('', bearer(bench.issuer.token({ region: 'eu', expiresInSec: -5 })))
    expect(expired.status).toBe(401)
    expect(expired.headers['www-authenticate']).toBe('Bearer error="invalid_token"')
    expect(JSON.parse(expired.body)).toMatchObject({ errorCode: 'TOKEN_INVALID', reason: 'token expired' })
    expect((await bench.refused('', { headers: { Authorization: 'Basic eA==' } })).status).toBe(401)
  })

  it('[AUTH-10] [REST-14] an upgrade with a bearer while there are no keys answers 401 with a retry time', async () => {
    await using keyless = await startBench({
      deps: { verifyToken: async () => ({ kind: 'refused', reason: 'jwks unavailable' }) },
    })
    const { status, headers, body } = await keyless.refused('', bearer(bench.issuer.token()))
    expect([status, headers['retry-after']]).toEqual([401, '5'])
    expect(JSON.parse(body)).toEqual({
      error: expect.stringContaining('jwks unavailable'),
      errorCode: 'JWKS_UNAVAILABLE',
      retryAfterMs: 5_000,
    })
  })

  it('[REST-14] [WS-5] an upgrade whose bearer cannot be checked now answers 503 with a retry time', async () => {
    await using silent = await startBench({ deps: { verifyToken: () => Promise.reject(new Error('no answer')) } })
    const { status, headers, body } = await silent.refused('', bearer(bench.issuer.token()))
    expect([status, headers['retry-after']]).toEqual([503, '1'])
    expect(JSON.parse(body)).toMatchObject({ errorCode: 'UNAVAILABLE', retryAfterMs: 1_000 })
  })

  it('[AUTH-8] [AUTH-6] a bearer of another region or workspace answers 403', async () => {
    expect((await bench.refused('', bearer(bench.issuer.token({ region: 'us' })))).status).toBe(403)
    expect((await bench.refused('', bearer(bench.issuer.token()))).status).toBe(403)
    const foreign = await bench.refused('', bearer(bench.issuer.token({ region: 'eu', workspace: 'other' })))
    expect(foreign).toMatchObject({ status: 403, body: 'forbidden' })
    expect((await bench.refused('?workspace=other', bearer(bench.issuer.token({ region: 'eu' })))).status).toBe(403)
  })

  it('[AUTH-8] [WS-16] AUTH with a token of another region closes with 4403', async () => {
    const client = await bench.open()
    client.auth(bench.issuer.token({ region: 'us' }))
    expect(await client.nextJson(TAG.authResponse)).toEqual({ success: false, error: 'forbidden' })
    expect(await client.closed).toEqual({ code: 4403, reason: 'forbidden' })
  })
})

describe('bounds before AUTH', () => {
  it('[WS-6] at the bound of unauthenticated sockets only an upgrade with a bearer passes, and others answer 503', async () => {
    await using bench = await startBench({ settings: { maxUnauthenticatedSockets: 2 } })
    const first = await bench.open()
    await bench.open()
    const { status, headers, body } = await bench.refused()
    expect(status).toBe(503)
    expect(headers['retry-after']).toBe('1')
    expect(JSON.parse(body)).toMatchObject({ errorCode: 'UNAVAILABLE', retryAfterMs: 1_000 })
    await bench.open('', bearer(bench.issuer.token()))
    first.auth(bench.issuer.token())
    await first.next(TAG.authResponse)
    await bench.open()
  })

  const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } })

  it('[WS-6] a client of another address connects while one address holds its full share of sockets', async () => {
    await using bench = await startBench({ settings: { maxUnauthenticatedSockets: 30 } })
    for (let i = 0; i < 16; i++) await bench.open('', from('203.0.113.1'))
    const { status, headers } = await bench.refused('', from('203.0.113.1'))
    expect([status, headers['retry-after']]).toEqual([503, '1'])
    const other = await bench.open('', from('203.0.113.2'))
    other.auth(bench.issuer.token())
    expect(await other.nextJson(TAG.authResponse)).toMatchObject({ success: true })
  })

  it('[WS-6] when all places are taken, a new address closes the oldest socket of the address that holds most', async () => {
    await using bench = await startBench({ settings: { maxUnauthenticatedSockets: 40 } })
    const oldest = await bench.open('', from('2001:db8:0:1::1'))
    for (let i = 2; i <= 21; i++) await bench.open('', from(`2001:db8:0:1::${i}`))
    for (let i = 0; i < 19; i++) await bench.open()
    await bench.open('', from('203.0.113.2'))
    expect(await oldest.closed).toEqual({ code: 4408, reason: 'auth-timeout' })
    expect(bench.gateway.sessions.unauthenticated).toBe(40)
  })

  it('[WS-6] X-Forwarded-For of an untrusted peer is ignored: the socket counts for the address of the peer', async () => {
    await using bench = await startBench({ settings: { maxUnauthenticatedSockets: 30, trustedProxies: [] } })
    for (let i = 0; i < 16; i++) await bench.open()
    expect((await bench.refused()).status).toBe(503)
  })

  it('[CFG-7] X-Forwarded-For of an untrusted peer logs one warning', async () => {
    const warned: string[] = []
    const log = { ...silentLogger, warn: (event: string) => void warned.push(event) }
    await using bench = await startBench({ settings: { trustedProxies: [] }, deps: { log } })
    for (let i = 0; i < 3; i++) await bench.open()
    expect(warned).toEqual(['ws.proxy_not_trusted'])
  })

  it('[WS-6] closing an unauthenticated socket frees its place', async () => {
    await using bench = await startBench({ settings: { maxUnauthenticatedSockets: 1 } })
    const first = await bench.open()
    first.socket.close()
    await first.closed
    // The client's end of a socket may close before the gateway's end.
    while (!bench.gateway.sessions.all().next().done) await new Promise((resolve) => setTimeout(resolve, 2))
    await bench.open()
  })

  it('[WS-7] a socket that sends other frames but no valid AUTH is closed with 4408', async () => {
    await using bench = await startBench({ settings: { authTimeoutMs: 300 } })
    const client = await bench.open()
    const sending = setInterval(() => client.send(TAG.heartbeat), 50)
    expect(await client.closed).toEqual({ code: 4408, reason: 'auth-timeout' })
    clearInterval(sending)
  })

  it('[WS-7] the AUTH timeout waits for a token check that is running', async () => {
    let finish: () => void = () => {}
    const bench = await startBench({
      settings: { authTimeoutMs: 200 },
      deps: {
        verifyToken: () =>
          new Promise((resolve) => {
            finish = () => resolve({ kind: 'refused', reason: 'bad signature' })
          }),
      },
    })
    const client = await bench.open()
    client.auth('slow')
    await new Promise((resolve) => setTimeout(resolve, 700))
    expect(client.socket.readyState).toBe(client.socket.OPEN)
    finish()
    expect(await client.closed).toMatchObject({ code: 4401 })
    await bench[Symbol.asyncDispose]()
  })
})

function bearer(token: string): { headers: { Authorization: string } } {
  return { headers: { Authorization: `bearer ${token}` } }
}

function rawUpgrade(port: number, path: string): Promise<string> {
  const head = [
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ]
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () =>
      socket.write([`GET ${path} HTTP/1.1`, 'Host: localhost', ...head, '', ''].join('\r\n')),
    )
    socket.on('data', (part: Buffer) => (text += part.toString()))
    socket.on('close', () => resolve(text))
  })
}
