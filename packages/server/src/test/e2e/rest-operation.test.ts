import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestIssuer } from '../../auth/testing/test-issuer.ts'
import { type Call, rawHttp } from '../raw-http.ts'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'
import { patience } from '../../kernel/testing/patience.ts'

let relay: RelayUnderTest
let call: Call

beforeAll(async () => {
  relay = await startRelayUnderTest()
  call = rawHttp(relay)
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const CHECKS = ['storage', 'log', 'bus', 'blobs', 'keys', 'draining']

describe('health and version', () => {
  it('[OPS-1] /health is two bytes of plain text', async () => {
    const { status, headers, text } = await call('GET', '/health', { as: null })
    expect([status, headers['content-type'], text]).toEqual([200, 'text/plain', 'ok'])
  })

  it('[OPS-2] /livez and /readyz answer JSON without a credential, with exactly the documented checks', async () => {
    const live = await call('GET', '/livez', { as: null })
    expect([live.status, live.json]).toEqual([200, { status: 'ok' }])
    const { status, json } = await call('GET', '/readyz', { as: null })
    expect([status, json.status, Object.keys(json.checks as object)]).toEqual([200, 'ok', CHECKS])
    for (const check of Object.values(json.checks as object)) expect(check).toMatchObject({ ok: true })
    expect(JSON.stringify(json)).not.toMatch(/127\.0\.0\.1|http|sqlite|\//)
  })

  it('[REST-30] /version names the program and the protocol', async () => {
    const { status, json } = await call('GET', '/version', { as: null })
    expect([status, Object.keys(json).toSorted()]).toEqual([
      200,
      ['built', 'commit', 'protocolMinor', 'protocolVersion', 'server', 'version'],
    ])
    expect(json).toMatchObject({
      server: 'docrelay',
      protocolVersion: 4,
      protocolMinor: 2,
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    })
  })
})

it('[MCP-2] an MCP endpoint that is switched off answers 404', async () => {
  expect(relay.mcpUrl).toBe('')
  const headers = { authorization: `Bearer ${relay.token()}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
  expect((await fetch(`${relay.baseUrl}/mcp`, { method: 'POST', headers, body })).status).toBe(404)
})

describe('metrics', () => {
  it('[OPS-3] metrics are text format 0.0.4 with the same names at every scrape, and contain no id', async () => {
    const as = { sub: 'sub-in-no-label', workspace: 'default', jti: 'jti-in-no-label' }
    await call('PUT', '/api/docs/doc-in-no-label', { as, body: {} })
    await call('GET', '/api/docs/doc-in-no-label/nowhere', { as })
    const first = await call('GET', '/metrics', { as: null })
    expect(first.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/)
    const names = (text: string) => [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`)
    // A request is counted only when its connection has taken the answer.
    let again = first
    await until('both requests to be counted', async () => {
      again = await call('GET', '/metrics', { as: null })
      return /method="PUT",code="200"/.test(again.text) && /route="other",method="GET",code="404"/.test(again.text)
    })
    expect(names(again.text)).toEqual(names(first.text))
    expect(names(again.text).length).toBeGreaterThan(20)
    expect(again.text).not.toMatch(/in-no-label|workspace="|default/)
    expect(again.text).toMatch(
      /http_server_request_duration_seconds_count\{route="\/api\/docs\/:id",method="PUT",code="200"\} [1-9]/,
    )
    expect(again.text).toMatch(/route="other",method="GET",code="404"/)
    for (const line of again.text.split('\n').filter((one) => one !== ''))
      expect(line).toMatch(/^(# (HELP|TYPE) .+|[a-z_]+(\{[^}]*\})? (-?[0-9.e+-]+|\+Inf|NaN))$/)
  })

  it('[OPS-4] refused tokens are counted by reason', async () => {
    for (let n = 0; n < 3; n++) await call('GET', '/api/docs', { as: { expiresInSec: -5 } })
    expect((await call('GET', '/metrics')).text).toMatch(/^relay_auth_failures_total\{reason="[^"]+"\} 3$/m)
  })
})

describe('the log', () => {
  it('[OPS-5] [OPS-7] [REST-9] the log has one JSON line per request with its id, and audit lines for changes and refusals', async () => {
    const headers = { 'x-request-id': 'find-me-1' }
    await call('PUT', '/api/docs/logged', { as: { sub: 'ann' }, headers, body: { sharedWith: ['bob'] } })
    await call('PUT', '/api/docs/logged', {
      as: { sub: 'bob', role: 'member' },
      headers: { 'x-request-id': 'find-me-2' },
      body: {},
    })
    await call('POST', '/api/docs/logged/transfer', { body: { to_user_id: 'cid' } })
    await call('DELETE', '/api/docs/logged')
    await call('PUT', '/api/docs/logged?overrideTombstone=1', { body: {} })
    const lines = () => relay.logLines.map((line) => JSON.parse(line) as Record<string, unknown>)
    await until('the log', () => lines().some(({ event }) => event === 'document.override'))
    expect(lines().filter(({ requestId, event }) => requestId === 'find-me-1' && event === 'http.request')).toEqual([
      expect.objectContaining({
        level: 'info',
        workspace: 'default',
        sub: 'ann',
        status: 200,
        docId: 'logged',
        durationMs: expect.any(Number),
      }),
    ])
    expect(lines().find(({ requestId, event }) => requestId === 'find-me-2' && event === 'http.request')).toMatchObject({
      status: 403,
      code: 'EDIT_FORBIDDEN',
    })
    const audited = lines().filter(({ audit, docId }) => audit === true && docId === 'logged')
    expect(audited.map(({ event, sub }) => [event, sub])).toEqual([
      ['document.created', 'ann'],
      ['document.shared', 'ann'],
      ['access.refused', 'bob'],
      ['document.transferred', 'ann'],
      ['document.deleted', 'ann'],
      ['document.override', 'ann'],
    ])
    expect(audited[2]).toMatchObject({ requestId: 'find-me-2', code: 'EDIT_FORBIDDEN', workspace: 'default' })
  })
})

describe('a key-set address that does not answer', () => {
  it('[AUTH-10] [AUTH-12] [AUTH-15] [OPS-2] [REST-29] without keys the relay refuses tokens and is not ready, until keys come', {
    timeout: patience(45_000),
  }, async () => {
    await using issuer = await startTestIssuer()
    issuer.fault = 'down'
    const env = { RELAY_JWT_ISSUER: issuer.issuer, RELAY_JWT_JWKS_URL: issuer.jwksUrl, RELAY_REVOCATION_BEARER: '' }
    await using late = await startRelayUnderTest({ env })
    const there = rawHttp({ baseUrl: late.baseUrl, token: (options) => issuer.token(options) })
    const red = await there('GET', '/readyz')
    expect([red.status, red.json]).toMatchObject([503, { checks: { keys: { ok: false }, storage: { ok: true } } }])
    expect(red.text).not.toContain('127.0.0.1')
    const refused = await there('GET', '/api/docs')
    expect([refused.status, refused.json]).toEqual([
      401,
      { error: expect.stringContaining('jwks unavailable'), errorCode: 'JWKS_UNAVAILABLE', retryAfterMs: 5_000 },
    ])
    expect(refused.headers['retry-after']).toBe('5')
    expect(refused.headers['www-authenticate']).toMatch(/^Bearer/)
    expect((await there('GET', '/health')).text).toBe('ok')
    const metrics = (await there('GET', '/metrics')).text
    expect(metrics).toMatch(/^revocation_set_age_seconds -1$/m)
    expect(metrics).toMatch(/^relay_jwks_cache_age_seconds -1$/m)
    const revoke = await there('POST', '/api/v1/internal/revoke', {
      as: null,
      headers: { authorization: 'Bearer ' },
      body: { revocations: [] },
    })
    expect([revoke.status, revoke.json]).toMatchObject([503, { errorCode: 'UNAVAILABLE' }])
    issuer.fault = null
    await until('the keys', async () => (await there('GET', '/readyz')).status === 200, 15_000)
    expect((await there('GET', '/api/docs')).status).toBe(200)
  })
})

/** At the end of the file, because these tests stop the relay. */
describe('draining', () => {
  /** Starts a PUT whose body is held back. `finish` sends the rest and resolves with the answer. */
  async function slowPut(id: string): Promise<{ finish: () => Promise<string> }> {
    const { hostname, port } = new URL(relay.baseUrl)
    const body = JSON.stringify({ name: 'slow', pad: 'x'.repeat(100) })
    const socket = connect(Number(port), hostname)
    const head = [
      `PUT /api/docs/${id} HTTP/1.1`,
      'Host: relay',
      `Authorization: Bearer ${relay.token()}`,
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
    ]
    let answer = ''
    socket.on('data', (chunk) => void (answer += chunk.toString()))
    const closed = new Promise<void>((resolve) => void socket.on('close', () => resolve()))
    await new Promise<void>((resolve) => void socket.once('connect', () => resolve()))
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    // The relay asked for the body, so the request is running.
    await until('100 Continue', () => answer.startsWith('HTTP/1.1 100') && answer.endsWith('\r\n\r\n'))
    answer = ''
    socket.write(body.slice(0, 50))
    return {
      async finish() {
        socket.write(body.slice(50))
        await closed
        return answer
      },
    }
  }

  it('[LIFE-28] [REST-13] [OPS-1] while draining, running requests finish, new ones get 503 with Retry-After, and the exit code is 0', async () => {
    await call('PUT', '/api/docs/before', { body: {} })
    const slow = await slowPut('slow')
    const ended = relay.stop()
    await until('draining', async () => (await call('GET', '/readyz')).status === 503)
    expect((await call('GET', '/readyz')).json).toMatchObject({
      status: 'unavailable',
      checks: { draining: { ok: false }, storage: { ok: true } },
    })
    expect((await call('GET', '/health')).text).toBe('ok')
    for (const path of ['/livez', '/version', '/metrics']) expect((await call('GET', path)).status).toBe(200)
    for (const [method, path] of [
      ['GET', '/api/docs'],
      ['GET', '/api/docs/before'],
      ['PUT', '/api/docs/x'],
      ['GET', '/api/docs/none'],
      ['GET', '/nowhere'],
      ['DELETE', '/api/docs/before'],
    ] as const) {
      const answer = await call(method, path, { body: {} })
      expect([path, answer.status, answer.json.errorCode]).toEqual([path, 503, 'UNAVAILABLE'])
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    }
    process.kill(relay.pid, 'SIGTERM')
    process.kill(relay.pid, 'SIGINT')
    expect(await slow.finish()).toMatch(/^HTTP\/1\.1 200 [^]*"newVersion":1/)
    expect(await ended).toBe(0)
    await relay.restart({ RELAY_SHUTDOWN_GRACE_SECS: '1' })
    expect((await call('GET', '/api/docs/slow')).json.name).toBe('slow')
  })
})
