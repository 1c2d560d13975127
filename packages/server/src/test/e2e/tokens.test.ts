import { get } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TokenOptions } from '../../auth/testing/test-issuer.ts'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'
import { patience, stopwatch } from '../../kernel/testing/patience.ts'

const PUSH_BEARER = 'revocation-secret-for-tests'

let relay: RelayUnderTest

beforeAll(async () => {
  relay = await startRelayUnderTest()
})
afterAll(() => relay[Symbol.asyncDispose]())

interface Answer {
  readonly status: number
  readonly challenge: string | null
  readonly type: string | null
  readonly body: unknown
}

async function list(headers: Record<string, string>, path = '/api/docs'): Promise<Answer> {
  const response = await relay.fetch(path, { headers })
  const text = await response.text()
  const type = response.headers.get('content-type')
  const body: unknown = type?.startsWith('application/json') ? JSON.parse(text) : text
  return { status: response.status, challenge: response.headers.get('www-authenticate'), type, body }
}

const withToken = (token: string): Promise<Answer> => list({ authorization: `Bearer ${token}` })
const withClaims = (options: TokenOptions): Promise<Answer> => withToken(relay.token(options))

/** Returns the status of a request with exactly these raw headers; `fetch` cannot send two headers of one name. */
function rawStatus(headers: readonly string[]): Promise<number | undefined> {
  const url = new URL('/api/docs', relay.baseUrl)
  return new Promise((resolve, reject) => {
    get(url, { headers: ['host', url.host, ...headers] }, (response) => resolve(response.resume().statusCode)).on('error', reject)
  })
}

async function push(body: string, authorization = `Bearer ${PUSH_BEARER}`): Promise<Response> {
  const headers = { authorization, 'content-type': 'application/json' }
  return relay.fetch('/api/v1/internal/revoke', { method: 'POST', headers, body })
}

const revoke = (...jtis: string[]): Promise<Response> =>
  push(JSON.stringify({ revocations: jtis.map((jti) => ({ jti, revoked_at: '2026-06-01T12:00:00Z' })) }))

describe('tokens at the running relay', () => {
  it('[AUTH-1] only a single bearer Authorization header authenticates; a second header, a cookie and the query answer 401', async () => {
    const token = relay.token()
    const bearer = `Bearer ${token}`
    expect(await rawStatus(['Authorization', bearer])).toBe(200)
    expect(await rawStatus(['AUTHORIZATION', `bEARER  ${token} `])).toBe(200)
    expect(await rawStatus(['Authorization', bearer, 'Authorization', bearer])).toBe(401)
    expect(await rawStatus(['Cookie', `access_token=${token}`])).toBe(401)
    expect((await list({}, `/api/docs?access_token=${token}&authorization=${token}`)).status).toBe(401)
    expect(await list({ authorization: `Basic ${token}` })).toMatchObject({
      status: 401,
      challenge: 'Bearer',
      body: { errorCode: 'UNAUTHENTICATED' },
    })
  })

  it('[AUTH-2] [REST-14] text that is not a token answers 400, a token that fails a check 401 with its reason', async () => {
    expect(await withToken('no.jwt')).toMatchObject({ status: 400, challenge: null, body: { errorCode: 'TOKEN_MALFORMED' } })
    const rows: readonly (readonly [TokenOptions, string])[] = [
      [{ expiresInSec: -1 }, 'token expired'],
      [{ claims: { aud: 'other' } }, 'audience mismatch'],
      [{ claims: { iss: 'https://other.example' } }, 'issuer mismatch'],
      [{ claims: { jti: undefined } }, 'missing claim jti'],
      [{ claims: { iat: 4_102_444_800 } }, 'token issued in the future'],
    ]
    for (const [options, reason] of rows) {
      const challenge = 'Bearer error="invalid_token"'
      expect(await withClaims(options)).toMatchObject({ status: 401, challenge, body: { errorCode: 'TOKEN_INVALID', reason } })
    }
  })

  it('[AUTH-4] [AUTH-6] a token without usable entry, of a foreign workspace or for another name answers 403 forbidden', async () => {
    const answers = [
      await withClaims({ wsp: [] }),
      await withClaims({ workspace: 'foreign' }),
      await list({ authorization: `Bearer ${relay.token()}`, 'x-workspace-id': 'foreign' }),
    ]
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 403, body: 'forbidden', challenge: null })
      expect(answer.type).toMatch(/^text\/plain/)
    }
  })

  it('[A-3] [AUTH-11] a new signing key works within 6 s of its first use, and no request waits for it', async () => {
    await relay.issuer.rotate('k2')
    const token = relay.token()
    const took = stopwatch()
    let answer = await withToken(token)
    expect(answer).toMatchObject({ status: 401, body: { reason: 'unknown key' } })
    while (answer.status !== 200 && took() < 6_000) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      const asked = stopwatch()
      answer = await withToken(token)
      expect(asked()).toBeLessThan(1_000)
    }
    expect(answer.status).toBe(200)
  })
})

describe('revocations at the running relay', () => {
  it('[A-7] [AUTH-17] [REST-29] pushing revocations requires its own bearer and valid entries', async () => {
    const good = JSON.stringify({ revocations: [{ jti: 'p1', revoked_at: '2026-06-01T12:00:00Z' }] })
    const statuses: number[] = []
    for (const authorization of [
      `Bearer ${PUSH_BEARER}`,
      `Bearer x${PUSH_BEARER.slice(1)}`,
      'Bearer ',
      `Bearer ${PUSH_BEARER}x`,
      `Bearer ${relay.token()}`,
    ]) {
      statuses.push((await push(good, authorization)).status)
    }
    expect(statuses).toEqual([204, 401, 401, 401, 401])
    const many = { revocations: Array.from({ length: 10_001 }, (_, i) => ({ jti: `m${i}`, revoked_at: '2026-06-01T12:00:00Z' })) }
    expect((await push(JSON.stringify(many))).status).toBe(400)
    expect((await push('{"revocations":[{"jti":"x","revoked_at":"yesterday"}]}')).status).toBe(400)
    expect((await push(JSON.stringify({ revocations: [], filler: 'x'.repeat(3_000_000) }))).status).toBe(413)
    expect((await push(good.repeat(2))).status).toBe(400)
    expect((await revoke('p1', 'p1', 'p2')).status).toBe(204)
  })

  it('[A-10] [AUTH-14] [AUTH-16] a token is refused as soon as its revocation was answered with 204, and no other token is', async () => {
    const token = relay.token({ jti: 'stolen' })
    expect((await withToken(token)).status).toBe(200)
    expect((await revoke('stolen')).status).toBe(204)
    const revoked = { status: 401, challenge: 'Bearer error="invalid_token"', body: { errorCode: 'TOKEN_REVOKED' } }
    expect(await withToken(token)).toMatchObject(revoked)
    expect((await withClaims({ jti: 'other' })).status).toBe(200)
  })
})

describe('a relay that starts without keys', () => {
  it('[A-2] [AUTH-10] [AUTH-12] without keys the relay listens, refuses every token and is not ready, and works once keys come', {
    timeout: patience(40_000),
  }, async () => {
    relay.issuer.fault = 'down'
    await relay.stop()
    const took = stopwatch()
    await relay.restart()
    expect(took()).toBeLessThan(10_000)
    const answer = await withClaims({})
    expect(answer).toMatchObject({
      status: 401,
      body: { errorCode: 'JWKS_UNAVAILABLE', error: expect.stringContaining('jwks unavailable') as unknown },
    })
    expect(await list({}, '/readyz')).toMatchObject({ status: 503, body: { checks: { keys: { ok: false } } } })
    expect((await list({}, '/health')).status).toBe(200)
    relay.issuer.fault = null
    await until('the keys to be used', async () => (await withClaims({})).status === 200)
    await until('readiness', async () => (await list({}, '/readyz')).status === 200, 3_000)
  })

  it('[OPS-6] the log contains no token and no part of a token', () => {
    expect(relay.logLines.length).toBeGreaterThan(0)
    expect(relay.logLines.filter((line) => /eyJ|revocation-secret/.test(line))).toEqual([])
  })
})
