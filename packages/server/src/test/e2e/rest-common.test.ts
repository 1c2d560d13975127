import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Call, rawHttp } from '../raw-http.ts'
import { type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

let relay: SharedRelay
let listed: RelayUnderTest
let call: Call

beforeAll(async () => {
  const cors = { RELAY_CORS_ORIGINS: 'https://one.example, https://two.example' }
  ;[relay, listed] = await Promise.all([sharedRelay(), startRelayUnderTest({ env: cors })])
  call = rawHttp(relay)
  await call('PUT', '/api/docs/d1', { body: { name: 'One' } })
})
afterAll(async () => {
  await relay?.[Symbol.asyncDispose]()
  await listed?.[Symbol.asyncDispose]()
})

/** Every route of the service, with the methods that a stranger may expect. */
const ROUTES: readonly (readonly [path: string, methods: readonly string[]])[] = [
  ['/', ['GET']],
  ['/health', ['GET']],
  ['/livez', ['GET']],
  ['/readyz', ['GET']],
  ['/version', ['GET']],
  ['/metrics', ['GET']],
  ['/api/docs', ['GET']],
  ['/api/v1/docs', ['GET']],
  ['/api/docs/d1', ['GET', 'PUT', 'DELETE']],
  ['/api/v1/docs/d1', ['GET', 'PUT', 'DELETE']],
  ['/api/docs/d1/transfer', ['POST']],
  ['/api/v1/docs/d1/transfer', ['POST']],
  ['/api/docs/d1/collection', ['PUT']],
  ['/api/v1/docs/d1/collection', ['PUT']],
  ['/api/v1/internal/revoke', ['POST']],
]

/** Sends text over a bare socket and returns the whole answer. */
function exchange(text: string): Promise<string> {
  const { hostname, port } = new URL(relay.baseUrl)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text))
    let answer = ''
    socket.on('data', (chunk) => void (answer += chunk.toString()))
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}

describe('every REST route', () => {
  it.each(ROUTES)(
    '[REST-5] [REST-11] %s answers its methods, 405 with Allow to other methods, OPTIONS with Allow, and preflights',
    async (path, methods) => {
      const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].toSorted()
      const listOf = (header: unknown) => String(header).split(', ').toSorted()
      for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'PATCH', 'PROPFIND']) {
        if (allowed.includes(method)) continue
        const refused = await call(method, path)
        expect([method, refused.status, listOf(refused.headers.allow)]).toEqual([method, 405, allowed])
        if (method !== 'HEAD') expect(refused.json).toMatchObject({ errorCode: 'METHOD_NOT_ALLOWED' })
      }
      const options = await call('OPTIONS', path, { as: null })
      expect([options.status, options.text, listOf(options.headers.allow)]).toEqual([204, '', allowed])
      const asks = { origin: 'https://any.example', 'access-control-request-method': 'PUT' }
      const headers = { ...asks, 'access-control-request-headers': 'authorization,content-type, x-workspace-id' }
      const preflight = await call('OPTIONS', path, { as: null, headers })
      expect([preflight.status, preflight.text]).toEqual([204, ''])
      expect(preflight.headers).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-headers': 'authorization,content-type, x-workspace-id',
        'access-control-max-age': '86400',
      })
      expect(listOf(preflight.headers['access-control-allow-methods'])).toEqual(allowed)
      expect(preflight.headers['access-control-allow-credentials']).toBeUndefined()
    },
  )

  it('[REST-4] [REST-5] unknown, removed and future routes answer 404', async () => {
    const paths = [
      '/api',
      '/api/',
      '/api/docs/',
      '/api/docs/d1/',
      '//api/docs',
      '/API/docs',
      '/api/v2/docs',
      '/api/docs/d1/publish',
      '/api/docs/d1/nothing',
      '/api/v1/docs/d1/share',
      '/api/auth/register',
      '/api/auth/login',
      '/api/auth/me',
      '/api/auth/password',
      '/api/v1/health',
      '/api/docs/../docs/d1',
    ]
    for (const path of paths) {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
        const answer = await call(method, path)
        expect([path, answer.status, answer.json]).toEqual([
          path,
          404,
          { error: expect.any(String), errorCode: 'NOT_FOUND', resource: 'route' },
        ])
      }
      expect(await call('HEAD', path)).toMatchObject({ status: 404, text: '' })
    }
  })

  it('[REST-1] [REST-5] HEAD answers as GET without a body', async () => {
    for (const path of [
      '/',
      '/health',
      '/livez',
      '/readyz',
      '/version',
      '/metrics',
      '/api/docs',
      '/api/docs/d1',
      '/api/v1/docs/d1',
    ]) {
      const [get, head] = [await call('GET', path), await call('HEAD', path)]
      expect([path, get.status, head.status, head.text]).toEqual([path, 200, 200, ''])
      expect(head.headers['content-type']).toBe(get.headers['content-type'])
      expect(head.headers.etag).toBe(get.headers.etag)
    }
    expect(await call('HEAD', '/api/docs/none')).toMatchObject({ status: 404, text: '' })
    expect(await call('HEAD', '/api/docs', { as: null })).toMatchObject({ status: 401, text: '' })
  })
})

describe('headers of every answer', () => {
  const answers: readonly (readonly [string, string, number])[] = [
    ['GET', '/health', 200],
    ['GET', '/readyz', 200],
    ['GET', '/api/docs', 200],
    ['GET', '/api/docs/d1', 200],
    ['GET', '/api/docs/none', 404],
    ['GET', '/nowhere', 404],
    ['PATCH', '/api/docs', 405],
    ['GET', '/api/docs/..%2F', 400],
    ['GET', '/api/docs/%FF', 400],
    ['GET', '/api/docs?limit=0', 400],
    ['POST', '/api/v1/internal/revoke', 401],
    ['OPTIONS', '/api/docs', 204],
  ]

  it.each(answers)(
    '[REST-9] [REST-10] [REST-11] %s %s answers with the request id, nosniff and CORS headers',
    async (method, path, status) => {
      const answer = await call(method, path, { headers: { 'x-request-id': 'Mine.1_2-3', origin: 'https://x.example' } })
      expect(answer.status).toBe(status)
      expect(answer.headers).toMatchObject({
        'x-request-id': 'Mine.1_2-3',
        'x-content-type-options': 'nosniff',
        'access-control-allow-origin': '*',
      })
      const exposed = String(answer.headers['access-control-expose-headers']).split(', ').toSorted()
      const wanted =
        'ETag, Link, Location, Retry-After, X-Request-Id, Deprecation, Sunset, Content-Range, Content-Disposition, WWW-Authenticate, Mcp-Session-Id'
      expect(exposed).toEqual(wanted.split(', ').toSorted())
      if (status >= 400) {
        expect(answer.headers['content-type']).toBe('application/json')
        expect(Object.keys(answer.json).slice(0, 2)).toEqual(['error', 'errorCode'])
      }
    },
  )

  it('[REST-9] an unusable request id is replaced', async () => {
    const given = async (id: string) =>
      (await call('GET', '/health', { headers: { 'x-request-id': id } })).headers['x-request-id']
    expect(await given('a'.repeat(64))).toBe('a'.repeat(64))
    for (const bad of ['a'.repeat(65), '', 'a b', 'a/b', '<x>', 'é']) {
      const made = await given(bad)
      expect(made).toMatch(/^[A-Za-z0-9._-]{1,64}$/)
      expect(made).not.toBe(bad)
    }
  })

  it('[REST-10] document content is private and must be revalidated; a body is not stored at all', async () => {
    expect((await call('GET', '/api/docs')).headers['cache-control']).toBe('private, no-cache')
    expect((await call('GET', '/api/docs/d1')).headers['cache-control']).toBe('no-store')
    expect((await call('PUT', '/api/docs/d2', { body: {} })).headers['cache-control']).toBe('private, no-cache')
  })

  it('[REST-11] with a list of origins the answer echoes a listed origin and adds Origin to Vary', async () => {
    const other = rawHttp(listed)
    const from = async (origin: string | null, method = 'GET', path = '/api/docs/none') => {
      const asked: Record<string, string> = method === 'OPTIONS' ? { 'access-control-request-method': 'GET' } : {}
      const { headers } = await other(method, path, { headers: { ...(origin === null ? {} : { origin }), ...asked } })
      return [headers['access-control-allow-origin'], headers.vary]
    }
    for (const [method, path] of [
      ['GET', '/api/docs'],
      ['GET', '/nowhere'],
      ['OPTIONS', '/api/docs'],
      ['GET', '/health'],
    ] as const) {
      const vary = method === 'GET' && path === '/api/docs' ? 'Origin, Authorization, X-Workspace-Id' : 'Origin'
      expect(await from('https://two.example', method, path)).toEqual(['https://two.example', vary])
      for (const stranger of [null, 'https://three.example', 'null', 'https://one.example.evil', 'http://one.example'])
        expect(await from(stranger, method, path)).toEqual([undefined, vary])
    }
  })
})

describe('malformed and oversized requests', () => {
  it('[REST-2] [REST-7] a header block above 32 KiB answers 431 and another malformed request 400, both with an error body', async () => {
    const big = await exchange(`GET /api/docs HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(33 * 1024)}\r\n\r\n`)
    expect(big).toMatch(/^HTTP\/1\.1 431 /)
    expect(big).toMatch(/\r\nX-Request-Id: /i)
    expect(big).toContain('"errorCode":')
    const bad = await exchange('NOT HTTP\r\n\r\n')
    expect(bad).toMatch(/^HTTP\/1\.1 400 [^]*"errorCode":"BAD_REQUEST"/)
    const hostless = await exchange('GET /api/docs HTTP/1.1\r\nConnection: close\r\n\r\n')
    expect(hostless).toMatch(/^HTTP\/1\.1 400 [^]*"errorCode":"BAD_REQUEST"/)
  })

  it('[REST-7] JSON routes accept application/json, +json and no type, and answer 415 to others', async () => {
    const put = (type: string) => call('PUT', '/api/docs/typed', { body: '{}', headers: { 'content-type': type } })
    for (const good of ['application/json', 'Application/JSON; charset=utf-8', 'application/vnd.x+json', 'text/json+json'])
      expect([good, (await put(good)).status]).toEqual([good, 200])
    expect((await call('PUT', '/api/docs/typed', { body: '{}' })).status).toBe(200)
    for (const bad of [
      'text/plain',
      'application/octet-stream',
      'application/jsonx',
      'multipart/form-data; boundary=x',
      '+json',
    ]) {
      const answer = await put(bad)
      expect([bad, answer.status, answer.json.errorCode]).toEqual([bad, 415, 'UNSUPPORTED_MEDIA_TYPE'])
    }
  })

  it('[REST-7] JSON bodies of other routes may have at most 2 MiB, with a declared length or chunked', async () => {
    const body = `{"collectionId":null,"pad":"${'x'.repeat(2 * 1024 * 1024)}"}`
    for (const headers of [{}, { 'transfer-encoding': 'chunked', 'content-length': '' }]) {
      const chunked = 'transfer-encoding' in headers
      const answer = await (chunked
        ? fetch(`${relay.baseUrl}/api/docs/d1/collection`, {
            method: 'PUT',
            headers: { authorization: `Bearer ${relay.token()}` },
            body: new Blob([body]).stream(),
            duplex: 'half',
          } as RequestInit).then(async (response) => ({ status: response.status, json: await response.json() }))
        : call('PUT', '/api/docs/d1/collection', { body }))
      expect(answer).toMatchObject({ status: 413, json: { errorCode: 'BODY_TOO_LARGE', maxBytes: 2 * 1024 * 1024 } })
    }
  })

  it('[REST-8] unknown query members are ignored, and a known one with a bad value answers 400 with its name', async () => {
    expect((await call('GET', '/api/docs?nope=1&limit=1&x')).status).toBe(200)
    const bad = [
      'limit=',
      'limit=0',
      'limit=501',
      'limit=-1',
      'limit=1.0',
      'limit=1e2',
      'limit=0x1',
      'limit=%2B1',
      'cursor=',
      'cursor=zzz',
    ]
    for (const query of [...bad, `q=${'x'.repeat(201)}`]) {
      const answer = await call('GET', `/api/docs?${query}`)
      expect([query, answer.status, answer.json]).toEqual([
        query,
        400,
        expect.objectContaining({ errorCode: 'BAD_REQUEST', field: query.split('=')[0] }),
      ])
    }
    const put = [
      'expectedVersion=',
      'expectedVersion=-1',
      'expectedVersion=9223372036854775808',
      'expectedVersion=a',
      'expectedVersion=1.0',
    ]
    for (const query of [
      ...put,
      'overrideTombstone=',
      'overrideTombstone=yes',
      'overrideTombstone=TRUE',
      'overrideTombstone=2',
    ]) {
      const answer = await call('PUT', `/api/docs/d9?${query}`, { body: {} })
      expect([query, answer.status, answer.json]).toEqual([
        query,
        400,
        expect.objectContaining({ errorCode: 'BAD_REQUEST', field: query.split('=')[0] }),
      ])
    }
    expect((await call('PUT', '/api/docs/d9?expectedVersion=9007199254740991', { body: {} })).status).toBe(409)
    for (const flag of ['true', '1', 'false', '0'])
      expect((await call('PUT', `/api/docs/d9?overrideTombstone=${flag}`, { body: {} })).status).toBe(200)
  })
})
