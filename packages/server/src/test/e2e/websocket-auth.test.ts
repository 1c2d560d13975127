import { TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TokenOptions } from '../../auth/testing/test-issuer.ts'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'
import { metric, type OpenOptions, openWire, pause, storedKeys, type WireClient } from '../wire-client.ts'
import { stopwatch } from '../../kernel/testing/patience.ts'

let relay: RelayUnderTest
beforeAll(async () => {
  const seats = { RELAY_TENANCY_MODE: 'shared', RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '3' }
  relay = await startRelayUnderTest({ env: { ...seats, RELAY_TRUSTED_PROXIES: '127.0.0.0/8' } })
})
afterAll(() => relay?.[Symbol.asyncDispose]())

let addresses = 0
/** Opens a socket with a client address of its own, so that its refusal is the first of that address. */
function openFrom(at: RelayUnderTest, options: OpenOptions = {}): Promise<WireClient> {
  const headers = { 'X-Forwarded-For': `198.51.100.${++addresses}`, ...options.headers }
  return openWire(at, { ...options, headers })
}

let workspaces = 0
/** Returns the name of a new workspace, so that tests do not share seats. */
const workspace = () => `w${++workspaces}`

async function signedIn(options: TokenOptions, features?: readonly string[]): Promise<WireClient> {
  const client = await openFrom(relay)
  client.auth(relay.token(options), features)
  await client.next(TAG.authResponse)
  return client
}

const answers = (client: WireClient) => client.jsonOf(TAG.authResponse)

async function end(...clients: WireClient[]): Promise<void> {
  for (const client of clients) client.socket.close()
  await Promise.all(clients.map(({ closed }) => closed))
}

async function revoke(jti: string): Promise<void> {
  const answer = await relay.fetch('/api/v1/internal/revoke', {
    method: 'POST',
    headers: { authorization: 'Bearer revocation-secret-for-tests', 'content-type': 'application/json' },
    body: JSON.stringify({ revocations: [{ jti, revoked_at: new Date().toISOString() }] }),
  })
  expect(answer.status).toBe(204)
}

describe('AUTH', () => {
  it('[WS-9] [WS-15] AUTH in either form is answered with exactly the documented members', async () => {
    const id = workspace()
    const expSec = Math.floor(Date.now() / 1000) + 500
    const token = relay.token({ sub: 'ann', role: 'member', workspace: id, claims: { exp: expSec } })
    const [text, object] = await Promise.all([openFrom(relay), openFrom(relay)])
    text.auth(token)
    object.auth(token, ['later', 'ack', 'ack'])
    await Promise.all([text.next(TAG.authResponse), object.next(TAG.authResponse)])
    const base = { success: true, userId: 'ann', username: 'ann', role: 'member', maxMessageSize: 262_144 }
    expect(answers(text)).toEqual([base])
    expect(answers(object)).toEqual([
      { ...base, features: ['ack'], tokenExpiresAt: expSec * 1000, workspaceId: id, protocol: '4.2' },
    ])
    await end(text, object)
  })

  it.each<[string, (client: WireClient) => void, string, number, string]>([
    ['no JSON', (client) => client.send(TAG.auth, Buffer.from('ey.ey.ey')), 'token malformed', 4401, 'token-invalid'],
    ['no UTF-8', (client) => client.send(TAG.auth, Buffer.from([0x22, 0xff, 0x22])), 'token malformed', 4401, 'token-invalid'],
    ['nothing', (client) => client.send(TAG.auth), 'token malformed', 4401, 'token-invalid'],
    ['null', (client) => client.send(TAG.auth, Buffer.from('null')), 'token malformed', 4401, 'token-invalid'],
    ['a number', (client) => client.send(TAG.auth, Buffer.from('{"token":1}')), 'token malformed', 4401, 'token-invalid'],
    ['not a JWT', (client) => client.auth('a.b.c'), 'token malformed', 4401, 'token-invalid'],
    ['an expired token', (client) => client.auth(relay.token({ expiresInSec: -1 })), 'token expired', 4401, 'token-expired'],
    ['no sub', (client) => client.auth(relay.token({ claims: { sub: undefined } })), 'missing claim sub', 4401, 'token-invalid'],
    ['other issuer', (client) => client.auth(relay.token({ claims: { iss: 'x' } })), 'issuer mismatch', 4401, 'token-invalid'],
    [
      'other audience',
      (client) => client.auth(relay.token({ claims: { aud: 'x' } })),
      'audience mismatch',
      4401,
      'token-invalid',
    ],
    ['no membership', (client) => client.auth(relay.token({ wsp: [] })), 'forbidden', 4403, 'forbidden'],
  ])(
    '[WS-16] [WS-58] [WS-60] a first AUTH with %s gets AUTH_RESPONSE and then its close code',
    async (_, send, error, code, reason) => {
      const client = await openFrom(relay)
      send(client)
      expect(await client.closed).toEqual({ code, reason })
      expect(client.tags()).toEqual([TAG.authResponse])
      expect(answers(client)).toEqual([{ success: false, error }])
    },
  )

  it('[WS-60] AUTH with a revoked token is answered with `token revoked`', async () => {
    await revoke('gone-before')
    const client = await openFrom(relay)
    client.auth(relay.token({ jti: 'gone-before' }))
    expect(await client.closed).toEqual({ code: 4401, reason: 'token-revoked' })
    expect(answers(client)).toEqual([{ success: false, error: 'token revoked' }])
  })

  it('[AUTH-6] the query selects the workspace, and a workspace that the claim lacks is forbidden', async () => {
    const [one, two] = [workspace(), workspace()]
    const token = relay.token({ wsp: [one, two].map((id) => ({ id, role: 'owner' })) })
    const named = await openFrom(relay, { query: `?workspace=${two}` })
    named.auth(token, [])
    expect(await named.nextJson(TAG.authResponse)).toMatchObject({ success: true, workspaceId: two, features: [] })
    const stranger = await openFrom(relay, { query: '?workspace=elsewhere' })
    stranger.auth(token)
    expect(await stranger.closed).toEqual({ code: 4403, reason: 'forbidden' })
    await end(named)
  })

  it('[WS-14] before AUTH only AUTH and HEARTBEAT have effect, and JOIN_DOC reveals nothing about documents', async () => {
    const id = workspace()
    await relay.rest({ workspace: id }).putDocument('known', {})
    const client = await openFrom(relay)
    client.join('known')
    client.join('unknown')
    client.step1()
    client.update(client.put('a'))
    client.presence({ client: 1, clock: 1, state: {} })
    client.sendChunk(1, 0, 1, Buffer.of(0, 0, 0))
    client.send(TAG.heartbeat)
    await client.next(TAG.heartbeat)
    // The echo of a heartbeat may overtake the answers to earlier frames.
    await until('both refusals', () => client.errors().length > 1)
    const [first, second] = client.errors()
    expect(first).toEqual({
      error: expect.stringMatching(/^ERR_NOT_AUTHENTICATED: /),
      code: 'ERR_NOT_AUTHENTICATED',
      requestId: null,
    })
    expect(second).toEqual(first)
    expect(client.tags().sort()).toEqual([TAG.error, TAG.error, TAG.heartbeat].sort())
    client.auth(relay.token({ workspace: id }))
    expect(await client.nextJson(TAG.authResponse)).toMatchObject({ success: true })
    await end(client)
  })
})

describe('seats', () => {
  it('[WS-17] [WS-58] [WS-60] of many simultaneous AUTHs exactly the cap succeed, the others close with 4409, and a freed seat is free at once', async () => {
    const id = workspace()
    const before = await metric(relay, 'relay_quota_rejections_total', { kind: 'connections' })
    const clients = await Promise.all(Array.from({ length: 8 }, () => openFrom(relay)))
    for (const client of clients) client.auth(relay.token({ workspace: id, role: 'viewer' }))
    const told = await Promise.all(clients.map((client) => client.nextJson(TAG.authResponse)))
    const inside = clients.filter((_, at) => told[at]?.['success'] === true)
    const outside = clients.filter((_, at) => told[at]?.['success'] !== true)
    expect(inside).toHaveLength(3)
    expect(told.filter(({ success }) => success === false)).toEqual(
      Array(5).fill({ success: false, error: 'ERR_WORKSPACE_CONNECTION_LIMIT' }),
    )
    expect(await Promise.all(outside.map(({ closed }) => closed))).toEqual(
      Array(5).fill({ code: 4409, reason: 'connection-limit' }),
    )
    expect(await metric(relay, 'relay_quota_rejections_total', { kind: 'connections' })).toBe(before + 5)
    await end(...inside.splice(0, 1))
    const next = await signedIn({ workspace: id })
    expect(answers(next)).toMatchObject([{ success: true }])
    await end(next, ...inside)
  })

  it('[WS-17] sockets that end while their token is checked leave no seat taken', async () => {
    const id = workspace()
    for (let i = 0; i < 30; i++) {
      const client = await openFrom(relay)
      client.auth(relay.token({ workspace: id }))
      if (i % 3 === 0) client.socket.close()
      else setTimeout(() => client.socket.terminate(), i % 7)
      if (i % 3 === 2) await client.closed
    }
    await until('the sockets to be gone', async () => {
      const roles = ['owner', 'unauthenticated'].map((role) => metric(relay, 'relay_ws_connections', { role }))
      return (await Promise.all(roles)).every((count) => count === 0)
    })
    const clients = [await signedIn({ workspace: id }), await signedIn({ workspace: id }), await signedIn({ workspace: id })]
    expect(clients.flatMap(answers)).toMatchObject(Array(3).fill({ success: true }))
    await end(...clients)
  })

  it('[WS-17] editors have their own cap below the cap of connections, and viewers take no editor seat', async () => {
    const entry = { id: workspace(), editor_limit: 1 }
    const viewer = await signedIn({ wsp: [{ ...entry, role: 'viewer' }] })
    const editor = await signedIn({ wsp: [{ ...entry, role: 'member' }] })
    const second = await signedIn({ wsp: [{ ...entry, role: 'owner' }] })
    expect(answers(second)).toEqual([{ success: false, error: 'ERR_EDITOR_LIMIT' }])
    expect(await second.closed).toEqual({ code: 4409, reason: 'editor-limit' })
    const third = await signedIn({ wsp: [{ ...entry, role: 'viewer' }] })
    const fourth = await signedIn({ wsp: [{ ...entry, role: 'owner' }] })
    expect(answers(fourth)).toEqual([{ success: false, error: 'ERR_WORKSPACE_CONNECTION_LIMIT' }])
    await end(viewer, editor, third)
  })

  it('[WS-5] [WS-16] a bearer in the upgrade header above a cap gets AUTH_RESPONSE with the reason', async () => {
    const entry = { id: workspace(), role: 'owner', editor_limit: 1 }
    const first = await signedIn({ wsp: [entry] })
    const second = await openFrom(relay, { headers: { Authorization: `Bearer ${relay.token({ wsp: [entry] })}` } })
    expect(await second.closed).toEqual({ code: 4409, reason: 'editor-limit' })
    expect(answers(second)).toEqual([{ success: false, error: 'ERR_EDITOR_LIMIT' }])
    await end(first)
  })
})

describe('renewing the token', () => {
  it('[WS-17] [WS-18] a repeated AUTH takes no further seat and is answered in the form in which it was sent', async () => {
    const id = workspace()
    const client = await signedIn({ workspace: id })
    for (let i = 0; i < 4; i++) client.auth(relay.token({ workspace: id }), i % 2 ? [] : undefined)
    for (let i = 0; i < 4; i++) await client.next(TAG.authResponse)
    expect(answers(client).map((answer) => 'protocol' in answer)).toEqual([false, false, true, false, true])
    const others = [await signedIn({ workspace: id }), await signedIn({ workspace: id })]
    expect(others.flatMap(answers)).toMatchObject([{ success: true }, { success: true }])
    await end(client, ...others)
  })

  it('[WS-18] [WS-60] AUTH again with another sub or workspace or a bad token is refused, and the old token stays valid', async () => {
    const id = workspace()
    const client = await signedIn({ workspace: id, sub: 'ann' })
    client.auth(relay.token({ workspace: id, sub: 'ben' }))
    client.auth(relay.token({ workspace: workspace(), sub: 'ann' }))
    client.auth(relay.token({ workspace: id, sub: 'ann', expiresInSec: -1 }))
    client.send(TAG.auth, Buffer.from('{'))
    client.join('nothing')
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_UNKNOWN_DOC' })
    expect(answers(client).slice(1)).toEqual(
      ['forbidden', 'forbidden', 'token expired', 'token malformed'].map((error) => ({ success: false, error })),
    )
    await end(client)
  })

  it('[WS-18] [WS-20] after a renewal neither expiry nor revocation of the old token closes the socket', async () => {
    const id = workspace()
    const exp = Math.floor(Date.now() / 1_000) + 4
    const client = await signedIn({ workspace: id, claims: { exp }, jti: 'short' })
    client.auth(relay.token({ workspace: id, jti: 'long' }))
    expect(await client.nextJson(TAG.authResponse)).toMatchObject({ success: true })
    await revoke('short')
    await pause(exp * 1_000 - Date.now() + 300)
    client.join('nothing')
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_UNKNOWN_DOC' })
    await revoke('long')
    expect(await client.closed).toEqual({ code: 4401, reason: 'token-revoked' })
  })

  it('[WS-20] [WS-58] expiry and revocation close the socket within a second, and no later frame is accepted', async () => {
    const id = workspace()
    await relay.rest({ workspace: id }).putDocument('a', {})
    const [ending, revoked] = [await openFrom(relay), await openFrom(relay)]
    await revoked.enter(relay.token({ workspace: id, jti: 'closing' }), 'a', ['ack'])
    const expMs = (Math.floor(Date.now() / 1000) + 4) * 1000
    await ending.enter(relay.token({ workspace: id, claims: { exp: expMs / 1000 } }), 'a')
    const revoking = revoke('closing').then(() => stopwatch())
    expect(await revoked.closed).toEqual({ code: 4401, reason: 'token-revoked' })
    expect((await revoking)()).toBeLessThan(1_000)
    ending.update(ending.put('early'))
    await pause(expMs - Date.now() + 1)
    const took = stopwatch()
    ending.update(ending.put('late'))
    expect(await ending.closed).toEqual({ code: 4401, reason: 'token-expired' })
    expect(took()).toBeLessThan(1_000)
    expect(await storedKeys(relay, 'a', id)).toEqual(['early'])
  })

  it('[WS-19] a downgrade frees the editor seat and forbids writing at once; an upgrade without a free seat is refused', async () => {
    const id = workspace()
    const as = (role: string, sub = 'ann') => relay.token({ sub, wsp: [{ id, role, editor_limit: 1 }] })
    await relay.rest({ workspace: id, sub: 'ann' }).putDocument('a', {})
    const client = await (await openFrom(relay)).enter(as('member'), 'a', ['ack'])
    client.update(client.put('one'))
    client.auth(as('viewer'))
    client.update(client.put('two'))
    expect(await client.nextJson(TAG.authResponse)).toMatchObject({ success: true, role: 'viewer' })
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_EDIT_FORBIDDEN', frame: 3, requestId: null })
    await until('the ack of the refused one', () => client.acks().at(-1) === 3)
    const other = await openFrom(relay)
    other.auth(as('member', 'ben'))
    expect(await other.nextJson(TAG.authResponse)).toMatchObject({ success: true })
    client.auth(as('member'))
    expect(await client.nextJson(TAG.authResponse)).toEqual({ success: false, error: 'ERR_EDITOR_LIMIT' })
    await end(other)
    client.auth(as('member'))
    expect(await client.nextJson(TAG.authResponse)).toMatchObject({ success: true, role: 'member' })
    // The update depends on the refused one: the relay asks for it, and the step2 brings both.
    client.update(client.put('three'))
    await until('the step2', () => client.acks().at(-1) === 5)
    expect(client.errors().slice(1)).toMatchObject([{ code: 'ERR_SYNC_GAP', frame: 4 }])
    expect(await storedKeys(relay, 'a', id)).toEqual(['one', 'three', 'two'])
    await end(client)
  })

  it('[WS-19] [WS-38] a renewal adds features and never removes them', async () => {
    const id = workspace()
    await relay.rest({ workspace: id }).putDocument('a', {})
    const client = await (await openFrom(relay)).enter(relay.token({ workspace: id }), 'a')
    client.update(client.put('silent'))
    await client.settled()
    client.auth(relay.token({ workspace: id }), ['ack'])
    expect(await client.nextJson(TAG.authResponse)).toMatchObject({ features: ['ack'] })
    client.update(client.put('loud'))
    await until('an ack', () => client.acks().at(-1) === 3)
    client.auth(relay.token({ workspace: id }), [])
    expect(await client.nextJson(TAG.authResponse)).toMatchObject({ features: ['ack'] })
    await end(client)
  })
})
