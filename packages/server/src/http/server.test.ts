import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHttpServer } from './server.ts'
import { systemRandom } from '../kernel/ids.ts'
import { type RestRelay, startRestRelay } from './testing/rest-relay.ts'
import { sendRaw } from './testing/send-raw.ts'
import { patience, stopwatch } from '../kernel/testing/patience.ts'

let relay: RestRelay
let token: string
beforeAll(async () => {
  relay = await startRestRelay()
  token = relay.issuer.token({ sub: 'ann', role: 'member' })
})
afterAll(() => relay[Symbol.asyncDispose]())

const auth = (): string => `Authorization: Bearer ${token}\r\n`
const statuses = (received: string): string[] => [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => match[1] as string)

/** Checks that the relay still works after hostile input. */
async function stillHonest(): Promise<void> {
  expect((await relay.call('GET', '/health')).text).toBe('ok')
}

describe.concurrent('raw requests', () => {
  const put = (path: string, headers: string, body: string): string =>
    `PUT ${path} HTTP/1.1\r\nHost: h\r\n${auth()}${headers}\r\n${body}`
  const cases: readonly [name: string, request: () => string, expected: readonly string[]][] = [
    [
      'both Content-Length and chunked',
      () => put('/api/docs/s1', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n{}'),
      ['400'],
    ],
    ['two different Content-Lengths', () => put('/api/docs/s2', 'Content-Length: 2\r\nContent-Length: 3\r\n', '{} '), ['400']],
    ['a negative Content-Length', () => put('/api/docs/s3', 'Content-Length: -2\r\n', '{}'), ['400']],
    ['a Content-Length with a sign', () => put('/api/docs/s4', 'Content-Length: +2\r\n', '{}'), ['400']],
    ['a Content-Length in hex', () => put('/api/docs/s5', 'Content-Length: 0x2\r\n', '{}'), ['400']],
    ['an obsolete line folding', () => put('/api/docs/s6', 'Content-Length: 2\r\nX-A: b\r\n c\r\n', '{}'), ['200', '400']],
    ['a space before the colon', () => put('/api/docs/s7', 'Content-Length : 2\r\n', '{}'), ['400']],
    ['bare line feeds', () => `GET /api/docs HTTP/1.1\nHost: h\n${auth().replace('\r', '')}\n`, ['400']],
    ['a bad chunk size', () => put('/api/docs/s8', 'Transfer-Encoding: chunked\r\n', 'zz\r\n{}\r\n0\r\n\r\n'), ['400', '']],
    [
      'an unknown transfer coding',
      () => put('/api/docs/s9', 'Transfer-Encoding: xchunked\r\n', '2\r\n{}\r\n0\r\n\r\n'),
      ['400', '501'],
    ],
    ['two Hosts', () => `GET /api/docs HTTP/1.1\r\nHost: a\r\nHost: b\r\n${auth()}\r\n`, ['400']],
    ['no Host', () => `GET /api/docs HTTP/1.1\r\n${auth()}\r\n`, ['400']],
    ['an empty Host', () => `GET /api/docs HTTP/1.1\r\nHost:\r\n${auth()}\r\n`, ['400']],
    ['a Host with userinfo', () => `GET /api/docs HTTP/1.1\r\nHost: a@b\r\n${auth()}\r\n`, ['400']],
    ['no request line', () => 'nonsense\r\n\r\n', ['400']],
    ['an unknown method', () => 'BREW /api/docs HTTP/1.1\r\nHost: h\r\n\r\n', ['400']],
    ['TRACE', () => 'TRACE /api/docs HTTP/1.1\r\nHost: h\r\n\r\n', ['405']],
    ['CONNECT', () => 'CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n', ['', '400']],
    ['HTTP/2 over a plain connection', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', ['400', '']],
    ['a NUL in a header', () => 'GET /api/docs HTTP/1.1\r\nHost: h\r\nX-A: a\0b\r\n\r\n', ['400']],
    ['a target in absolute form', () => `GET http://h/health HTTP/1.1\r\nHost: h\r\n\r\n`, ['200']],
    ['a target without a slash', () => 'GET health HTTP/1.1\r\nHost: h\r\n\r\n', ['400']],
    ['the asterisk', () => 'GET * HTTP/1.1\r\nHost: h\r\n\r\n', ['400']],
    ['a backslash in the path', () => `GET /api\\docs HTTP/1.1\r\nHost: h\r\n${auth()}\r\n`, ['400']],
    ['a control character in the path', () => `GET /api/\x01docs HTTP/1.1\r\nHost: h\r\n${auth()}\r\n`, ['400']],
    ['bytes beyond ASCII in the path', () => put('/api/docs/é', 'Content-Length: 2\r\n', '{}'), ['400']],
    ['bytes beyond ASCII in the query', () => `GET /health?q=é HTTP/1.1\r\nHost: h\r\n\r\n`, ['400']],
    ['dot segments', () => `GET /api/docs/../docs/x HTTP/1.1\r\nHost: h\r\n${auth()}\r\n`, ['404']],
    ['encoded dot segments', () => `GET /api/docs/%2e%2e/docs HTTP/1.1\r\nHost: h\r\n${auth()}\r\n`, ['404', '200']],
    ['an encoded slash', () => `GET /api/docs/a%2Fb HTTP/1.1\r\nHost: h\r\n${auth()}\r\n`, ['400']],
    ['an encoded NUL', () => `GET /api/docs/a%00 HTTP/1.1\r\nHost: h\r\n${auth()}\r\n`, ['400']],
    ['overlong UTF-8', () => `GET /api/docs/%c0%af HTTP/1.1\r\nHost: h\r\n${auth()}\r\n`, ['400']],
    ['half an escape', () => `GET /api/docs/%e HTTP/1.1\r\nHost: h\r\n${auth()}\r\n`, ['400']],
    ['an unknown Expect', () => `GET /health HTTP/1.1\r\nHost: h\r\nExpect: the-unexpected\r\n\r\n`, ['200']],
    ['a Range, which documents do not have', () => `GET /health HTTP/1.1\r\nHost: h\r\nRange: bytes=0-0\r\n\r\n`, ['200']],
  ]

  it.each(cases)(
    '[F-9] [X40] a request with %s gets at most one answer, of the expected status, and the server keeps working',
    async (_, request, expected) => {
      const received = await relay.socket(request())
      expect(expected).toContain(statuses(received)[0] ?? '')
      expect(statuses(received).length).toBeLessThanOrEqual(1)
      await stillHonest()
    },
  )

  it('[REST-7] [H1] a header block above 32 KiB answers 431 with an error body', async () => {
    const received = await relay.socket(`GET /health HTTP/1.1\r\nHost: h\r\nX-Long: ${'a'.repeat(33 * 1024)}\r\n\r\n`)
    expect(statuses(received)).toEqual(['431'])
    expect(received).toContain('"errorCode":"HEADERS_TOO_LARGE"')
    expect(received).toMatch(/X-Content-Type-Options: nosniff/i)
    expect(statuses(await relay.socket(`GET /health HTTP/1.1\r\nHost: h\r\nX-Long: ${'a'.repeat(31 * 1024)}\r\n\r\n`))).toEqual([
      '200',
    ])
  })

  it('[REST-7] [REST-19] a condition behind hundreds of other headers is honoured like any other', async () => {
    const many = Array.from({ length: 400 }, (_, i) => `X-Filler-${i}: a\r\n`).join('')
    const write = (headers: string) =>
      relay.socket(put('/api/docs/conditional', `${many}Content-Length: 2\r\n${headers}`, '{}'), patience(5_000))
    expect(statuses(await write(''))).toEqual(['200'])
    expect(statuses(await write('If-Match: "7"\r\n'))).toEqual(['412'])
    expect((await relay.call('GET', '/api/docs/conditional', { token })).headers.get('etag')).toBe('"1"')
  })

  it('[OPS-1] [X25] a Host with an underscore, as names of containers have, is served', async () => {
    expect(statuses(await relay.socket('GET /health HTTP/1.1\r\nHost: my_relay:9876\r\n\r\n'))).toEqual(['200'])
  })

  it('[AUTH-2] a valid token of more than 16 KiB is accepted as long as the header block is within its limit', async () => {
    const claims = { filler: 'x'.repeat(20_000) }
    const long = relay.issuer.token({ sub: 'ann', role: 'member', claims })
    expect(long.length).toBeGreaterThan(16 * 1024)
    expect((await relay.call('GET', '/api/docs', { token: long })).status).toBe(200)
  })

  it('[REST-2] [REST-9] a request that cannot be parsed gets a JSON error with a request id', async () => {
    const received = await relay.socket('nonsense\r\n\r\n')
    expect(received).toMatch(/^HTTP\/1\.1 400 /)
    expect(received).toMatch(/X-Request-Id: req-/)
    expect(JSON.parse(received.slice(received.indexOf('\r\n\r\n')))).toMatchObject({ errorCode: 'BAD_REQUEST', field: 'request' })
  })

  it('[F-9] pipelined requests are answered in order', async () => {
    const received = await relay.socket(
      'GET /health HTTP/1.1\r\nHost: h\r\n\r\nGET /nowhere HTTP/1.1\r\nHost: h\r\n\r\nGET /livez HTTP/1.1\r\nHost: h\r\n\r\n',
    )
    expect(statuses(received)).toEqual(['200', '404', '200'])
  })

  it('[F-9] [REST-7] chunk extensions and trailers do not count as body', async () => {
    const body = '2;name=value\r\n{}\r\n0\r\nX-Trailer: x\r\n\r\n'
    const received = await relay.socket(put('/api/docs/chunked', 'Transfer-Encoding: chunked\r\nConnection: close\r\n', body))
    expect(statuses(received)).toEqual(['200'])
  })

  it('[F-9] a client that leaves in the middle of a body leaves nothing behind', async () => {
    await relay.socket(put('/api/docs/early', 'Content-Length: 100\r\n', '{"name":'), 200)
    expect((await relay.call('GET', '/api/docs/early', { token })).status).toBe(404)
    expect(relay.logLines.filter((line) => line.event === 'http.unexpected')).toEqual([])
    await stillHonest()
  })

  it('[F-9] an upgrade that no handler takes is answered like any request', async () => {
    const upgrade = (path: string, to: string, headers = '', body = '') =>
      relay.socket(`PUT ${path} HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, close\r\nUpgrade: ${to}\r\n${headers}\r\n${body}`)
    expect(statuses(await upgrade('/ws', 'websocket'))).toEqual(['404'])
    expect(statuses(await upgrade('/api/docs/h2c', 'h2c', `${auth()}Content-Length: 2\r\n`, '{}'))).toEqual(['200'])
    await stillHonest()
  })
})

describe('slow clients', () => {
  it('[REST-7] [H1] headers that do not arrive in time are refused, and a stalled body ends the connection', async () => {
    await using impatient = await startRestRelay({ timeouts: { headersMs: 300, stallMs: 1_000 } })
    const slow = await impatient.socket('GET /health HTTP/1.1\r\nHost: h\r\n', 3_000)
    expect(statuses(slow)).toEqual(['400'])
    const took = stopwatch()
    const bearer = impatient.issuer.token({ sub: 'ann' })
    const half = `PUT /api/docs/stalled HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${bearer}\r\nContent-Length: 100\r\n\r\n{"a"`
    expect(statuses(await impatient.socket(half, 5_000))).toEqual([])
    expect(took()).toBeLessThan(3_000)
    expect((await impatient.call('GET', '/api/docs/stalled', { token: bearer })).status).toBe(404)
  })
})

describe('listener', () => {
  const app = async () => undefined

  it('[H1] an upgrade request is handed over unparsed', async () => {
    const seen: (string | undefined)[] = []
    await using server = createHttpServer({
      app,
      onUpgrade(request, socket) {
        seen.push(request.url)
        socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
      },
      corsOrigins: ['*'],
      random: systemRandom,
    })
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
    const received = await sendRaw(
      port,
      'GET /ws?workspace=w HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    )
    expect(statuses(received)).toEqual(['403'])
    expect(seen).toEqual(['/ws?workspace=w'])
  })

  it('[H1] listening on a used port rejects', async () => {
    await using server = createHttpServer({ app, corsOrigins: ['*'], random: systemRandom })
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
    await using other = createHttpServer({ app, corsOrigins: ['*'], random: systemRandom })
    await expect(other.listen({ host: '127.0.0.1', port })).rejects.toThrow('EADDRINUSE')
  })
})
