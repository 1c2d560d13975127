import { gzipSync } from 'node:zlib'
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { guardedFetch, type GuardedAnswer, type GuardedLimits } from './guarded-fetch.ts'
import { startInternet, type Internet, PUBLIC, PUBLIC_V6 } from './testing/internet.ts'
import { judgeUrl } from './url-rules.ts'
import { type ManualTime, manualTime } from '../kernel/testing/manual-time.ts'

const HOSTS = ['files.example', 'cdn.example']
const ALLOWED = [...HOSTS, 'unnamed.example']

let internet: Internet
let time: ManualTime
beforeAll(async () => {
  internet = await startInternet(HOSTS)
})
afterAll(() => internet[Symbol.asyncDispose]())
beforeEach(() => {
  time = manualTime()
  internet.requests.length = 0
  internet.connections.length = 0
})

const LIMITS: GuardedLimits = { totalMs: 5_000, idleMs: 2_000, maxRedirects: 5, maxHeaderBytes: 16_384, maxBytes: 100_000 }

function fetched(url: string, authorization: string | null = null, limits: Partial<GuardedLimits> = {}): Promise<GuardedAnswer> {
  const judge = (hop: URL) => judgeUrl(hop, ALLOWED)
  const request = {
    url: new URL(url),
    authorization,
    headers: { 'user-agent': 'docrelay/test' },
    judge,
    limits: { ...LIMITS, ...limits },
  }
  return guardedFetch(request, { ...internet.network, timers: time.timers })
}

async function textOf(answer: Promise<GuardedAnswer>): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of (await answer).body) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

/** Reads a fetch to its end and returns the details of its failure. */
async function failure(answer: Promise<GuardedAnswer>): Promise<Readonly<Record<string, unknown>>> {
  const outcome = await textOf(answer).catch((error: unknown) => error)
  if (!(outcome instanceof Error)) throw new Error('it did not fail')
  return { code: (outcome as { code?: string }).code, ...(outcome as { details?: object }).details }
}

const site = (host: string, answer: (response: ServerResponse, path: string) => void) =>
  internet.sites.set(host, (request, response) => answer(response, request.url ?? ''))
const redirects = (host: string, to: (path: string) => string) =>
  site(host, (response, path) => response.writeHead(302, { location: to(path) }).end())

describe('the request that is sent', () => {
  it('[BLOB-17] one GET is sent with host, name and path as given, and asks for no encoding', async () => {
    site('files.example', (response) => response.end('bytes'))
    expect(await textOf(fetched('https://files.example:8443/a%20b?c=d#e', 'Token x'))).toBe('bytes')
    const [received] = internet.requests
    expect(received?.path).toBe('/a%20b?c=d')
    expect(received?.headers).toMatchObject({
      host: 'files.example:8443',
      authorization: 'Token x',
      'accept-encoding': 'identity',
      'user-agent': 'docrelay/test',
      connection: 'close',
    })
  })

  it.each(['', ' ', '\t '])('[BLOB-17] a blank authorization (%j) is not sent', async (authorization) => {
    site('files.example', (response) => response.end('bytes'))
    await textOf(fetched('https://files.example/', authorization))
    expect(internet.requests.map(({ headers }) => headers.authorization)).toEqual([undefined])
  })

  it('[BLOB-17] [X27] authorization is sent to the first host again, and to no other host or port', async () => {
    const next = ['https://files.example/2', 'https://cdn.example/3', 'https://files.example./4', 'https://files.example:8443/5']
    let hop = 0
    for (const host of HOSTS)
      site(host, (response) => {
        const location = next[hop++]
        if (location === undefined) response.end('bytes')
        else response.writeHead(307, { location }).end()
      })
    await textOf(fetched('https://files.example/1', 'Basic abc'))
    expect(internet.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/1', 'Basic abc'],
      ['/2', 'Basic abc'],
      ['/3', undefined],
      ['/4', 'Basic abc'],
      ['/5', undefined],
    ])
  })

  it('[U3] no proxy is taken from the environment, and no connection is reused', async () => {
    const proxy = `http://127.0.0.1:${internet.trapPort}`
    const before = { ...process.env }
    Object.assign(process.env, { HTTPS_PROXY: proxy, https_proxy: proxy, ALL_PROXY: proxy, NODE_USE_ENV_PROXY: '1' })
    try {
      site('files.example', (response, path) =>
        path === '/2' ? response.end('bytes') : response.writeHead(302, { location: '/2' }).end(),
      )
      expect(await textOf(fetched('https://files.example/1'))).toBe('bytes')
    } finally {
      process.env = before
    }
    expect([internet.connections, internet.trapped()]).toEqual([[PUBLIC, PUBLIC], 0])
  })

  it('[BLOB-18] another address is tried only when the first refuses connections', async () => {
    site('cdn.example', (response) => response.end('bytes'))
    internet.names.set('cdn.example', [PUBLIC_V6, PUBLIC])
    const { resolve, connect } = internet.network
    const refusing = {
      resolve,
      connect: (address: string, port: number) =>
        address === PUBLIC_V6 ? { host: '127.0.0.1', port: 1 } : connect(address, port),
    }
    const request = {
      url: new URL('https://cdn.example/'),
      authorization: null,
      headers: {},
      judge: (hop: URL) => judgeUrl(hop, ALLOWED),
      limits: LIMITS,
    }
    expect(await textOf(guardedFetch(request, refusing))).toBe('bytes')
    site('cdn.example', (response) => response.destroy())
    internet.connections.length = 0
    expect(await failure(fetched('https://cdn.example/'))).toEqual({ code: 'FETCH_FAILED', reason: 'connection' })
    expect(internet.connections).toEqual([PUBLIC_V6])
    internet.names.set('cdn.example', [PUBLIC])
  })
})

describe('redirects', () => {
  it('[BLOB-17] five redirects are followed and a sixth is not, in a circle or not', async () => {
    redirects('files.example', (path) => `/${Number(path.slice(1)) + 1}`)
    site('cdn.example', (response) => response.end('bytes'))
    expect(await failure(fetched('https://files.example/0'))).toEqual({ code: 'FETCH_FAILED', reason: 'too many redirects' })
    expect(internet.requests.map(({ path }) => path)).toEqual(['/0', '/1', '/2', '/3', '/4', '/5'])
    redirects('files.example', (path) => (path === '/4' ? 'https://cdn.example/end' : `/${Number(path.slice(1)) + 1}`))
    expect(await textOf(fetched('https://files.example/0'))).toBe('bytes')
    redirects('files.example', () => '/same')
    expect(await failure(fetched('https://files.example/same'))).toEqual({ code: 'FETCH_FAILED', reason: 'too many redirects' })
  })

  it('[U3] the number of redirects can be set', async () => {
    redirects('files.example', () => '/again')
    expect(await failure(fetched('https://files.example/', null, { maxRedirects: 3 }))).toMatchObject({
      reason: 'too many redirects',
    })
    expect(internet.requests).toHaveLength(4)
  })

  it('[BLOB-18] each redirect must lead to https at a host of the allowlist', async () => {
    for (const [location, host] of [
      ['https://evil.example/', 'evil.example'],
      ['http://files.example/', 'files.example'],
      ['//evil.example/x', 'evil.example'],
      ['https://user@cdn.example/', 'cdn.example'],
      ['file:///etc/passwd', ''],
    ] as const) {
      redirects('files.example', () => location)
      expect(await failure(fetched('https://files.example/'))).toEqual({ code: 'URL_NOT_ALLOWED', host, hop: 1 })
    }
    expect(new Set(internet.connections)).toEqual(new Set([PUBLIC]))
  })

  it('[BLOB-17] a redirect without a usable target is a failure', async () => {
    redirects('files.example', () => 'https://')
    expect(await failure(fetched('https://files.example/'))).toEqual({ code: 'FETCH_FAILED', reason: 'bad redirect' })
    site('files.example', (response) => response.writeHead(302).end())
    expect(await failure(fetched('https://files.example/'))).toEqual({ code: 'FETCH_FAILED', reason: 'status', status: 302 })
  })
})

describe('the answers that are accepted', () => {
  it.each([201, 204, 206, 400, 401, 404, 500, 503])('[BLOB-17] status %i is a failure', async (status) => {
    site('files.example', (response) => response.writeHead(status).end(status === 204 ? undefined : 'a secret text'))
    expect(await failure(fetched('https://files.example/'))).toEqual({ code: 'FETCH_FAILED', reason: 'status', status })
  })

  it('[U4] an encoded answer is refused before a byte of it is decoded', async () => {
    for (const headers of [
      { 'content-encoding': 'gzip' },
      { 'content-encoding': 'br' },
      { 'content-encoding': 'identity, gzip' },
    ]) {
      site('files.example', (response) => response.writeHead(200, headers).end(gzipSync(Buffer.alloc(1_000_000))))
      expect(await failure(fetched('https://files.example/'))).toEqual({ code: 'FETCH_FAILED', reason: 'encoded' })
    }
    site('files.example', (response) => response.writeHead(200, { 'content-encoding': 'Identity' }).end('plain'))
    expect(await textOf(fetched('https://files.example/'))).toBe('plain')
  })

  it('[U4] received bytes are counted, whatever length was announced', async () => {
    site('files.example', (response) => response.writeHead(200, { 'content-length': '100001' }).end(Buffer.alloc(100_001)))
    expect(await failure(fetched('https://files.example/'))).toMatchObject({ reason: 'too large' })
    let sent = 0
    site('files.example', (response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) sent += 65_536
      }
      response.on('drain', more)
      more()
    })
    expect(await failure(fetched('https://files.example/'))).toMatchObject({ reason: 'too large' })
    expect(sent).toBeLessThan(20_000_000)
  })

  it('[U4] a body shorter than announced is an error', async () => {
    site('files.example', (response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half')
      setTimeout(() => response.destroy(), 20)
    })
    expect(await failure(fetched('https://files.example/'))).toEqual({ code: 'FETCH_FAILED', reason: 'cut short' })
  })

  it('[U4] too many headers end the request', async () => {
    site('files.example', (response) => response.writeHead(200, { 'x-flood': 'x'.repeat(17_000) }).end('bytes'))
    expect(await failure(fetched('https://files.example/'))).toEqual({ code: 'FETCH_FAILED', reason: 'headers too large' })
  })

  it('[U4] silence ends the request, before and within the answer; slow sending ends it after the total time', async () => {
    site('files.example', () => {})
    expect(await failure(fetched('https://files.example/', null, { idleMs: 150 }))).toEqual({
      code: 'FETCH_FAILED',
      reason: 'timeout',
    })
    site('files.example', (response) => response.write('begin'))
    const stalled = (await fetched('https://files.example/', null, { idleMs: 150 })).body[Symbol.asyncIterator]()
    expect((await stalled.next()).value).toEqual(Buffer.from('begin'))
    const awaited = stalled.next()
    await time.advance(149)
    expect(time.waiting()).toBe(2)
    await Promise.all([
      expect(awaited).rejects.toMatchObject({ code: 'FETCH_FAILED', details: { reason: 'timeout' } }),
      time.advance(1),
    ])
    expect(time.waiting()).toBe(0)

    let drop = (): void => undefined
    site('files.example', (response) => {
      drop = () => void response.write('.')
      drop()
    })
    const slow = (await fetched('https://files.example/', null, { idleMs: 150, totalMs: 500 })).body[Symbol.asyncIterator]()
    const read = async (): Promise<number> => {
      for (let pieces = 0; ; pieces++) {
        const next = await slow.next().catch(({ details }: { readonly details: { readonly reason: string } }) => details.reason)
        if (next === 'timeout') return pieces
        await time.advance(40)
        drop()
      }
    }
    // The last piece may have been read before the time was over.
    expect(await read()).toBeLessThanOrEqual(13)
  })

  it('[U4] a resolver that never answers ends the request after the silence limit', async () => {
    const network = { ...internet.network, timers: time.timers, resolve: () => new Promise<readonly string[]>(() => {}) }
    const request = {
      url: new URL('https://files.example/'),
      authorization: null,
      headers: {},
      judge: (hop: URL) => judgeUrl(hop, ALLOWED),
      limits: { ...LIMITS, idleMs: 100 },
    }
    const fetching = guardedFetch(request, network)
    await Promise.all([
      expect(fetching).rejects.toMatchObject({ code: 'FETCH_FAILED', details: { reason: 'timeout' } }),
      time.advance(100),
    ])
  })

  it('[U4] a slow reader does not count as silence of the server', async () => {
    site('files.example', (response) => response.end(Buffer.alloc(90_000)))
    let read = 0
    for await (const piece of (await fetched('https://files.example/', null, { idleMs: 500 })).body) {
      if (read === 0) await time.advance(1_000)
      read += piece.byteLength
    }
    expect(read).toBe(90_000)
  })

  it('[U4] a body that is ended early or never read closes its connection', async () => {
    let open = 0
    site('files.example', (response) => {
      open++
      response.on('close', () => open--)
      response.write(Buffer.alloc(1_000))
    })
    for await (const piece of (await fetched('https://files.example/')).body) {
      expect(piece.byteLength).toBe(1_000)
      break
    }
    ;(await fetched('https://files.example/')).discard()
    await expect.poll(() => open).toBe(0)
  })
})

describe('identity of the server', () => {
  it('[BLOB-18] a certificate for another name or of an unknown authority is refused', async () => {
    internet.names.set('unnamed.example', [PUBLIC])
    expect(await failure(fetched('https://unnamed.example/'))).toEqual({ code: 'FETCH_FAILED', reason: 'certificate' })
    const { resolve, connect } = internet.network
    const untrusting = { resolve, connect: (address: string, port: number) => ({ ...connect(address, port), ca: '' }) }
    const request = {
      url: new URL('https://files.example/'),
      authorization: 'secret',
      headers: {},
      judge: (hop: URL) => judgeUrl(hop, ALLOWED),
      limits: LIMITS,
    }
    await expect(guardedFetch(request, untrusting)).rejects.toMatchObject({ details: { reason: 'certificate' } })
    expect(internet.requests).toEqual([])
  })

  it('[U4] a name that does not resolve, and one that resolves to nothing, are failures', async () => {
    internet.names.delete('unnamed.example')
    expect(await failure(fetched('https://unnamed.example/'))).toEqual({ code: 'FETCH_FAILED', reason: 'no address' })
    internet.names.set('unnamed.example', [])
    expect(await failure(fetched('https://unnamed.example/'))).toEqual({ code: 'FETCH_FAILED', reason: 'no address' })
  })
})
