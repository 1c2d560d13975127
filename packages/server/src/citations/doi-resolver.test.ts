import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { manualTime } from '../kernel/testing/manual-time.ts'
import { directly } from '../outbound/guarded-hop.ts'
import { systemResolve } from '../outbound/resolver.ts'
import { type Internet, startInternet } from '../outbound/testing/internet.ts'
import type { Refusal } from '@docrelay/model/edit'
import { createDoiResolver, type DoiResolver } from './doi-resolver.ts'
import { stopwatch } from '../kernel/testing/patience.ts'

const ITEM = { type: 'article-journal', title: 'On <i>relays</i>' }

let local: Server
let internet: Internet
let base: URL
const requests: IncomingMessage[] = []
let answer: (response: ServerResponse, path: string) => void = () => undefined

beforeAll(async () => {
  internet = await startInternet(['resolver.example', 'publisher.example'])
  local = createServer((request, response) => {
    requests.push(request)
    answer(response, request.url ?? '')
  })
  local.listen(0, '127.0.0.1')
  await once(local, 'listening')
  base = new URL(`http://127.0.0.1:${(local.address() as AddressInfo).port}/`)
})
afterAll(async () => {
  local.closeAllConnections()
  await new Promise((resolve) => local.close(resolve))
  await internet[Symbol.asyncDispose]()
})
beforeEach(() => {
  requests.length = 0
  internet.requests.length = 0
  answer = (response) => response.end(JSON.stringify(ITEM))
})

const time = manualTime()

function localResolver(): DoiResolver {
  const network = { resolve: systemResolve, connect: directly }
  return createDoiResolver({ base, userAgent: 'docrelay/1.2.3', network, clock: time.clock })
}

function publicResolver(): DoiResolver {
  const url = new URL('https://resolver.example')
  return createDoiResolver({ base: url, userAgent: 'docrelay/1.2.3', network: internet.network, clock: time.clock })
}

describe('look-up of a DOI', () => {
  it('[REF-10] a look-up requests the item below the base and identifies the relay', async () => {
    const found = await localResolver().resolve('w', 'https://doi.org/10.1000/ABC')
    expect(found).toEqual({
      kind: 'resolved',
      doi: '10.1000/ABC',
      reference: { type: 'article-journal', title: 'On relays', id: '10.1000/abc', DOI: '10.1000/ABC' },
      cached: false,
    })
    expect(requests.map(({ method, url, headers }) => [method, url, headers.accept, headers['user-agent']])).toEqual([
      ['GET', '/10.1000/ABC', 'application/vnd.citationstyles.csl+json', 'docrelay/1.2.3'],
    ])
  })

  it('[REF-9] text that is not a DOI causes no request', async () => {
    expect(await localResolver().resolve('w', 'smith 2020')).toMatchObject({
      code: 'ERR_DOI_INVALID',
      facts: { doi: 'smith 2020' },
    })
    expect(requests).toEqual([])
  })

  it('[REF-9] [TOOL-14] a text above 300 characters causes no request, and a sentence shows at most 120 of a DOI', async () => {
    const answerOf = async (doi: string) => (await localResolver().resolve('w', doi)) as Refusal
    expect((await answerOf(`10.1000/${'x'.repeat(65_000)}`)).code).toBe('ERR_DOI_INVALID')
    expect(requests).toEqual([])
    const long = `10.1000/${'x'.repeat(292)}`
    answer = (response) => response.writeHead(404).end()
    expect((await answerOf(long)).message).toBe(`The resolver knows no DOI ${long.slice(0, 120)}….`)
    answer = (response) => response.writeHead(403).end()
    expect((await answerOf(long.replace('10.1000', '10.1001'))).message).not.toContain('x'.repeat(120))
  })

  it('[REF-11] an unknown DOI is not found, and any other bad answer means unavailable', async () => {
    answer = (response) => response.writeHead(404).end()
    expect(await localResolver().resolve('w', '10.1000/1')).toMatchObject({ code: 'ERR_DOI_NOT_FOUND' })
    const bad: readonly [string, (response: ServerResponse) => void, boolean][] = [
      ['no JSON', (response) => void response.end('<html>'), false],
      ['a list', (response) => void response.end('[]'), false],
      ['403', (response) => void response.writeHead(403).end(), false],
      ['too large', (response) => void response.end(`{"a":"${'x'.repeat(1_048_577)}"}`), false],
      ['too deep', (response) => void response.end(`{"a":${'['.repeat(300_000)}${']'.repeat(300_000)}}`), false],
      ['half a character', (response) => void response.end('{"title":"\\ud800"}'), false],
      ['429', (response) => void response.writeHead(429).end(), true],
    ]
    for (const [name, send, retryable] of bad) {
      requests.length = 0
      answer = send
      const outcome = await localResolver().resolve('w', '10.1000/1')
      expect(outcome, name).toMatchObject({ code: 'ERR_DOI_UNAVAILABLE', facts: { doi: '10.1000/1', retryable } })
      expect(requests.length, name).toBe(1)
    }
  })

  it('[REF-11] a failing resolver or connection is retried once', async () => {
    for (const fail of [(r: ServerResponse) => void r.writeHead(503).end(), (r: ServerResponse) => void r.socket?.destroy()]) {
      requests.length = 0
      answer = (response) => (requests.length === 1 ? fail(response) : response.end(JSON.stringify(ITEM)))
      expect(await localResolver().resolve('w', '10.1000/1')).toMatchObject({ kind: 'resolved' })
      requests.length = 0
      answer = fail
      expect(await localResolver().resolve('w', '10.1000/1')).toMatchObject({
        code: 'ERR_DOI_UNAVAILABLE',
        facts: { retryable: true },
      })
      expect(requests.length).toBe(2)
    }
  })
})

describe('the time of a look-up', () => {
  it('[REF-11] both tries together may take fifteen seconds', async () => {
    answer = (response) => {
      // The second try has no time left, so it is never answered.
      if (requests.length === 1) void time.advance(15_000).then(() => response.writeHead(503).end())
    }
    const took = stopwatch()
    expect(await localResolver().resolve('w', '10.1000/1')).toMatchObject({
      code: 'ERR_DOI_UNAVAILABLE',
      facts: { reason: 'timeout', retryable: true },
    })
    expect(took()).toBeLessThan(5_000)
  })

  it('[REF-11] [MCP-15] a call cancelled while it waits makes no request', async () => {
    const held: ServerResponse[] = []
    answer = (response, path) => void (path.includes('first') ? held.push(response) : response.end(JSON.stringify(ITEM)))
    const resolver = localResolver()
    const running = Array.from({ length: 4 }, (_, i) => resolver.resolve('w', `10.1000/first-${i}`))
    const abort = new AbortController()
    const waiting = resolver.resolve('w', '10.1000/late', abort.signal)
    await expect.poll(() => held.length).toBe(4)
    abort.abort()
    for (const response of held) response.end(JSON.stringify(ITEM))
    await expect(waiting).rejects.toThrow()
    await Promise.all(running)
    // A second try of the test before may arrive as late as now.
    expect(requests.map(({ url }) => url)).not.toContain('/10.1000/late')
  })
})

describe('redirects', () => {
  it('[REF-10] three redirects are followed, a fourth is not', async () => {
    internet.sites.set('resolver.example', (request, response) => {
      const hop = Number(new URL(request.url ?? '', 'https://x').searchParams.get('hop') ?? 0)
      const last = request.url?.includes('far') ? 9 : 3
      if (hop === last) response.end(JSON.stringify(ITEM))
      else response.writeHead(302, { location: `https://resolver.example/${last === 9 ? 'far' : 'near'}?hop=${hop + 1}` }).end()
    })
    expect(await publicResolver().resolve('w', '10.1000/near')).toMatchObject({ kind: 'resolved' })
    expect(await publicResolver().resolve('w', '10.1000/far')).toMatchObject({ code: 'ERR_DOI_UNAVAILABLE' })
  })

  it('[REF-10] no redirect to this machine, to plain http or back to a private base is followed', async () => {
    for (const location of [
      'https://127.0.0.1/x',
      'https://[::1]/x',
      'http://publisher.example/x',
      'https://10.0.0.1/',
      'file:///x',
    ]) {
      internet.sites.set('resolver.example', (_, response) => response.writeHead(302, { location }).end())
      expect(await publicResolver().resolve('w', '10.1000/1')).toMatchObject({
        code: 'ERR_DOI_UNAVAILABLE',
        facts: { retryable: false },
      })
    }
    expect(internet.trapped()).toBe(0)
    answer = (response, path) =>
      path === '/again' ? response.end(JSON.stringify(ITEM)) : response.writeHead(302, { location: `${base.href}again` }).end()
    expect(await localResolver().resolve('w', '10.1000/1')).toMatchObject({ code: 'ERR_DOI_UNAVAILABLE' })
    expect(requests.length).toBe(1)
  })

  it('[REF-10] plain http is used for this machine only', async () => {
    const url = new URL('http://resolver.example')
    const { network } = internet
    const resolver = createDoiResolver({ base: url, userAgent: 'x', network, clock: time.clock })
    expect(await resolver.resolve('w', '10.1000/1')).toMatchObject({ code: 'ERR_DOI_UNAVAILABLE' })
    expect(internet.requests).toEqual([])
  })
})

describe('the cache', () => {
  it('[REF-12] items are cached for a day and misses for five minutes, in any case of the DOI', async () => {
    const resolver = localResolver()
    await resolver.resolve('w', '10.1000/abc')
    expect(await resolver.resolve('other', 'doi:10.1000/ABC')).toMatchObject({ cached: true, doi: '10.1000/ABC' })
    await time.advance(24 * 3_600_000 - 1_000)
    expect(await resolver.resolve('w', '10.1000/abc')).toMatchObject({ cached: true })
    await time.advance(2_000)
    expect(await resolver.resolve('w', '10.1000/abc')).toMatchObject({ cached: false })
    expect(requests.length).toBe(2)

    answer = (response) => response.writeHead(404).end()
    await resolver.resolve('w', '10.1000/miss')
    await resolver.resolve('w', '10.1000/miss')
    expect(requests.length).toBe(3)
    await time.advance(300_000)
    await resolver.resolve('w', '10.1000/miss')
    expect(requests.length).toBe(4)
  })

  it('[REF-12] the cache of look-ups holds a thousand entries', async () => {
    const resolver = localResolver()
    for (let i = 0; i <= 1_000; i++) await resolver.resolve('w', `10.1000/${i}`)
    expect(await resolver.resolve('w', '10.1000/1')).toMatchObject({ cached: true })
    expect(await resolver.resolve('w', '10.1000/0')).toMatchObject({ cached: false })
  })
})

it('[REF-11] at most four look-ups run at a time for one workspace', async () => {
  const held: ServerResponse[] = []
  answer = (response) => void held.push(response)
  const resolver = localResolver()
  const all = Array.from({ length: 9 }, (_, i) => resolver.resolve('w', `10.1000/${i}`))
  const other = resolver.resolve('other', '10.1000/x')
  const until = async (count: number) => expect.poll(() => requests.length).toBe(count)
  await until(5)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(requests.length).toBe(5)
  answer = (response) => response.end(JSON.stringify(ITEM))
  for (const response of held) response.end(JSON.stringify(ITEM))
  expect((await Promise.all([...all, other])).every(({ kind }) => kind === 'resolved')).toBe(true)
})
