import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BuiltConsole, builtConsole, PAGE, SCRIPT, SCRIPT_TEXT } from '../../console/testing/built-console.ts'
import { sendRaw } from '../../http/testing/send-raw.ts'
import { type Call, rawHttp } from '../raw-http.ts'
import { type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.ts'

const POLICY = (connect: string) =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self' ${connect}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types ProseMirrorClipboard docrelay-html docrelay-svg`

let page: BuiltConsole
let relay: RelayUnderTest
let call: Call
beforeAll(async () => {
  page = builtConsole()
  const env = { ...page.env, RELAY_CONSOLE_AUTHORIZE_PARAMS: 'audience=service-relay&ui=dark%20mode' }
  relay = await startRelayUnderTest({ mcp: 'local', env })
  call = rawHttp(relay, { as: null })
})
afterAll(async () => {
  await relay?.[Symbol.asyncDispose]()
  page?.[Symbol.dispose]()
})

const issuer = (): string => new URL(relay.issuer.issuer).origin

/** Requests a path and returns the answer with its body as sent, without decoding. */
async function sent(path: string, encoding: string): Promise<{ readonly head: string; readonly body: Buffer }> {
  const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: ${encoding}\r\nConnection: close\r\n\r\n`
  const answer = Buffer.from(await sendRaw(Number(new URL(relay.baseUrl).port), request), 'latin1')
  const end = answer.indexOf('\r\n\r\n')
  return { head: answer.subarray(0, end).toString('latin1').toLowerCase(), body: answer.subarray(end + 4) }
}

describe('the page of the console', () => {
  it('[CON-1] [CON-5] is sent with headers that allow only its own scripts, and sets no cookie', async () => {
    const { status, text, headers } = await call('GET', '/console/')
    expect([status, text]).toEqual([200, PAGE])
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': POLICY(issuer()),
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
      vary: 'Accept-Encoding, Origin',
    })
    expect(headers).not.toHaveProperty('set-cookie')
  })

  it('[CON-4] gets 304 for its own ETag, and 200 for another one', async () => {
    const { etag = '' } = (await call('GET', '/console/')).headers
    const again = await call('GET', '/console/', { headers: { 'if-none-match': etag } })
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag])
    expect((await call('GET', '/console/', { headers: { 'if-none-match': 'W/"other"' } })).status).toBe(200)
  })

  it('[CON-1] is reached by a redirect from the path without its slash', async () => {
    const { status, headers } = await call('GET', '/console')
    expect([status, headers.location]).toEqual([302, 'console/'])
    expect(new URL(headers.location ?? '', `${relay.baseUrl}/console`).pathname).toBe('/console/')
  })

  it('[CON-8] is linked by the page at /, which does not redirect to it', async () => {
    const { status, text } = await call('GET', '/')
    expect(status).toBe(200)
    expect(text).toContain('<a href="/console/">')
  })
})

describe('files of the console', () => {
  it('[CON-4] a file with a hash in its name may be cached for ever, and any other file must be revalidated', async () => {
    expect((await call('GET', `/console/assets/${SCRIPT}`)).headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
    })
    expect((await call('GET', '/console/assets/logo.png')).headers).toMatchObject({
      'cache-control': 'no-cache',
      'content-type': 'image/png',
      etag: expect.stringMatching(/^W\/"[\w-]{22}"$/),
    })
  })

  it.each([
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
    ['identity', null, (bytes: Buffer) => bytes],
    ['br;q=0.0, gzip;q=0', null, (bytes: Buffer) => bytes],
  ] as const)('[CON-4] a client that accepts %s gets the encoding %s', async (accepted, encoding, decode) => {
    const { head, body } = await sent(`/console/assets/${SCRIPT}`, accepted)
    expect(/^content-encoding: (\w+)\r?$/m.exec(head)?.[1] ?? null).toBe(encoding)
    expect(head).toContain(`content-length: ${body.length}`)
    expect(decode(body).toString()).toBe(SCRIPT_TEXT)
  })

  it('[CON-4] a file of a compressed type is sent without encoding', async () => {
    expect((await sent('/console/assets/logo.png', 'br, gzip')).head).not.toContain('content-encoding')
  })

  it.each([
    '/console/nothing',
    '/console/assets/nothing.js',
    '/console/assets/',
    '/console/../../package.json',
    '/console/..%2f..%2fpackage.json',
    '/console/assets/..%2findex.html',
    '/console/assets/%2e%2e/index.html',
    '/console//etc/passwd',
    '/console/assets%2flogo.png',
    '/console/index.html%00',
  ])('[CON-3] %s is not a file of the console', async (path) => {
    const { head, body } = await sent(path, 'identity')
    expect(head).toMatch(/^http\/1\.1 404 /)
    expect(JSON.parse(body.toString())).toMatchObject({ errorCode: 'NOT_FOUND' })
  })

  it.each(['PUT', 'POST', 'DELETE', 'PATCH'])('[CON-4] %s is refused with 405, with the same headers', async (method) => {
    for (const path of ['/console', '/console/', '/console/config.json', `/console/assets/${SCRIPT}`]) {
      const { status, headers } = await call(method, path)
      expect([path, status, headers.allow]).toEqual([path, 405, 'GET, HEAD, OPTIONS'])
      expect(headers['content-security-policy']).toBe(POLICY(issuer()))
    }
  })

  it('[CON-4] HEAD gets the answer of GET without the content', async () => {
    for (const path of ['/console/', `/console/assets/${SCRIPT}`]) {
      const [head, get] = [await call('HEAD', path), await call('GET', path)]
      expect([head.status, head.text]).toEqual([200, ''])
      const ofThisAnswer = { 'x-request-id': expect.any(String), date: expect.any(String) }
      expect(head.headers).toEqual({ ...get.headers, ...ofThisAnswer })
    }
    expect(await call('HEAD', '/console/config.json')).toMatchObject({ status: 200, text: '' })
  })
})

describe('config.json of the console', () => {
  it('[CON-6] has everything that the page needs for a sign-in', async () => {
    const { json, headers } = await call('GET', '/console/config.json')
    expect(json).toEqual({
      issuer: relay.issuer.issuer,
      clientId: 'the-console',
      scope: 'openid offline_access',
      authorizeParams: { audience: 'service-relay', ui: 'dark mode' },
      mcpUrl: relay.mcpUrl,
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    })
    expect(headers['cache-control']).toBe('no-cache')
  })

  it('[CON-6] names a loopback MCP endpoint only to a page that was opened on this machine', async () => {
    const { json } = await call('GET', '/console/config.json', { headers: { host: 'relay.example' } })
    expect(json).toMatchObject({ mcpUrl: null })
  })

  it('[CON-7] the console gives no right: a caller without a token is refused', async () => {
    expect((await call('GET', '/api/docs')).status).toBe(401)
    expect((await call('GET', '/console/config.json', { headers: { cookie: 'session=x' } })).headers).not.toHaveProperty(
      'set-cookie',
    )
  })
})

describe('the configuration of the console', () => {
  it('[CON-1] [CON-5] decides the path, the MCP address, and which origins the policy of the page allows', async () => {
    await using other = await startRelayUnderTest({
      mcp: 'public',
      env: {
        ...page.env,
        RELAY_CONSOLE_PATH: '/work/write',
        RELAY_CONSOLE_SCOPE: 'openid docs',
        RELAY_CONSOLE_CONNECT_ORIGINS: 'https://id.example,http://10.0.0.1:8080',
        RELAY_BLOBS_URL: 's3://media?endpoint=http://127.0.0.1:1&public_endpoint=https://objects.example&region=r',
        RELAY_S3_ACCESS_KEY_ID: 'key',
        RELAY_S3_SECRET_ACCESS_KEY: 'secret',
      },
    })
    const origin = new URL(other.issuer.issuer).origin
    const answer = await fetch(`${other.baseUrl}/work/write/`)
    const connect = `${origin} https://media.objects.example https://id.example http://10.0.0.1:8080`
    expect(answer.headers.get('content-security-policy')).toBe(POLICY(connect))
    expect(await (await fetch(`${other.baseUrl}/work/write/config.json`)).json()).toMatchObject({
      mcpUrl: `${other.baseUrl}/mcp`,
      scope: 'openid docs',
      authorizeParams: {},
    })
    expect((await fetch(`${other.baseUrl}/console/`)).status).toBe(404)
  })

  it('[CON-1] a relay without the console does not serve its path', async () => {
    await using other = await startRelayUnderTest()
    expect((await fetch(`${other.baseUrl}/console/`)).status).toBe(404)
    expect(await (await fetch(`${other.baseUrl}/`)).text()).not.toContain('console')
  })

  it('[CON-3] a relay with the console enabled but not built refuses to start and names the build command', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'docrelay-no-console-'))
    try {
      const logLines: string[] = []
      const started = startRelayUnderTest({ logLines, env: { ...page.env, RELAY_CONSOLE_DIR: empty } })
      await expect(started).rejects.toThrow('ended with 1')
      const line = logLines.find((each) => each.includes('relay.start_failed')) ?? ''
      expect(line).toContain(`${join(empty, 'index.html')} is missing`)
      expect(line).toContain('npm run build:console')
    } finally {
      rmSync(empty, { recursive: true })
    }
  })
})
