import { jsonFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Bench, headOf, startBench } from '../testing/gateway-bench.ts'
import { stopwatch } from '../../kernel/testing/patience.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import type { TestClient } from '../testing/test-client.ts'

describe('AUTH', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await startBench({ settings: { maxConnectionsPerWorkspace: null } })
    bench.store.put(headOf('doc'))
  })
  afterAll(() => bench[Symbol.asyncDispose]())

  it('[WS-9] [WS-15] AUTH accepts a token as a string and as an object', async () => {
    const plain = await bench.open()
    plain.auth(bench.issuer.token({ sub: 'bob', role: 'viewer' }))
    const base = { success: true, userId: 'bob', username: 'bob', role: 'viewer', maxMessageSize: 262_144 }
    expect(await plain.nextJson(TAG.authResponse)).toEqual(base)
    const object = await bench.open()
    const token = bench.issuer.token({ sub: 'bob', role: 'viewer', expiresInSec: 100 })
    object.send(jsonFrame(TAG.auth, { token, features: ['ack', 'teleport'], colour: 'blue' }))
    const response = await object.nextJson(TAG.authResponse)
    expect(response).toEqual({
      ...base,
      features: ['ack'],
      tokenExpiresAt: expect.any(Number),
      workspaceId: 'default',
      protocol: '4.2',
    })
    expect(Math.abs(Number(response['tokenExpiresAt']) - Date.now() - 100_000)).toBeLessThan(3_000)
  })

  it.each([
    ['invalid JSON', Buffer.from('{'), 'token malformed'],
    ['a number', Buffer.from('7'), 'token malformed'],
    ['an object without token', Buffer.from('{"features":[]}'), 'token malformed'],
    ['features that are not a list', Buffer.from('{"token":"x","features":"ack"}'), 'token malformed'],
    ['a string that is not a JWT', Buffer.from('"abc"'), 'token malformed'],
  ])('[WS-16] [WS-60] AUTH with %s gets AUTH_RESPONSE and a close with 4401', async (_name, payload, error) => {
    const client = await bench.open()
    client.send(TAG.auth, payload)
    expect(await client.nextJson(TAG.authResponse)).toEqual({ success: false, error })
    expect(await client.closed).toEqual({ code: 4401, reason: 'token-invalid' })
  })

  it.each([
    ['token expired', { expiresInSec: -1 }, 'token-expired'],
    ['token issued in the future', { claims: { iat: Math.floor(Date.now() / 1000) + 600 } }, 'token-invalid'],
    ['issuer mismatch', { claims: { iss: 'https://other.example' } }, 'token-invalid'],
    ['audience mismatch', { claims: { aud: 'other' } }, 'token-invalid'],
    ['missing claim sub', { claims: { sub: undefined } }, 'token-invalid'],
  ] as const)('[WS-60] [WS-58] AUTH answers the error text: %s', async (error, options, word) => {
    const client = await bench.open()
    client.auth(bench.issuer.token(options))
    expect(await client.nextJson(TAG.authResponse)).toEqual({ success: false, error })
    expect(await client.closed).toEqual({ code: 4401, reason: word })
  })

  it('[WS-60] AUTH with a revoked token closes with 4401 token-revoked', async () => {
    bench.revoked.add('gone')
    const client = await bench.open()
    client.auth(bench.issuer.token({ jti: 'gone' }))
    expect(await client.nextJson(TAG.authResponse)).toEqual({ success: false, error: 'token revoked' })
    expect(await client.closed).toEqual({ code: 4401, reason: 'token-revoked' })
  })

  it('[WS-60] AUTH with a token of another workspace answers forbidden and closes with 4403', async () => {
    const client = await bench.open()
    client.auth(bench.issuer.token({ workspace: 'other' }))
    expect(await client.nextJson(TAG.authResponse)).toEqual({ success: false, error: 'forbidden' })
    expect(await client.closed).toEqual({ code: 4403, reason: 'forbidden' })
  })

  it('[WS-18] AUTH again with a token of the same caller replaces the token; any other token is answered with its error and the socket stays open', async () => {
    const client = await bench.authed({ sub: 'cat' })
    const renew = async (token: string): Promise<Record<string, unknown>> => {
      client.auth(token)
      return client.nextJson(TAG.authResponse)
    }
    expect(await renew(bench.issuer.token({ sub: 'dog' }))).toEqual({ success: false, error: 'forbidden' })
    expect(await renew('rubbish')).toEqual({ success: false, error: 'token malformed' })
    expect(await renew(bench.issuer.token({ sub: 'cat', expiresInSec: -1 }))).toEqual({ success: false, error: 'token expired' })
    expect(await renew(bench.issuer.token({ sub: 'cat', role: 'member' }))).toMatchObject({ success: true, role: 'member' })
    expect(client.socket.readyState).toBe(client.socket.OPEN)
  })

  it('[WS-18] [WS-20] after a renewal the new exp decides when the socket closes', async () => {
    const exp = Math.floor(Date.now() / 1_000) + 3
    const client = await bench.authed({ sub: 'cat', claims: { exp } })
    client.auth(bench.issuer.token({ sub: 'cat', expiresInSec: 100 }))
    await client.next(TAG.authResponse)
    await new Promise((resolve) => setTimeout(resolve, exp * 1_000 - Date.now() + 300))
    await client.settled()
    expect(client.socket.readyState).toBe(client.socket.OPEN)
  })

  it('[WS-19] a renewal changes the role at once and adds features', async () => {
    const client = await bench.joined('doc', { sub: 'ann', role: 'member' })
    client.auth(bench.issuer.token({ sub: 'ann', role: 'viewer' }), ['ack'])
    expect(await client.nextJson(TAG.authResponse)).toMatchObject({ success: true, role: 'viewer', features: ['ack'] })
    client.send(TAG.sync, 2, 2, 0, 0)
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_EDIT_FORBIDDEN', frame: 1 })
    expect(bench.workers.of('rights').at(-1)).toMatchObject({ canWrite: false })
    client.auth(bench.issuer.token({ sub: 'ann', role: 'member' }))
    await client.next(TAG.authResponse)
    expect(bench.workers.of('rights').at(-1)).toMatchObject({ canWrite: true })
  })

  it('[WS-20] [K11] an expired token closes its socket within 1 s with 4401', async () => {
    const client = await bench.authed({ expiresInSec: 1 })
    // The token expires after 1 s, and the relay notices within another second.
    const took = stopwatch()
    expect(await client.closed).toEqual({ code: 4401, reason: 'token-expired' })
    expect(took()).toBeLessThan(2_000)
  })

  it('[WS-20] [K11] a revoked jti closes its socket within 1 s, and later writes have no effect', async () => {
    const client = await bench.joined('doc', { jti: 'live-one' })
    const syncs = bench.workers.of('sync').length
    bench.revoked.add('live-one')
    const took = stopwatch()
    client.send(TAG.sync, 2, 2, 0, 0)
    expect(await client.closed).toEqual({ code: 4401, reason: 'token-revoked' })
    expect(took()).toBeLessThan(1_000)
    expect(bench.workers.of('sync').length).toBe(syncs)
    const idle = await bench.authed({ jti: 'idle-one' })
    bench.revoked.add('idle-one')
    expect(await idle.closed).toEqual({ code: 4401, reason: 'token-revoked' })
  })
})

describe('caps', () => {
  it('[WS-17] the cap of connections is checked before the cap of editors, and viewers take no editor seat', async () => {
    await using bench = await startBench({
      settings: {
        maxConnectionsPerWorkspace: 3,
        configuredLimits: { storageQuotaBytes: null, maxDocBytes: null, maxEditorsPerWorkspace: 1 },
      },
    })
    const editor = await bench.authed({ role: 'member' })
    const second = await bench.open()
    second.auth(bench.issuer.token({ role: 'owner' }))
    expect(await second.nextJson(TAG.authResponse)).toEqual({ success: false, error: 'ERR_EDITOR_LIMIT' })
    expect(await second.closed).toEqual({ code: 4409, reason: 'editor-limit' })
    await bench.authed({ role: 'viewer' })
    await bench.authed({ role: 'viewer' })
    const fourth = await bench.open()
    fourth.auth(bench.issuer.token({ role: 'member' }))
    expect(await fourth.nextJson(TAG.authResponse)).toEqual({ success: false, error: 'ERR_WORKSPACE_CONNECTION_LIMIT' })
    expect(await fourth.closed).toEqual({ code: 4409, reason: 'connection-limit' })
    // A repeated AUTH of a connection does not count the connection again.
    editor.auth(bench.issuer.token({ role: 'member' }))
    expect(await editor.nextJson(TAG.authResponse)).toMatchObject({ success: true })
    expect(bench.gateway.metrics().counters.capRejections).toEqual({ connections: 1, editors: 1 })
  })

  it('[WS-19] a downgrade to viewer frees the editor seat, and an upgrade without a free seat is refused', async () => {
    await using bench = await startBench({
      settings: { configuredLimits: { storageQuotaBytes: null, maxDocBytes: null, maxEditorsPerWorkspace: 1 } },
    })
    const first = await bench.authed({ sub: 'ann', role: 'member' })
    first.auth(bench.issuer.token({ sub: 'ann', role: 'viewer' }))
    expect(await first.nextJson(TAG.authResponse)).toMatchObject({ success: true, role: 'viewer' })
    await bench.authed({ sub: 'bob', role: 'member' })
    first.auth(bench.issuer.token({ sub: 'ann', role: 'member' }))
    expect(await first.nextJson(TAG.authResponse)).toEqual({ success: false, error: 'ERR_EDITOR_LIMIT' })
    expect(first.socket.readyState).toBe(first.socket.OPEN)
    expect(bench.gateway.metrics().connections).toMatchObject({ member: 1, viewer: 1 })
  })

  it('[WS-5] [WS-16] a bearer in the upgrade header above a cap gets AUTH_RESPONSE with the reason and is closed with 4409', async () => {
    await using bench = await startBench({ settings: { maxConnectionsPerWorkspace: 1 } })
    await bench.authed()
    const client = await bench.open('', { headers: { Authorization: `Bearer ${bench.issuer.token()}` } })
    expect(await client.nextJson(TAG.authResponse)).toEqual({ success: false, error: 'ERR_WORKSPACE_CONNECTION_LIMIT' })
    expect(await client.closed).toMatchObject({ code: 4409 })
  })

  it('[WS-15] [WS-17] R-11: of 20 simultaneous AUTHs exactly the cap succeed, and ended sockets free their seats', async () => {
    await using bench = await startBench({ settings: { maxConnectionsPerWorkspace: 5 } })
    const clients = await Promise.all(Array.from({ length: 20 }, () => bench.open()))
    const token = bench.issuer.token()
    for (const client of clients) client.auth(token)
    const answers = await Promise.all(clients.map((client) => client.nextJson(TAG.authResponse)))
    const inside = clients.filter((_, at) => answers[at]?.['success'] === true)
    expect(inside).toHaveLength(5)
    for (const client of inside) client.socket.terminate()
    const isSeated = (): boolean => [...bench.gateway.sessions.all()].some(({ state }) => state.kind === 'authenticated')
    while (isSeated()) await new Promise((resolve) => setTimeout(resolve, 2))
    await Promise.all(Array.from({ length: 5 }, () => bench.authed()))
  })

  it('[WS-60] AUTH closes with 1012 while storage fails, and with 1012 keys while the keys are unusable', async () => {
    await using broken = await startBench({ deps: { verifyToken: () => Promise.reject(new Error('no storage')) } })
    const client = await broken.open()
    client.auth('any')
    expect(await client.nextJson(TAG.authResponse)).toEqual({ success: false, error: 'temporarily unavailable' })
    expect(await client.closed).toEqual({ code: 1012, reason: expect.stringMatching(/^unavailable;retry-after=\d+$/) })
    await using stale = await startBench({ deps: { verifyToken: async () => ({ kind: 'refused', reason: 'jwks unavailable' }) } })
    const other = await stale.open()
    other.auth('any')
    expect(await other.nextJson(TAG.authResponse)).toEqual({ success: false, error: 'jwks unavailable' })
    const { code, reason } = await other.closed
    expect(code).toBe(1012)
    const retryAfter = Number(/^keys;retry-after=(\d+)$/.exec(reason)?.[1])
    expect(retryAfter).toBeGreaterThanOrEqual(250)
    expect(retryAfter).toBeLessThanOrEqual(5_000)
  })

  it('[AUTH-6] [AUTH-7] in shared tenancy the query or else the first entry of the token names the workspace', async () => {
    await using bench = await startBench({ settings: { tenancy: { mode: 'shared' } } })
    const wsp = [
      { id: 'one', role: 'owner' },
      { id: 'two', role: 'viewer' },
    ]
    const workspaceOf = async (query: string): Promise<unknown> => {
      const client = await bench.open(query)
      client.auth(bench.issuer.token({ wsp }), [])
      return client.nextJson(TAG.authResponse)
    }
    expect(await workspaceOf('')).toMatchObject({ workspaceId: 'one', role: 'owner' })
    expect(await workspaceOf('?workspace=two')).toMatchObject({ workspaceId: 'two', role: 'viewer' })
    expect(await workspaceOf('?workspace=three')).toEqual({ success: false, error: 'forbidden' })
  })
})

describe('repeatedly refused AUTHs', () => {
  const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } })

  /** A bench with a manual clock, whose only editor seat is taken. */
  async function refusing() {
    const time = manualTime(Date.now())
    const limits = { storageQuotaBytes: null, maxEditorsPerWorkspace: 1, maxDocBytes: null }
    const bench = await startBench({ deps: time, settings: { configuredLimits: limits, maxConnectionsPerWorkspace: null } })
    const clients = [await bench.authed({ sub: 'seated' })]
    const knock = async (address: string, sub = 'bob') => {
      const client = await bench.open('', from(address))
      clients.push(client)
      client.auth(bench.issuer.token({ sub }))
      expect(await client.nextJson(TAG.authResponse)).toEqual({ success: false, error: 'ERR_EDITOR_LIMIT' })
      return client
    }
    const end = async () => {
      for (const { socket } of clients) socket.terminate()
      while (!bench.gateway.sessions.all().next().done) await new Promise((resolve) => setTimeout(resolve, 2))
      await bench[Symbol.asyncDispose]()
    }
    return { bench, time, knock, end }
  }
  const isOpen = async (client: TestClient): Promise<boolean> => {
    client.send(TAG.heartbeat)
    return Promise.race([client.next(TAG.heartbeat).then(() => true), client.closed.then(() => false)])
  }

  it('[WS-16] refused AUTHs are answered at once, and repeated refusals close the socket 0.5, 1 and 2 s later', async () => {
    const { time, knock, end } = await refusing()
    expect(await (await knock('203.0.113.1')).closed).toEqual({ code: 4409, reason: 'editor-limit' })
    for (const waitMs of [500, 1_000, 2_000]) {
      const client = await knock('203.0.113.1')
      await time.advance(waitMs - 50)
      expect(await isOpen(client)).toBe(true)
      await time.advance(50)
      expect(await client.closed).toEqual({ code: 4409, reason: 'editor-limit' })
    }
    expect((await (await knock('203.0.113.2')).closed).code).toBe(4409)
    expect((await (await knock('203.0.113.1', 'eve')).closed).code).toBe(4409)
    await end()
  })

  it('[WS-16] at most four refused sockets of an address wait for their close, and nothing they send is handled', async () => {
    const { bench, time, knock, end } = await refusing()
    await (await knock('203.0.113.1')).closed
    const waiting = []
    for (let i = 0; i < 4; i++) waiting.push(await knock('203.0.113.1'))
    await (await knock('203.0.113.1')).closed
    const [first] = waiting as [TestClient]
    first.auth(bench.issuer.token({ sub: 'bob', role: 'viewer' }))
    first.join('doc')
    expect(await isOpen(first)).toBe(true)
    expect(first.frames.map((frame) => frame[0])).toEqual([TAG.authResponse, TAG.heartbeat])
    expect(bench.gateway.sessions.unauthenticated).toBe(4)
    await time.advance(10_000)
    await Promise.all(waiting.map(({ closed }) => closed))
    expect(bench.gateway.sessions.unauthenticated).toBe(0)
    await end()
  })
})
