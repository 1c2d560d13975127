import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Call, rawHttp } from '../raw-http.ts'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'

const POLLING_SECRET = 'the-polling-secret-1'

/** A control plane that returns `answer` for every poll. */
let control: Server
let answer: unknown = { revocations: [], next_since: '2026-01-01T00:00:00Z' }
let sinces: string[]
let relay: RelayUnderTest
let call: Call

beforeAll(async () => {
  sinces = []
  control = createServer((request, response) => {
    sinces.push(new URL(request.url ?? '', 'http://x').searchParams.get('since') ?? '')
    response.end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve))
  const { port } = control.address() as AddressInfo
  relay = await startRelayUnderTest({
    mcp: 'local',
    env: {
      RELAY_REVOCATION_BEARER: '',
      RELAY_REVOCATION_POLLING_URL: `http://127.0.0.1:${port}/`,
      RELAY_REVOCATION_POLLING_BEARER: POLLING_SECRET,
      RELAY_REVOCATION_POLLING_INTERVAL_SECONDS: '1',
      RELAY_READS_BURST: '0',
    },
  })
  call = rawHttp(relay)
})
afterAll(async () => {
  await relay?.[Symbol.asyncDispose]()
  control?.closeAllConnections()
  control?.close()
})

/** Requests a list with a token that has this jti. Returns the status. */
async function listWith(jti: string): Promise<number> {
  return (await call('GET', '/api/docs', { as: { jti } })).status
}

describe('polling for revocations', () => {
  it.each([
    ['without a time', { jti: 'poll-none' }],
    ['with a number for a time', { jti: 'poll-number', revoked_at: 1_780_000_000 }],
    ['with a time without zone', { jti: 'poll-naive', revoked_at: '2026-11-22T14:00:00.123456' }],
  ])('[AUTH-14] a polled entry %s revokes its token', async (_, entry) => {
    expect(await listWith(entry.jti)).toBe(200)
    answer = { revocations: [entry], next_since: '2099-01-01T00:00:00' }
    await until('the token to be refused', async () => (await listWith(entry.jti)) === 401)
  })

  it('[AUTH-14] the relay sends next_since back as the same text', async () => {
    answer = { revocations: [], next_since: 'cursor-17' }
    await until('the cursor to come back', () => sinces.includes('cursor-17'))
  })
})

it('[REST-29] a pushed revocation gets 503 from a relay without push bearer, so the sender keeps it', async () => {
  const headers = { authorization: 'Bearer x', 'content-type': 'application/json' }
  const { status, json } = await call('POST', '/api/v1/internal/revoke', { as: null, headers, body: { revocations: [] } })
  expect(status).toBe(503)
  expect(json).toMatchObject({ errorCode: 'UNAVAILABLE', error: expect.stringContaining('revocation_push_bearer') })
})

it('[MCP-23] with MCP on the loopback listener, the main listener serves the discovery document', async () => {
  const { status, json } = await call('GET', '/.well-known/oauth-protected-resource', { as: null })
  expect(status).toBe(200)
  expect(json).toMatchObject({ resource: `${relay.baseUrl}/mcp`, authorization_servers: [relay.issuer.issuer] })
})

it('[AUTH-2] [AUTH-3] an unsigned token is refused with 401 for its algorithm', async () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const unsecured = `${part({ alg: 'none' })}.${part({ sub: 'ada' })}.`
  const { status, json } = await call('GET', '/api/docs', { as: null, headers: { authorization: `Bearer ${unsecured}` } })
  expect(status).toBe(401)
  expect(json).toMatchObject({ errorCode: 'TOKEN_INVALID', reason: 'unsupported algorithm' })
})

it('[AUTH-2] an RS256 token without a signature is refused as malformed', async () => {
  const signed = relay.token()
  const cut = `${signed.slice(0, signed.lastIndexOf('.'))}.`
  const { status, json } = await call('GET', '/api/docs', { as: null, headers: { authorization: `Bearer ${cut}` } })
  expect(status).toBe(400)
  expect(json).toMatchObject({ errorCode: 'TOKEN_MALFORMED' })
})

it.each(['9007199254740992', '9223372036854775807'])(
  '[REST-8] expectedVersion %s matches no version and answers 409',
  async (version) => {
    await call('PUT', '/api/docs/int64', { body: { id: 'int64', pages: [], richTextPages: [] } })
    const { status, json } = await call('PUT', `/api/docs/int64?expectedVersion=${version}`, { body: { pages: [] } })
    expect(status).toBe(409)
    expect(json).toMatchObject({ errorCode: 'VERSION_CONFLICT', currentVersion: expect.any(Number) })
  },
)

it.each(['9223372036854775808', '-1', '1.5'])('[REST-8] expectedVersion %s answers 400', async (version) => {
  const { status, json } = await call('PUT', `/api/docs/int64?expectedVersion=${version}`, { body: { pages: [] } })
  expect(status).toBe(400)
  expect(json).toMatchObject({ errorCode: 'BAD_REQUEST', field: 'expectedVersion' })
})

it('[REST-6] a list filtered by a collection id of 65 bytes is empty, as for any unknown id', async () => {
  const { status, json } = await call('GET', `/api/collections/${'c'.repeat(65)}/documents`)
  expect(status).toBe(200)
  expect(json).toEqual({ documents: [] })
})

it.each(['list_documents', 'list_icons', 'get_skills', 'get_storage'])(
  '[TOOL-6] %s ignores the docId that callers send with every call',
  async (name) => {
    const response = await fetch(relay.mcpUrl, {
      method: 'POST',
      headers: { authorization: `Bearer ${relay.token()}`, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: `service_${name}`, arguments: { docId: 'any' } },
      }),
    })
    expect(await response.json()).toMatchObject({ result: { isError: false } })
  },
)
