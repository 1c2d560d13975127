import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RestRelay, startRestRelay } from './testing/rest-relay.ts'

const ALL = 'GET, HEAD, PUT, POST, DELETE, OPTIONS'
const ASKS = {
  origin: 'https://app.example',
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization',
}

let relay: RestRelay
beforeAll(async () => {
  relay = await startRestRelay()
})
afterAll(() => relay[Symbol.asyncDispose]())

it.each(['/api/docs/x/anything', '/nowhere', '/api/v1/docs/x/publish', '/api/docs/%zz/anything'])(
  '[REST-11] the preflight of the unknown path %s answers 204 with all methods',
  async (path) => {
    const { status, text, headers } = await relay.call('OPTIONS', path, { headers: ASKS })
    expect([status, text, headers.get('access-control-allow-methods')]).toEqual([204, '', ALL])
    expect(headers.get('access-control-allow-headers')).toBe('authorization')
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-max-age')).toBe('86400')
  },
)

it('[REST-5] [REST-11] a request to an unknown path after its preflight gets 404 with CORS headers', async () => {
  const { status, json, headers } = await relay.call('POST', '/api/docs/x/anything', { headers: { origin: ASKS.origin } })
  expect([status, json['errorCode'], headers.get('access-control-allow-origin')]).toEqual([404, 'NOT_FOUND', '*'])
})

it.each([
  ['/api/docs', 'GET, HEAD, OPTIONS'],
  ['/api/docs/x/collection', 'PUT, OPTIONS'],
  ['/health', 'GET, HEAD, OPTIONS'],
])('[REST-5] an OPTIONS request to %s that is not a preflight answers 204 with Allow', async (path, allow) => {
  const { status, text, headers } = await relay.call('OPTIONS', path)
  expect([status, text, headers.get('allow')]).toEqual([204, '', allow])
  expect(headers.get('access-control-allow-methods')).toBe(null)
})

it('[REST-5] an OPTIONS request that is not a preflight answers 404 on an unknown path', async () => {
  expect((await relay.call('OPTIONS', '/nowhere')).status).toBe(404)
})

it('[REST-11] the preflight of an unknown path needs a usable Host, like every request', async () => {
  const received = await relay.socket('OPTIONS /nowhere HTTP/1.1\r\nHost: a@b\r\nAccess-Control-Request-Method: GET\r\n\r\n')
  expect(received).toMatch(/^HTTP\/1\.1 400 /)
})

it('[REST-11] a listener without CORS answers 404 to the preflight of an unknown path', async () => {
  await using closed = await startRestRelay({ corsOrigins: [] })
  const { status, headers } = await closed.call('OPTIONS', '/nowhere', { headers: ASKS })
  expect([status, headers.get('access-control-allow-methods')]).toEqual([404, null])
})
