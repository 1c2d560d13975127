import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tenancyOf } from '../auth/tenancy.ts'
import { RelayError } from '../kernel/errors.ts'
import { groupRoutes } from './routing.ts'
import type { Route } from './route.ts'
import { type RestRelay, startRestRelay } from './testing/rest-relay.ts'

const open = { method: 'GET', credential: 'none', body: { kind: 'none' }, needs: 'none', summary: '' } as const
const ROUTES: readonly Route[] = [
  {
    ...open,
    path: '/api/test/crash',
    handle: async () => {
      throw new TypeError('secret at /root/relay.db')
    },
  },
  {
    ...open,
    path: '/api/test/limited',
    handle: async () => {
      throw new RelayError('RATE_LIMITED', 'Too many.', { retryAfterMs: 1_001, internal: 'not for callers' })
    },
  },
  { ...open, path: '/api/test/origin', handle: async (request) => ({ kind: 'json', value: { origin: request.origin } }) },
  { ...open, path: '/api/test/internal', credential: 'revocation-bearer', handle: async () => ({ kind: 'empty' }) },
]

let relay: RestRelay
let dedicated: RestRelay
beforeAll(async () => {
  relay = await startRestRelay({ routes: ROUTES })
  dedicated = await startRestRelay({ tenancy: tenancyOf('dedicated', 'acme'), corsOrigins: ['https://one.example'] })
})
afterAll(async () => {
  await relay[Symbol.asyncDispose]()
  await dedicated[Symbol.asyncDispose]()
})

const ann = { sub: 'ann', role: 'member' }

describe('routes', () => {
  it('[REST-4] every /api/ route also answers under /api/v1/ with the same document', async () => {
    await relay.call('PUT', '/api/docs/both', { as: ann, body: { name: 'Both' } })
    const long = await relay.call('GET', '/api/v1/docs/both', { as: ann })
    const short = await relay.call('GET', '/api/docs/both', { as: ann })
    expect(long.status).toBe(200)
    expect(long.text).toBe(short.text)
    expect((await relay.call('PUT', '/api/v1/docs/both/collection', { as: ann, body: { collectionId: 'c' } })).status).toBe(204)
  })

  it.each([
    '/api',
    '/api/docs/',
    '/api/docs/both/publish',
    '/api/auth/login',
    '/api/auth/register',
    '/api/auth/me',
    '/API/docs',
    '/api/v2/docs',
  ])('[REST-5] %s answers 404 as an unknown route', async (path) => {
    for (const method of ['GET', 'POST']) {
      const answer = await relay.call(method, path, { as: ann })
      expect([answer.status, answer.json.errorCode, answer.json.resource]).toEqual([404, 'NOT_FOUND', 'route'])
    }
  })

  it.each([
    ['DELETE', '/api/docs', 'GET, HEAD, OPTIONS'],
    ['PATCH', '/api/docs/x', 'GET, PUT, DELETE, HEAD, OPTIONS'],
    ['GET', '/api/docs/x/transfer', 'POST, OPTIONS'],
    ['POST', '/health', 'GET, HEAD, OPTIONS'],
  ])('[REST-5] %s %s answers 405 with Allow', async (method, path, allow) => {
    const answer = await relay.call(method, path, { as: ann })
    expect([answer.status, answer.json.errorCode, answer.json.allow]).toEqual([405, 'METHOD_NOT_ALLOWED', allow])
    expect(answer.headers.get('allow')).toBe(allow)
  })

  it('[REST-1] [REST-2] [REST-5] HEAD is answered as GET without a body, errors too', async () => {
    await relay.call('PUT', '/api/docs/headed', { as: ann, body: {} })
    const found = await relay.call('HEAD', '/api/docs/headed', { as: ann })
    expect([found.status, found.text, found.headers.get('etag')]).toEqual([200, '', '"1"'])
    const missing = await relay.call('HEAD', '/api/docs/nowhere', { as: ann })
    expect([missing.status, missing.text]).toEqual([404, ''])
    expect((await relay.call('HEAD', '/health')).status).toBe(200)
  })

  it('[REST-5] a fixed path wins over a path with a parameter, in any order of the table', async () => {
    await using shadowed = await startRestRelay({
      routes: [
        { ...open, path: '/api/test/:id', handle: async (request) => ({ kind: 'json', value: request.params }) },
        { ...open, path: '/api/v1/test/word', handle: async () => ({ kind: 'json', value: 'word' }) },
      ],
    })
    expect((await shadowed.call('GET', '/api/v1/test/word')).text).toBe('"word"')
    expect((await shadowed.call('GET', '/api/test/word')).json).toEqual({ id: 'word' })
  })

  it('[X15] a route without a policy and a route declared twice stop the start', () => {
    const route = ROUTES[0] as Route
    expect(() => groupRoutes([{ ...route, credential: undefined as never }])).toThrow('has no policy')
    expect(() => groupRoutes([{ ...route, body: undefined as never }])).toThrow('has no policy')
    expect(() => groupRoutes([{ ...route, credential: 'anyone' as never }])).toThrow('has no policy')
    expect(() => groupRoutes([route, { ...route, path: '/api/v1/test/crash' }])).toThrow('declared twice')
  })
})

describe('errors', () => {
  it('[REST-2] an error is JSON with a sentence, a code and the members of its row', async () => {
    const answer = await relay.call('GET', '/api/test/limited')
    expect(answer.status).toBe(429)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.json).toEqual({ error: 'Too many.', errorCode: 'RATE_LIMITED', retryAfterMs: 1_001 })
  })

  it('[REST-12] Retry-After is in whole seconds, rounded up', async () => {
    expect((await relay.call('GET', '/api/test/limited')).headers.get('retry-after')).toBe('2')
  })

  it('[OPS-8] [REST-9] [REST-14] an exception answers 500 with the request id and no details, is counted and logged, and the next request works', async () => {
    const answer = await relay.call('GET', '/api/test/crash', { headers: { 'x-request-id': 'crash-1' } })
    expect([answer.status, answer.json]).toEqual([
      500,
      { error: 'The relay failed unexpectedly.', errorCode: 'INTERNAL', requestId: 'crash-1' },
    ])
    expect(relay.logLines.find((line) => line.event === 'http.unexpected')).toMatchObject({
      level: 'error',
      requestId: 'crash-1',
    })
    expect((await relay.metrics.render()).text).toMatch(/relay_handler_panics_total 1\n/)
    expect((await relay.call('GET', '/health')).text).toBe('ok')
  })

  it('[REST-3] [PERM-4] an error for missing rights begins with the prefix that editor clients match, and is audited', async () => {
    await relay.call('PUT', '/api/docs/mine', { as: ann, body: { sharedWith: [{ userId: 'eve', permission: 'edit' }] } })
    const view = await relay.call('GET', '/api/docs/mine', { as: { sub: 'bob', role: 'member' } })
    expect(view.json.error).toMatch(/^ERR_VIEW_FORBIDDEN: /)
    const remove = await relay.call('DELETE', '/api/docs/mine', { as: { sub: 'eve', role: 'member' } })
    expect(remove.json).toMatchObject({ errorCode: 'OWNER_REQUIRED', docId: 'mine', role: 'member', access: 'edit' })
    expect(remove.json.error).toMatch(/^ERR_DELETE_FORBIDDEN: /)
    const transfer = await relay.call('POST', '/api/docs/mine/transfer', {
      as: { sub: 'eve', role: 'member' },
      body: { to_user_id: 'eve' },
    })
    expect(transfer.json.error).toMatch(/^ERR_EDIT_FORBIDDEN: /)
    expect(relay.logLines.filter((line) => line.event === 'access.refused' && line.docId === 'mine' && line.audit)).toHaveLength(
      3,
    )
  })
})

describe('headers', () => {
  it('[REST-9] a valid request id is kept, another is replaced, and every answer has one', async () => {
    const idOf = async (given?: string) =>
      (await relay.call('GET', '/nowhere', given === undefined ? {} : { headers: { 'x-request-id': given } })).headers.get(
        'x-request-id',
      )
    expect(await idOf('Az09._-')).toBe('Az09._-')
    expect(await idOf('x'.repeat(64))).toBe('x'.repeat(64))
    for (const bad of [undefined, '', 'x'.repeat(65), 'a b', 'ä', 'a,b', '<script>'])
      expect(await idOf(bad)).toMatch(/^req-[A-Za-z0-9]{16}$/)
    await relay.call('GET', '/api/docs', { as: ann, headers: { 'x-request-id': 'logged-1' } })
    expect(relay.logLines.find((line) => line.requestId === 'logged-1')).toMatchObject({
      event: 'http.request',
      sub: 'ann',
      status: 200,
      route: '/api/docs',
    })
  })

  it('[REST-10] every answer has nosniff, and document content is private, no-cache, or no-store where it has an ETag of its version', async () => {
    const paths = ['/health', '/nowhere', '/api/docs', '/api/test/crash', '/readyz']
    for (const path of paths) expect((await relay.call('GET', path)).headers.get('x-content-type-options')).toBe('nosniff')
    await relay.call('PUT', '/api/docs/cached', { as: ann, body: {} })
    const caching = async (path: string) => (await relay.call('GET', path, { as: ann })).headers.get('cache-control')
    expect(await caching('/api/docs')).toBe('private, no-cache')
    expect(await caching('/api/docs/cached')).toBe('no-store')
  })

  it('[REST-11] [H8] with origins * any origin may read every answer, without credentials', async () => {
    for (const path of ['/health', '/nowhere', '/api/docs', '/api/test/crash']) {
      const { headers } = await relay.call('GET', path, { headers: { origin: 'https://any.example' } })
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-allow-credentials')).toBeNull()
      const exposed =
        'ETag, Link, Location, Retry-After, X-Request-Id, Deprecation, Sunset, Content-Range, Content-Disposition, WWW-Authenticate, Mcp-Session-Id'
      expect(headers.get('access-control-expose-headers')).toBe(exposed)
    }
  })

  it('[REST-11] with a list of origins only a listed one is echoed, with Vary', async () => {
    const from = async (origin: string) => (await dedicated.call('GET', '/health', { headers: { origin } })).headers
    const listed = await from('https://one.example')
    expect([listed.get('access-control-allow-origin'), listed.get('vary')]).toEqual(['https://one.example', 'Origin'])
    const other = await from('https://one.example.evil')
    expect([other.get('access-control-allow-origin'), other.get('vary')]).toEqual([null, 'Origin'])
    const as = { ...ann, claims: { wsp: [{ id: 'acme', role: 'member' }] } }
    const answered = await dedicated.call('GET', '/api/docs', { as, headers: { origin: 'https://one.example' } })
    expect([answered.status, answered.headers.get('vary')]).toEqual([200, 'Origin, Authorization, X-Workspace-Id'])
  })

  it('[REST-11] a preflight needs no token and allows the methods of the route and the requested headers for a day', async () => {
    const headers = {
      origin: 'https://any.example',
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'authorization, if-match',
    }
    const answer = await relay.call('OPTIONS', '/api/docs/x', { headers })
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(answer.headers.get('access-control-allow-methods')).toBe('GET, PUT, DELETE, HEAD, OPTIONS')
    expect(answer.headers.get('access-control-allow-headers')).toBe('authorization, if-match')
    expect(answer.headers.get('access-control-max-age')).toBe('86400')
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  })

  it('[X25] an invalid host name is refused, and X-Forwarded-Proto counts only as http or https', async () => {
    const origin = async (headers: Record<string, string>) =>
      (await relay.call('GET', '/api/test/origin', { headers })).json.origin
    expect(await origin({ host: 'relay.example:9876', 'x-forwarded-proto': 'https' })).toBe('https://relay.example:9876')
    expect(await origin({ host: '[::1]:9876', 'x-forwarded-proto': 'javascript' })).toBe('http://[::1]:9876')
    for (const host of ['a"b', 'a/b', 'a b', 'a@b', 'a<b', 'x'.repeat(256), 'ä']) {
      const answer = await relay.call('GET', '/api/test/origin', { headers: { host: Buffer.from(host).toString('latin1') } })
      expect([host, answer.status, answer.json.errorCode]).toEqual([host, 400, 'BAD_REQUEST'])
    }
  })
})

describe('callers', () => {
  it.each([
    ['no header', {}],
    ['another scheme', { authorization: 'Basic YTpi' }],
    ['an empty credential', { authorization: 'Bearer ' }],
    ['a token in the query', {}, '?access_token=TOKEN'],
    ['a token in a cookie', { cookie: 'token=TOKEN' }],
  ])('[AUTH-1] %s answers 401 UNAUTHENTICATED with a plain challenge', async (_, headers, query = '') => {
    const token = relay.issuer.token(ann)
    const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replace('TOKEN', token)]))
    const answer = await relay.call('GET', `/api/docs${query.replace('TOKEN', token)}`, { headers: given })
    expect([answer.status, answer.json.errorCode, answer.headers.get('www-authenticate')]).toEqual([
      401,
      'UNAUTHENTICATED',
      'Bearer',
    ])
  })

  it('[AUTH-1] the scheme is matched in any case', async () => {
    expect(
      (await relay.call('GET', '/api/docs', { headers: { authorization: `bEaReR ${relay.issuer.token(ann)}` } })).status,
    ).toBe(200)
  })

  it('[AUTH-2] text that is not a token answers 400, a bad token 401 with a challenge that names the error', async () => {
    const malformed = await relay.call('GET', '/api/docs', { token: 'not-a-token' })
    expect([malformed.status, malformed.json.errorCode]).toEqual([400, 'TOKEN_MALFORMED'])
    const expired = await relay.call('GET', '/api/docs', { as: { ...ann, expiresInSec: -1 } })
    expect([expired.status, expired.json.errorCode, expired.json.reason]).toEqual([401, 'TOKEN_INVALID', 'token expired'])
    expect(expired.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
    const revoked = await relay.call('GET', '/api/docs', { as: { ...ann, jti: 'revoked' } })
    expect([revoked.status, revoked.json.errorCode]).toEqual([401, 'TOKEN_REVOKED'])
    expect((await relay.metrics.render()).text).toContain('relay_auth_failures_total{reason="token expired"} 1')
  })

  it('[AUTH-6] [REST-2] dedicated tenancy: another workspace in token or request answers the plain word forbidden', async () => {
    const good = { ...ann, workspace: 'acme' }
    expect((await dedicated.call('GET', '/api/docs', { as: good })).status).toBe(200)
    const other = await dedicated.call('GET', '/api/docs', { as: { ...ann, workspace: 'other' } })
    const named = await dedicated.call('GET', '/api/docs', { as: good, headers: { 'x-workspace-id': 'other' } })
    for (const answer of [other, named]) {
      expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([403, 'forbidden', 'text/plain'])
    }
  })

  it('[AUTH-6] shared tenancy: the named workspace of the claim is used, else the first; one outside the claim answers 403 FORBIDDEN', async () => {
    const wsp = [
      { id: 'w1', role: 'member' },
      { id: 'w2', role: 'member' },
    ]
    await relay.call('PUT', '/api/docs/in-w2', { as: { sub: 'ann', wsp }, headers: { 'x-workspace-id': 'w2' }, body: {} })
    expect(
      (await relay.call('GET', '/api/docs/in-w2', { as: { sub: 'ann', wsp }, headers: { 'x-workspace-id': 'w2' } })).status,
    ).toBe(200)
    expect((await relay.call('GET', '/api/docs/in-w2', { as: { sub: 'ann', wsp } })).status).toBe(404)
    const foreign = await relay.call('GET', '/api/docs', { as: { sub: 'ann', wsp }, headers: { 'x-workspace-id': 'w3' } })
    expect([foreign.status, foreign.json.errorCode]).toEqual([403, 'FORBIDDEN'])
  })

  it('[H2] credentials are checked before the body, and internal routes accept only their own secret', async () => {
    const early = await relay.call('PUT', '/api/docs/x', { raw: 'not json', headers: { 'content-type': 'text/plain' } })
    expect(early.status).toBe(401)
    const internal = (authorization?: string) =>
      relay.call('GET', '/api/test/internal', authorization ? { headers: { authorization } } : {})
    expect((await internal('Bearer a-secret-of-sixteen')).status).toBe(204)
    const wrong = await internal(`Bearer ${relay.issuer.token(ann)}`)
    expect([wrong.json.errorCode, wrong.headers.get('www-authenticate')]).toEqual([
      'UNAUTHENTICATED',
      'Bearer error="invalid_token"',
    ])
    const none = await internal()
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  })
})

describe('draining', () => {
  it('[REST-13] [LIFE-28] [OPS-1] while draining every route answers 503 with Retry-After, except health, version and metrics', async () => {
    relay.draining = true
    try {
      for (const [method, path] of [
        ['GET', '/api/docs'],
        ['PUT', '/api/docs/x'],
        ['GET', '/api/docs/unknown'],
        ['GET', '/nowhere'],
      ] as const) {
        const answer = await relay.call(method, path, { as: ann })
        expect([answer.status, answer.json.errorCode, answer.headers.get('retry-after')]).toEqual([503, 'UNAVAILABLE', '1'])
      }
      for (const path of ['/health', '/livez', '/readyz', '/version', '/metrics'])
        expect((await relay.call('GET', path)).status).toBe(200)
    } finally {
      relay.draining = false
    }
  })

  it('[LIFE-28] finishRequests resolves after the running requests have finished', async () => {
    let start = (): void => undefined
    let finish = (): void => undefined
    const started = new Promise<void>((resolve) => {
      start = resolve
    })
    const mayFinish = new Promise<void>((resolve) => {
      finish = resolve
    })
    const waiting: Route = {
      ...open,
      path: '/wait',
      async handle() {
        start()
        await mayFinish
        return { kind: 'empty' }
      },
    }
    await using slow = await startRestRelay({ routes: [waiting] })
    const answer = slow.call('GET', '/wait')
    await started
    let done = false
    const finished = slow.server.finishRequests().then(() => (done = true))
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(done).toBe(false)
    finish()
    expect((await answer).status).toBe(204)
    await finished
    expect(done).toBe(true)
  })
})
