import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ManualTime, manualTime } from '../kernel/testing/manual-time.ts'
import { fetchChunks, fetchJson, type FetchLimits, headersAfterRedirect, isOperatorUrl } from './operator-fetch.ts'

let server: Server
let url: string
let answer: (request: IncomingMessage, response: ServerResponse) => void
let requests: IncomingMessage[]
let time: ManualTime
let limits: FetchLimits

beforeEach(async () => {
  time = manualTime()
  limits = { timeoutMs: 300, maxBytes: 1_000, signal: new AbortController().signal, timers: time.timers }
  requests = []
  server = createServer((request, response) => {
    requests.push(request)
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

describe('addresses configured by the operator', () => {
  it.each([
    ['https://issuer.example/jwks', true],
    ['http://localhost:8080/jwks', true],
    ['http://127.0.0.1/jwks', true],
    ['http://[::1]:9/jwks', true],
    ['http://issuer.example/jwks', false],
    ['http://127.0.0.2/jwks', false],
    ['http://localhost.example/jwks', false],
    ['http://10.0.0.1/jwks', false],
    ['ftp://localhost/jwks', false],
    ['file:///etc/passwd', false],
  ])('[AUTH-13] the operator may configure %s: %s', (address, allowed) => {
    expect(isOperatorUrl(new URL(address))).toBe(allowed)
  })

  it('[AUTH-13] a plain http address elsewhere is refused without a request', async () => {
    await expect(fetchJson('http://issuer.example/jwks', limits)).rejects.toThrow('neither https nor loopback')
  })

  it('[AUTH-13] a plain http key set in a private network is read where that is allowed', async () => {
    answer = (_, response) => response.end('{"keys":[]}')
    const other = createServer((_, response) => response.end('{"keys":[2]}'))
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.2', resolve))
    const address = `http://127.0.0.2:${(other.address() as AddressInfo).port}/keys`
    await expect(fetchJson(address, limits)).rejects.toThrow('neither https nor loopback')
    expect(await fetchJson(address, { ...limits, privateHttp: true })).toEqual({ keys: [2] })
    other.closeAllConnections()
    await new Promise((resolve) => other.close(resolve))
  })

  it('[AUTH-9] a JSON answer with status 200 is read', async () => {
    answer = (_, response) => response.end('{"keys":[1]}')
    expect(await fetchJson(url, limits)).toEqual({ keys: [1] })
    expect(requests[0]?.headers['accept-encoding']).toBe('identity')
  })

  it.each([
    ['status 500', (response: ServerResponse) => response.writeHead(500).end('{}'), 'status 500'],
    ['status 204', (response: ServerResponse) => response.writeHead(204).end(), 'status 204'],
    ['HTML', (response: ServerResponse) => response.end('<html>'), 'not JSON'],
    ['a connection that breaks', (response: ServerResponse) => response.destroy(), 'ECONNRESET'],
    [
      'an answer that is cut',
      (response: ServerResponse) => response.writeHead(200, { 'content-length': '50' }).end('{"a":'),
      /./,
    ],
    ['no answer', () => time.advance(300), 'timeout'],
    ['an answer that drips', (response: ServerResponse) => drip(response), 'timeout'],
    [
      'more bytes than allowed',
      (response: ServerResponse) => response.end(JSON.stringify('x'.repeat(1_000))),
      'above 1000 bytes',
    ],
    [
      'a lying length',
      (response: ServerResponse) => response.writeHead(200).end(JSON.stringify('x'.repeat(100_000))),
      'above 1000 bytes',
    ],
    [
      'gzip that was not asked for',
      (response: ServerResponse) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{}')),
      'encoded answer',
    ],
    ['a redirect to http', (response: ServerResponse) => response.writeHead(302, { location: '/other' }).end(), 'not https'],
    ['a redirect without address', (response: ServerResponse) => response.writeHead(302).end(), 'status 302'],
    [
      'a redirect to https where nobody answers',
      (response: ServerResponse) => response.writeHead(307, { location: 'https://127.0.0.1:1/' }).end(),
      'ECONNREFUSED',
    ],
  ])('[AUTH-9] an answer of a key server is a failure: %s', async (_, respond, message) => {
    answer = (__, response) => void respond(response)
    await expect(fetchJson(url, limits)).rejects.toThrow(message)
    expect(requests).toHaveLength(1)
  })

  it.each([
    ['https://a.example/x', 'https://a.example/y', true],
    ['https://a.example/x', 'https://b.example/x', false],
    ['https://a.example/x', 'https://a.example:8443/x', false],
    ['http://localhost/x', 'https://localhost/x', false],
  ])('[AUTH-14] a redirect from %s to %s keeps the secret: %s', (from, to, kept) => {
    const headers = { authorization: 'Bearer x' }
    expect(headersAfterRedirect(headers, new URL(from), new URL(to))).toEqual(kept ? headers : {})
  })

  it('[AUTH-14] chunks are delivered as they arrive, and the time limit applies to each', async () => {
    let begun: ServerResponse | undefined
    answer = (_, response) => {
      begun = response
      response.write('a')
    }
    const rest = ['b', 'c']
    let text = ''
    for await (const chunk of fetchChunks(url, { ...limits, headers: { authorization: 'Bearer x' } })) {
      text += Buffer.from(chunk).toString()
      // Three waits of 200 ms together exceed the limit.
      await time.advance(200)
      const next = rest.shift()
      if (next === undefined) begun?.end()
      else begun?.write(next)
    }
    expect([text, requests[0]?.headers.authorization]).toEqual(['abc', 'Bearer x'])
  })

  it('[AUTH-14] a stalled or silent answer ends with an error', async () => {
    for (const start of ['', 'a']) {
      answer = (_, response) => void (start === '' ? time.advance(300) : response.write(start))
      const read = async (): Promise<void> => {
        for await (const _ of fetchChunks(url, limits)) void time.advance(300)
      }
      await expect(read()).rejects.toThrow('timeout')
    }
  })

  it('[AUTH-9] an exchange that has ended leaves no timer behind', async () => {
    answer = (_, response) => response.end('{}')
    await fetchJson(url, limits)
    for await (const _ of fetchChunks(url, limits));
    expect(time.waiting()).toBe(0)
  })
})

/** Sends a byte every third of the time limit. */
async function drip(response: ServerResponse): Promise<void> {
  while (!response.destroyed) {
    response.write(' ')
    await time.advance(100)
  }
}
