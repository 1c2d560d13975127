import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, ReadStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RelayError } from '../kernel/errors.ts'
import type { Route, RouteReply, RouteRequest } from './route.ts'
import { type RestRelay, startRestRelay } from './testing/rest-relay.ts'
import { patienceClock } from '../kernel/testing/patience.ts'

const MIB = 1_048_576
const open = { method: 'GET', credential: 'none', body: { kind: 'none' }, needs: 'none', summary: '' } as const
const upload = { ...open, method: 'PUT', body: { kind: 'stream' } } as const
const BINARY = { 'Content-Type': 'application/octet-stream' }

/** Facts that the handlers noted. */
const seen = { opened: 0, chunks: 0, taken: 0, sourceEnded: 0, refusal: null as unknown }
let path: string
const content = randomBytes(8 * MIB)

async function* parts(of: readonly string[], fails = false): AsyncGenerator<Uint8Array> {
  try {
    for (const part of of) yield Buffer.from(part)
    if (fails) throw new Error('the disk is gone')
  } finally {
    seen.sourceEnded++
  }
}

async function* endless(): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      seen.chunks++
      yield new Uint8Array(65_536)
    }
  } finally {
    seen.sourceEnded++
  }
}

/** Makes a source that gives nothing until it is told to end. */
function neverReady(): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => undefined),
      return() {
        seen.sourceEnded++
        return Promise.resolve({ done: true, value: undefined })
      },
    }),
  }
}

function stream(length: number, source: () => AsyncIterable<Uint8Array>, partial = false): RouteReply {
  const opened = (): Promise<AsyncIterable<Uint8Array>> => {
    seen.opened++
    return Promise.resolve(source())
  }
  return { kind: 'stream', partial, length, open: opened, headers: { ...BINARY, ETag: '"e"' } }
}

async function collect(request: RouteRequest): Promise<RouteReply> {
  const hash = createHash('sha256')
  let length = 0
  try {
    for await (const chunk of request.stream) {
      hash.update(chunk)
      length += chunk.byteLength
      seen.taken = length
    }
  } catch (error) {
    seen.refusal = error
    throw error
  }
  return { kind: 'json', value: { length, hash: hash.digest('hex') } }
}

async function refuseAfterFirst(request: RouteRequest): Promise<RouteReply> {
  for await (const _ of request.stream) throw new RelayError('BLOB_TOO_LARGE', 'Too large.', { maxBytes: 1 })
  return { kind: 'empty' }
}

const ROUTES: readonly Route[] = [
  {
    ...open,
    path: '/bytes',
    handle: async () => ({ kind: 'bytes', bytes: Buffer.from('abc'), headers: { 'Content-Type': 'image/png' } }),
  },
  { ...open, path: '/file', handle: async () => stream(content.byteLength, () => createReadStream(path)) },
  { ...open, path: '/part', handle: async () => stream(4, () => parts(['ab', 'cd']), true) },
  { ...open, path: '/short', handle: async () => stream(10, () => parts(['ab'])) },
  { ...open, path: '/long', handle: async () => stream(1, () => parts(['ab', 'cd'])) },
  { ...open, path: '/fails', handle: async () => stream(10, () => parts(['ab'], true)) },
  { ...open, path: '/endless', handle: async () => stream(1024 * MIB, endless) },
  {
    ...open,
    path: '/closed',
    async handle() {
      const refused = (): never => {
        throw new RelayError('BLOB_STORE_ERROR', 'The store is away.', { reason: 'away' })
      }
      return { kind: 'stream', partial: false, length: 1, open: async () => refused(), headers: BINARY }
    },
  },
  {
    ...open,
    path: '/moved',
    handle: async () => ({ kind: 'redirect', location: 'https://elsewhere.example/x', headers: { 'Cache-Control': 'no-store' } }),
  },
  { ...upload, path: '/upload', handle: collect },
  { ...upload, path: '/refused', handle: refuseAfterFirst },
  { ...upload, path: '/unread', handle: () => sleep(20, { kind: 'empty' as const }) },
  { ...upload, path: '/private', credential: 'bearer', handle: collect },
  {
    ...upload,
    path: '/slow',
    async handle(request) {
      for await (const chunk of request.stream) {
        seen.chunks += chunk.byteLength
        await sleep(50)
      }
      return { kind: 'empty' }
    },
  },
  {
    ...open,
    method: 'POST',
    path: '/api/old/:id',
    unversioned: true,
    credential: 'bearer',
    body: { kind: 'json', maxBytes: 100 },
    headers: ({ params, origin }) => ({ Deprecation: '@1', 'X-For': encodeURIComponent(params.id ?? ''), 'X-At': origin }),
    checkParams({ id }) {
      if (id === 'bad') throw new RelayError('BAD_ID', 'Bad.', { field: 'id' })
    },
    handle: async () => ({ kind: 'json', value: {} }),
  },
]

let relay: RestRelay
beforeAll(async () => {
  relay = await startRestRelay({ routes: ROUTES, timeouts: { headersMs: 6_000, stallMs: 1_000 } })
  path = join(relay.directory, 'content')
  await writeFile(path, content)
})
afterAll(() => relay[Symbol.asyncDispose]())

const lengthOf = (answer: { readonly headers: Headers }) => answer.headers.get('content-length')

async function until(condition: () => boolean): Promise<void> {
  const givenUp = patienceClock(2_000)
  while (!condition() && !givenUp()) await sleep(10)
  expect(condition()).toBe(true)
}

/** Sends a request. Resolves with the response as soon as its headers arrive; the caller reads the body. */
function get(path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest({ port: relay.port, path, agent: false }, resolve).on('error', reject).end()
  })
}

describe('replies of bytes and streams', () => {
  it('[REST-1] bytes are sent with their type and length, for HEAD too', async () => {
    const got = await relay.call('GET', '/bytes')
    expect([got.status, got.text, got.headers.get('content-type'), lengthOf(got)]).toEqual([200, 'abc', 'image/png', '3'])
    const head = await relay.call('HEAD', '/bytes')
    expect([head.status, head.text, head.headers.get('content-type'), lengthOf(head)]).toEqual([200, '', 'image/png', '3'])
  })

  it('[REST-1] a stream arrives whole with its length, and a part of one as 206', async () => {
    const response = await get('/file')
    const hash = createHash('sha256')
    for await (const chunk of response) hash.update(chunk as Uint8Array)
    expect(hash.digest('hex')).toBe(createHash('sha256').update(content).digest('hex'))
    expect([response.headers['content-length'], response.headers['transfer-encoding']]).toEqual([
      String(content.byteLength),
      undefined,
    ])
    const part = await relay.call('GET', '/part')
    expect([part.status, part.text, lengthOf(part), part.headers.get('etag')]).toEqual([206, 'abcd', '4', '"e"'])
  })

  it('[REST-1] [REST-5] HEAD of a stream has its headers and opens nothing', async () => {
    const before = seen.opened
    const head = await relay.call('HEAD', '/part')
    expect([head.status, head.text, lengthOf(head), head.headers.get('etag')]).toEqual([206, '', '4', '"e"'])
    expect(seen.opened).toBe(before)
  })

  it('[REST-1] a redirect is 302 with its Location', async () => {
    const answer = await relay.call('GET', '/moved')
    expect([answer.status, answer.text, answer.headers.get('location')]).toEqual([302, '', 'https://elsewhere.example/x'])
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  it('[REST-2] a source that fails to open answers an error', async () => {
    const answer = await relay.call('GET', '/closed')
    expect([answer.status, answer.json.errorCode, answer.json.reason]).toEqual([502, 'BLOB_STORE_ERROR', 'away'])
  })

  it.each(['/short', '/long', '/fails'])(
    '[OPS-8] %s: a stream that differs from its declared length is cut and logged, and the server keeps working',
    async (where) => {
      const ended = seen.sourceEnded
      await expect(relay.call('GET', where)).rejects.toThrow()
      expect(relay.logLines.filter((line) => line.event === 'http.stream').at(-1)).toMatchObject({ level: 'error', route: where })
      expect(seen.sourceEnded).toBe(ended + 1)
      expect((await relay.call('GET', '/health')).text).toBe('ok')
    },
  )

  it('[REST-7] a client that reads slowly slows the source, and one that leaves ends it', async () => {
    const ended = seen.sourceEnded
    seen.chunks = 0
    const response = await get('/endless')
    response.once('data', () => response.pause())
    let ahead = 0
    const standsStill = async (): Promise<boolean> => {
      ahead = seen.chunks
      await sleep(200)
      return ahead > 0 && seen.chunks === ahead
    }
    const givenUp = patienceClock(10_000)
    while (!(await standsStill()) && !givenUp());
    expect(seen.chunks).toBe(ahead)
    expect(ahead * 65_536).toBeLessThan(64 * MIB)
    response.destroy()
    await until(() => seen.sourceEnded === ended + 1)
  })
})

describe('a client that leaves before the body is ready', () => {
  it.each([
    ['a generator', () => parts(['ab', 'cd'])],
    ['a file', () => createReadStream(path)],
    ['a source that is never ready', () => neverReady()],
  ])('[REST-7] a body from %s is released when its client has left', async (_, source) => {
    let release: (() => void) | null = null
    let given: AsyncIterable<Uint8Array> | null = null
    const ended = seen.sourceEnded
    const late: Route = {
      ...open,
      path: '/late',
      async handle() {
        await new Promise<void>((resolve) => {
          release = resolve
        })
        return stream(4, () => (given = source()))
      },
    }
    await using own = await startRestRelay({ routes: [late] })
    const socket = connect(own.port, '127.0.0.1')
    socket.write('GET /late HTTP/1.1\r\nHost: h\r\n\r\n')
    await until(() => release !== null)
    socket.destroy()
    await sleep(50)
    ;(release as (() => void) | null)?.()
    await own.server.finishRequests()
    await until(() => (given instanceof ReadStream ? given.destroyed : seen.sourceEnded > ended))
    expect(own.logLines.filter(({ level }) => level === 'error')).toEqual([])
  })
})

describe('streamed request bodies', () => {
  it.each([[{}], [{ 'transfer-encoding': 'chunked' }]] as Record<string, string>[][])(
    '[REST-7] every byte of a body reaches the handler, whatever its type, %j',
    async (headers) => {
      const answer = await relay.call('PUT', '/upload', { raw: content, headers: { 'content-type': 'image/png', ...headers } })
      const hash = createHash('sha256').update(content).digest('hex')
      expect([answer.status, answer.json]).toEqual([200, { length: content.byteLength, hash }])
    },
  )

  it('[REST-7] a body that was read completely, or has arrived completely, leaves the connection open', async () => {
    const put = (where: string): string => `PUT ${where} HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab`
    const received = await relay.socket(`${put('/upload')}${put('/unread')}GET /health HTTP/1.1\r\nHost: h\r\n\r\n`)
    expect([...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => match[1])).toEqual(['200', '204', '200'])
  })

  it('[REST-7] a request without a body has an empty one', async () => {
    expect((await relay.call('PUT', '/upload')).json.length).toBe(0)
  })

  it('[REST-7] a body that its client ends early is BAD_REQUEST for the handler', async () => {
    seen.refusal = null
    seen.taken = 0
    const socket = begin('/upload', 100)
    socket.write('part of it')
    await until(() => seen.taken === 'part of it'.length)
    socket.destroy()
    await until(() => seen.refusal !== null)
    expect(seen.refusal).toMatchObject({ code: 'BAD_REQUEST', details: { field: 'body' } })
  })

  it('[REST-7] a stalled body ends the connection and is BAD_REQUEST for the handler', async () => {
    seen.refusal = null
    const socket = begin('/upload', 100)
    socket.write('part of it')
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await until(() => seen.refusal !== null)
    await closed
    expect(seen.refusal).toMatchObject({ code: 'BAD_REQUEST' })
  })

  it('[REST-7] [H3] a body refused while it arrives is not read further, and the connection ends with the answer', async () => {
    for (const where of ['/refused', '/unread', '/private']) {
      const { received, taken } = await flood(where)
      expect(received).toMatch(
        where === '/refused' ? /^HTTP\/1.1 413 / : where === '/unread' ? /^HTTP\/1.1 204 / : /^HTTP\/1.1 401 /,
      )
      expect(received).toMatch(/\r\nconnection: close\r\n/i)
      expect(taken).toBeLessThan(64 * MIB)
    }
  })

  it('[REST-7] a handler that reads slowly slows the sender', async () => {
    seen.chunks = 0
    const socket = begin('/slow', 256 * MIB)
    socket.write(new Uint8Array(256 * MIB))
    await until(() => seen.chunks > 0)
    await sleep(200)
    expect(socket.writableLength).toBeGreaterThan(200 * MIB)
    socket.destroy()
  })
})

describe('headers of a route', () => {
  const bearer = { sub: 'ann', role: 'member' } as const
  const post = (id: string, options: Parameters<RestRelay['call']>[2] = {}) => relay.call('POST', `/api/old/${id}`, options)

  it('[REST-37] headers of a route are on every answer of it, errors included', async () => {
    const ok = { as: bearer, body: {} }
    const answers = [
      [200, await post('a%2Fb', ok)],
      [401, await post('a%2Fb', { body: {} })],
      [415, await post('a%2Fb', { as: bearer, raw: 'x', headers: { 'content-type': 'text/plain' } })],
      [413, await post('a%2Fb', { as: bearer, raw: 'x'.repeat(101) })],
      [405, await relay.call('GET', '/api/old/a%2Fb')],
    ] as const
    for (const [status, answer] of answers) {
      expect([answer.status, answer.headers.get('deprecation'), answer.headers.get('x-for')]).toEqual([status, '@1', 'a%2Fb'])
      expect(answer.headers.get('x-at')).toBe(`http://127.0.0.1:${relay.port}`)
    }
    for (const id of ['bad', '%e']) {
      const answer = await post(id, ok)
      expect([answer.status, answer.json.errorCode, answer.headers.get('deprecation')]).toEqual([400, 'BAD_ID', '@1'])
    }
    relay.draining = true
    const draining = await post('x', ok).finally(() => (relay.draining = false))
    expect([draining.status, draining.headers.get('deprecation')]).toEqual([503, '@1'])
  })

  it('[X25] [REST-37] a refused host name does not appear in the headers of a route', async () => {
    const answer = await post('x', { headers: { host: 'a"b' } })
    expect([answer.status, answer.headers.get('x-at')]).toEqual([400, 'http://127.0.0.1'])
  })

  it('[REST-4] an unversioned route is unknown under /api/v1/', async () => {
    expect((await post('x', { as: bearer, body: {} })).status).toBe(200)
    const answer = await relay.call('POST', '/api/v1/old/x', { as: bearer, body: {} })
    expect([answer.status, answer.json.resource]).toEqual([404, 'route'])
  })
})

function begin(where: string, length: number): Socket {
  const socket = connect(relay.port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(`PUT ${where} HTTP/1.1\r\nHost: h\r\nContent-Length: ${length}\r\n\r\n`)
  return socket
}

/** Sends without end. Returns the text received, and how many bytes the relay took until it closed. */
function flood(where: string): Promise<{ readonly received: string; readonly taken: number }> {
  return new Promise((resolve) => {
    const socket = begin(where, 1024 * MIB)
    let received = ''
    const chunk = new Uint8Array(MIB)
    const send = (): void => {
      while (socket.writable && socket.write(chunk)) if (socket.bytesWritten > 1024 * MIB) return
    }
    socket.on('drain', send)
    socket.on('data', (data) => (received += data.toString('latin1')))
    socket.on('close', () => resolve({ received, taken: socket.bytesWritten - socket.writableLength }))
    send()
  })
}
