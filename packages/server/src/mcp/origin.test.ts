import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { publicOrigin } from '../http/host-header.ts'
import { isLoopbackRequest } from './origin.ts'
import { type McpRelay, startMcpRelay, STATIC_TOKEN } from './testing/mcp-relay.ts'
import { legacy } from './testing/requests.ts'

let relay: McpRelay
let strict: McpRelay
beforeAll(async () => {
  relay = await startMcpRelay()
  strict = await startMcpRelay({ allowedOrigins: ['https://app.example'], corsOrigins: ['https://app.example'] })
})
afterAll(async () => {
  await relay[Symbol.asyncDispose]()
  await strict[Symbol.asyncDispose]()
})

/** Host, Origin, Content-Type, and the expected status. */
const CASES: readonly (readonly [string, string | undefined, string | undefined, 200 | 403 | 415])[] = [
  ['127.0.0.1', undefined, 'application/json', 200],
  ['127.0.0.1:1', undefined, 'application/json', 200],
  ['127.0.0.1:65535', undefined, undefined, 200],
  ['localhost', undefined, 'application/json', 200],
  ['LOCALHOST:9877', undefined, 'application/json', 200],
  ['[::1]', undefined, 'application/json', 200],
  ['[::1]:9877', undefined, 'application/json', 200],
  ['localhost', 'http://localhost', 'application/json', 200],
  ['localhost', 'http://localhost:3000', 'application/json', 200],
  ['127.0.0.1', 'https://127.0.0.1:3000', 'application/json', 200],
  ['127.0.0.1', 'http://[::1]:8080', 'application/json', 200],
  ['localhost', 'vscode-webview://localhost', 'application/json', 200],
  ['localhost', 'http://localhost', 'text/plain', 415],
  ['localhost', undefined, 'application/x-www-form-urlencoded', 415],
  ['localhost', undefined, 'multipart/form-data', 415],
  ['evil.example', undefined, 'application/json', 403],
  ['evil.example:9877', undefined, 'application/json', 403],
  ['evil.example', 'http://localhost', 'application/json', 403],
  ['localhost.evil.example', undefined, 'application/json', 403],
  ['127.0.0.1.evil.example', undefined, 'application/json', 403],
  ['evil.example#127.0.0.1', undefined, 'application/json', 403],
  ['user@127.0.0.1', undefined, 'application/json', 403],
  ['localhost.', undefined, 'application/json', 403],
  ['127.1', undefined, 'application/json', 403],
  ['127.0.0.2', undefined, 'application/json', 403],
  ['0.0.0.0', undefined, 'application/json', 403],
  ['2130706433', undefined, 'application/json', 403],
  ['::1', undefined, 'application/json', 403],
  ['[::2]', undefined, 'application/json', 403],
  ['[::ffff:127.0.0.1]', undefined, 'application/json', 403],
  ['localhost:', undefined, 'application/json', 403],
  ['localhost:port', undefined, 'application/json', 403],
  ['localhost', 'null', 'application/json', 403],
  ['localhost', '', 'application/json', 403],
  ['localhost', 'https://evil.example', 'application/json', 403],
  ['127.0.0.1', 'http://localhost.evil.example', 'application/json', 403],
  ['127.0.0.1', 'http://localhost@evil.example', 'application/json', 403],
  ['127.0.0.1', 'http://evil.example:80', 'text/plain', 403],
  ['127.0.0.1', 'http://127.0.0.1:80/path', 'application/json', 403],
  ['127.0.0.1', 'localhost', 'application/json', 403],
  ['127.0.0.1', 'file://', 'application/json', 403],
  ['127.0.0.1', 'http://localhost, http://evil.example', 'application/json', 403],
]

describe('the loopback listener', () => {
  it.each(CASES)('[MCP-4] [X24] Host %j, Origin %j, type %j: %i', async (host, origin, type, status) => {
    const headers = { host, ...(origin !== undefined && { origin }), ...(type !== undefined && { 'content-type': type }) }
    const answer = await relay.send({ ...legacy('ping'), bearer: STATIC_TOKEN, headers })
    expect(answer.status).toBe(status)
    if (status === 403) expect([answer.text, answer.headers['content-type']]).toEqual(['forbidden', 'text/plain'])
  })

  it('[MCP-3] [MCP-4] [X24] host and origin are checked first, on every method and path, whatever the credential', async () => {
    const headers = { host: 'evil.example' }
    for (const method of ['GET', 'DELETE', 'POST', 'PUT', 'OPTIONS', 'HEAD'])
      for (const path of ['/mcp', '/', '/.well-known/oauth-protected-resource', '/other']) {
        const { status, headers: sent } = await relay.send({ method, path, headers, bearer: 'nobody' })
        expect([method, path, status, sent['www-authenticate']]).toEqual([method, path, 403, undefined])
      }
  })

  it('[MCP-4] a request with two Host headers or none is refused', () => {
    expect(isLoopbackRequest({ hosts: ['localhost', 'localhost'], origin: undefined })).toBe(false)
    expect(isLoopbackRequest({ hosts: [], origin: undefined })).toBe(false)
  })

  it('[MCP-5] the loopback listener sends no CORS headers', async () => {
    for (const method of ['POST', 'GET'] as const) {
      const { headers } = await relay.send({
        ...legacy('ping'),
        method,
        path: method === 'GET' ? '/' : '/mcp',
        headers: { origin: 'http://localhost' },
      })
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })
})

describe('the main listener', () => {
  const mount = 'public'

  it('[MCP-5] without a list the main listener accepts every origin and every host', async () => {
    for (const origin of ['https://evil.example', 'null', undefined]) {
      const headers = { host: 'relay.example', ...(origin !== undefined && { origin }) }
      const answer = await relay.send({ ...legacy('ping'), mount, headers })
      expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, '*'])
      const exposed = String(answer.headers['access-control-expose-headers'])
      for (const name of ['Mcp-Session-Id', 'WWW-Authenticate', 'Retry-After']) expect(exposed).toContain(name)
    }
  })

  it('[MCP-5] with a list an Origin must be on it, checked before method and credential', async () => {
    const status = async (method: string, origin: string | undefined) =>
      (await strict.send({ ...legacy('ping'), method, mount, headers: origin === undefined ? {} : { origin } })).status
    expect(await status('POST', 'https://app.example')).toBe(200)
    expect(await status('POST', undefined)).toBe(200)
    for (const method of ['POST', 'DELETE', 'GET', 'OPTIONS', 'PUT'])
      for (const origin of ['https://evil.example', 'null', 'https://app.example.evil.example', 'http://app.example'])
        expect([method, origin, await status(method, origin)]).toEqual([method, origin, 403])
  })

  it('[MCP-5] [REST-11] a preflight needs no token and names the methods and headers', async () => {
    const answer = await strict.send({
      method: 'OPTIONS',
      mount,
      bearer: null,
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, mcp-method',
      },
    })
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
      'access-control-allow-headers': 'authorization, mcp-method',
      'access-control-max-age': '86400',
      vary: 'Origin',
    })
  })

  it('[MCP-5] refused requests have the CORS headers too', async () => {
    const answer = await relay.send({ ...legacy('ping'), mount, bearer: null })
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([401, '*'])
  })

  it('[X25] a host with characters that cannot be echoed is refused', async () => {
    const answer = await relay.send({ ...legacy('ping'), mount, bearer: null, headers: { host: 'a"b' } })
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([400, undefined])
  })
})

describe('the origin that answers name', () => {
  it.each([
    ['relay.example', undefined, 'https://relay.example'],
    ['relay.example:8443', 'https', 'https://relay.example:8443'],
    ['relay.example', 'http', 'http://relay.example'],
    ['relay.example', 'ftp', 'https://relay.example'],
    ['relay.example', 'HTTPS', 'https://relay.example'],
    ['relay.example', 'http, https', 'http://relay.example'],
    ['localhost:1', 'https,http', 'https://localhost:1'],
    ['localhost:9877', undefined, 'http://localhost:9877'],
    ['127.0.0.1:1', 'https', 'https://127.0.0.1:1'],
    ['[::1]:1', undefined, 'http://[::1]:1'],
    [undefined, undefined, 'http://127.0.0.1'],
  ])('[MCP-24] Host %j and X-Forwarded-Proto %j give %s', (host, proto, origin) => {
    expect(publicOrigin(host, proto)).toBe(origin)
  })

  it('[MCP-21] [MCP-23] [MCP-24] 401 and both discovery documents name the same origin, on both listeners', async () => {
    for (const [mount, host, proto, origin] of [
      ['local', 'localhost:77', undefined, 'http://localhost:77'],
      ['public', 'relay.example', 'https', 'https://relay.example'],
      ['public', 'relay.example', undefined, 'https://relay.example'],
    ] as const) {
      const headers = { host, ...(proto !== undefined && { 'x-forwarded-proto': proto }) }
      const refused = await relay.send({ ...legacy('ping'), mount, bearer: null, headers })
      expect(refused.headers['www-authenticate']).toBe(
        `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource"`,
      )
      for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
        const { status, json } = await relay.send({ method: 'GET', mount, path, bearer: null, headers })
        expect([status, json]).toEqual([
          200,
          { resource: `${origin}/mcp`, authorization_servers: [relay.issuer.issuer], bearer_methods_supported: ['header'] },
        ])
      }
    }
  })
})
