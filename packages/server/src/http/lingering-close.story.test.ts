import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LINGER_LIMITS, type LingerLimits } from './lingering-close.ts'
import type { Route } from './route.ts'
import { type RestRelay, startRestRelay } from './testing/rest-relay.ts'
import { stopwatch } from '../kernel/testing/patience.ts'

const MIB = 1_048_576
const HASH = `/api/blobs/${createHash('sha256').update('something else').digest('hex')}`
const TRANSFER = '/api/docs/any/transfer'
const IGNORING: Route = {
  method: 'POST',
  path: '/ignoring',
  credential: 'none',
  body: { kind: 'stream' },
  needs: 'none',
  summary: '',
  handle: async () => ({ kind: 'empty' }),
}

let relay: RestRelay
/** A relay with a storage quota of 1 byte. */
let full: RestRelay
beforeAll(async () => {
  relay = await startRestRelay({ routes: [IGNORING], blobs: { maxBlobBytes: 4 * MIB } })
  full = await startRestRelay({ limits: { storageQuotaBytes: 1 } })
})
afterAll(async () => {
  await relay[Symbol.asyncDispose]()
  await full[Symbol.asyncDispose]()
})

type Coding = 'declared' | 'chunked'
type Role = 'owner' | 'viewer' | null

interface Sent {
  readonly target: string
  readonly role: Role
  readonly bytes: number
  readonly coding?: Coding
  readonly expects?: boolean
}

function head(at: RestRelay, { target, role, bytes, coding, expects }: Sent): string {
  const [method = '', path = ''] = target.split(' ')
  return [
    `${method} ${path} HTTP/1.1`,
    'Host: h',
    ...(role === null ? [] : [`Authorization: Bearer ${at.issuer.token({ sub: 'ann', role })}`]),
    coding === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes}`,
    ...(expects === true ? ['Expect: 100-continue'] : []),
    '\r\n',
  ].join('\r\n')
}

/** Opens a client that keeps its own side open and reads nothing until the test says so. */
function open(at: RestRelay): Socket {
  return connect({ port: at.port, host: '127.0.0.1', allowHalfOpen: true }).pause()
}

function write(socket: Socket, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => socket.write(data, (error) => (error ? reject(error) : resolve())))
}

async function writeBody(socket: Socket, { bytes, coding }: Sent): Promise<void> {
  const part = new Uint8Array(Math.min(bytes, MIB)).fill(0x20)
  for (let sent = 0; sent < bytes; sent += part.byteLength) {
    if (coding === 'chunked') await write(socket, `${part.byteLength.toString(16)}\r\n`)
    await write(socket, part)
    if (coding === 'chunked') await write(socket, '\r\n')
  }
  if (coding === 'chunked') await write(socket, '0\r\n\r\n')
}

/** Reads until the relay ends its side, or until the received text matches `until`. */
function read(socket: Socket, until?: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    const done = (): void => {
      socket.pause().removeAllListeners('data')
      resolve(received)
    }
    socket.on('data', (data) => {
      received += data.toString('latin1')
      if (until?.test(received)) done()
    })
    socket.once('end', done).once('error', reject).resume()
  })
}

const until = (socket: Socket, event: string): Promise<unknown> => new Promise((resolve) => socket.once(event, resolve))
const summary = (received: string): string =>
  [...received.matchAll(/HTTP\/1\.1 (\d+) |"errorCode":"(\w+)"/g)].map((match) => match[1] ?? match[2]).join(' ')

const REFUSED: readonly [what: string, expected: string, sent: Sent][] = [
  ['JSON above its limit', '413 BODY_TOO_LARGE', { target: `POST ${TRANSFER}`, role: 'owner', bytes: 12 * MIB }],
  ['JSON without a credential', '401 UNAUTHENTICATED', { target: `POST ${TRANSFER}`, role: null, bytes: 12 * MIB }],
  ['a document above its limit', '413 BODY_TOO_LARGE', { target: 'PUT /api/docs/huge', role: 'owner', bytes: 130 * MIB }],
  ['a document without a credential', '401 UNAUTHENTICATED', { target: 'PUT /api/docs/huge', role: null, bytes: 12 * MIB }],
  ['a blob above its limit', '413 BLOB_TOO_LARGE', { target: `POST ${HASH}`, role: 'owner', bytes: 12 * MIB }],
  ['a blob of a viewer', '403 EDIT_FORBIDDEN', { target: `POST ${HASH}`, role: 'viewer', bytes: 12 * MIB }],
  ['a blob above the quota', '507 STORAGE_QUOTA', { target: `POST ${HASH}`, role: 'owner', bytes: 3 * MIB }],
  ['a blob of another hash', '400 HASH_MISMATCH', { target: `POST ${HASH}`, role: 'owner', bytes: MIB }],
  ['a body of no route', '404 NOT_FOUND', { target: 'POST /nowhere', role: 'owner', bytes: 12 * MIB }],
  ['a body that GET has', '200', { target: 'GET /health', role: null, bytes: 12 * MIB }],
  ['a body that the handler leaves', '204', { target: 'POST /ignoring', role: null, bytes: 12 * MIB }],
]

describe('a client that writes everything before it reads', () => {
  const cases = REFUSED.flatMap(([what, expected, sent]) =>
    (['declared', 'chunked'] as const).map((coding) => [what, coding, expected, sent] as const),
  )

  it.each(cases)('[REST-7] [REST-14] a client that sends %s, %s, gets its answer: %s', async (_, coding, expected, sent) => {
    const at = expected.startsWith('507') ? full : relay
    const socket = open(at)
    await write(socket, head(at, { ...sent, coding }))
    await writeBody(socket, { ...sent, coding })
    await sleep(20)
    const received = await read(socket, /\r\n\r\n(?:\{.*\}|ok|$)/)
    expect(summary(received)).toBe(expected)
    socket.destroy()
  })

  it('[REST-7] fetch gets the refusal while it still sends its body', async () => {
    const answer = await fetch(`${relay.url}${TRANSFER}`, {
      method: 'POST',
      body: new Uint8Array(24 * MIB),
      headers: { authorization: `Bearer ${relay.issuer.token({ sub: 'ann' })}`, 'content-type': 'application/json' },
    })
    expect([answer.status, await answer.json()]).toMatchObject([413, { errorCode: 'BODY_TOO_LARGE' }])
  })

  it.for(['bytes', 'chunks'])('[REST-7] http.client of Python gets the refusal, sending %s', async (how, context) => {
    const body = how === 'bytes' ? 'bytes(12 << 20)' : '(bytes(1 << 20) for _ in range(12))'
    const program = [
      'import http.client, json',
      `client = http.client.HTTPConnection('127.0.0.1', ${relay.port}, timeout=10)`,
      `headers = {'Authorization': 'Bearer ${relay.issuer.token({ sub: 'ann' })}', 'Content-Type': 'application/json'}`,
      `client.request('POST', '${TRANSFER}', ${body}, headers, encode_chunked=${how === 'chunks' ? 'True' : 'False'})`,
      'answer = client.getresponse()',
      "print(answer.status, json.loads(answer.read())['errorCode'])",
    ]
    if (how === 'chunks') program[2] = `${program[2]}; headers['Transfer-Encoding'] = 'chunked'`
    const printed = await new Promise<string | null>((resolve, reject) =>
      execFile('python3', ['-c', program.join('\n')], (error, stdout) =>
        error === null ? resolve(stdout) : error.code === 'ENOENT' ? resolve(null) : reject(error),
      ),
    )
    if (printed === null) return context.skip('there is no python3')
    expect(printed).toBe('413 BODY_TOO_LARGE\n')
  })
})

describe('requests with Expect: 100-continue', () => {
  it.each([
    ['413 BODY_TOO_LARGE', { target: `POST ${TRANSFER}`, role: 'owner', bytes: 3 * MIB }],
    ['401 UNAUTHENTICATED', { target: 'PUT /api/docs/x', role: null, bytes: 2 }],
    ['413 BLOB_TOO_LARGE', { target: `POST ${HASH}`, role: 'owner', bytes: 5 * MIB }],
    ['403 EDIT_FORBIDDEN', { target: `POST ${HASH}`, role: 'viewer', bytes: 2 }],
    ['404 NOT_FOUND', { target: 'POST /nowhere', role: 'owner', bytes: 2 }],
    ['204', { target: 'POST /ignoring', role: null, bytes: 2 }],
  ] as readonly [string, Sent][])(
    '[REST-7] a request refused by its headers is answered without asking for its body: %s',
    async (expected, sent) => {
      const socket = open(relay)
      await write(socket, head(relay, { ...sent, expects: true }))
      const received = await read(socket)
      expect(summary(received)).toBe(expected)
      expect(received).toMatch(/\r\nconnection: close\r\n/i)
      socket.destroy()
    },
  )

  it.each([
    ['200', { target: 'PUT /api/docs/expected', role: 'owner', bytes: 2 }],
    ['400 BAD_REQUEST', { target: `POST ${TRANSFER}`, role: 'owner', bytes: 2, coding: 'chunked' }],
    ['400 HASH_MISMATCH', { target: `POST ${HASH}`, role: 'owner', bytes: 2 }],
  ] as readonly [string, Sent][])(
    '[REST-7] a request whose body is read gets 100 Continue once and keeps its connection: %s',
    async (expected, sent) => {
      const socket = open(relay)
      await write(socket, head(relay, { ...sent, expects: true }))
      expect(await read(socket, /\r\n\r\n/)).toBe('HTTP/1.1 100 Continue\r\n\r\n')
      await write(socket, sent.coding === 'chunked' ? '2\r\n{}\r\n0\r\n\r\n' : '{}')
      expect(summary(await read(socket, /\r\n\r\n\{/))).toBe(expected)
      await write(socket, 'GET /health HTTP/1.1\r\nHost: h\r\n\r\n')
      expect(summary(await read(socket, /ok$/))).toBe('200')
      socket.destroy()
    },
  )

  it('[REST-7] Expect: 100-continue is ignored over HTTP/1.0', async () => {
    const request = head(relay, { target: 'PUT /api/docs/old', role: 'owner', bytes: 2, expects: true })
    const received = await relay.socket(`${request.replace('HTTP/1.1', 'HTTP/1.0')}{}`)
    expect(summary(received)).toBe('200')
  })
})

describe('the unread rest of a refused body', () => {
  it('[REST-7] a short rest is read, and the connection can be used again', async () => {
    const socket = open(relay)
    await write(socket, `${head(relay, { target: 'PUT /api/docs/x', role: null, bytes: 1_000 })}{`)
    const received = await read(socket, /\r\n\r\n\{/)
    expect(summary(received)).toBe('401 UNAUTHENTICATED')
    expect(received).not.toMatch(/connection: close/i)
    await write(socket, `${' '.repeat(999)}GET /health HTTP/1.1\r\nHost: h\r\n\r\n`)
    expect(summary(await read(socket, /ok$/))).toBe('200')
    socket.destroy()
  })

  it('[REST-7] refusing a body without a declared length ends the connection', async () => {
    const socket = open(relay)
    await write(socket, `${head(relay, { target: 'PUT /api/docs/x', role: null, bytes: 0, coding: 'chunked' })}1\r\n{\r\n`)
    expect(await read(socket)).toMatch(/^HTTP\/1\.1 401 [^]*\r\nconnection: close\r\n/i)
    socket.destroy()
  })

  it('[F-9] a pipelined request after a refused body does not run', async () => {
    const sent: Sent = { target: `POST ${TRANSFER}`, role: 'owner', bytes: 3 * MIB }
    const socket = open(relay)
    await write(socket, head(relay, sent))
    expect(summary(await read(socket))).toBe('413 BODY_TOO_LARGE')
    await writeBody(socket, { ...sent, bytes: 2 * MIB })
    const last = Buffer.concat([
      new Uint8Array(MIB),
      Buffer.from(`${head(relay, { target: 'PUT /api/docs/behind', role: 'owner', bytes: 2 })}{}`),
    ])
    await write(socket, last)
    await sleep(100)
    socket.destroy()
    expect((await relay.call('GET', '/api/docs/behind', { as: { sub: 'ann', role: 'owner' } })).status).toBe(404)
  })
})

describe('limits on lingering connections', () => {
  const limits: LingerLimits = { ...LINGER_LIMITS, idleMs: 400, totalMs: 2_000, maxBytes: 4 * MIB, maxSockets: 3 }
  const refused: Sent = { target: `POST ${TRANSFER}`, role: null, bytes: 64 * MIB }
  let short: RestRelay
  beforeAll(async () => {
    short = await startRestRelay({ linger: limits })
  })
  afterAll(() => short[Symbol.asyncDispose]())

  /** Opens a connection that lingers: its request was refused, the client has read the answer and sends nothing more. */
  async function lingering(at = short): Promise<Socket> {
    const socket = open(at)
    await write(socket, head(at, refused))
    expect(summary(await read(socket))).toBe('401 UNAUTHENTICATED')
    return socket.on('error', () => undefined)
  }

  /** Sends a byte every 50 ms until the relay closes; returns how long it took, in wall time and in time of a quiet machine. */
  async function trickle(socket: Socket): Promise<{ readonly wallMs: number; readonly quietMs: number }> {
    const startedMs = performance.now()
    const took = stopwatch()
    const closed = until(socket, 'close')
    const timer = setInterval(() => socket.write(' '), 50)
    await closed
    clearInterval(timer)
    return { wallMs: performance.now() - startedMs, quietMs: took() }
  }

  it('[H3] a client that sends nothing more is cut off after the idle time', async () => {
    const socket = await lingering()
    await sleep(600)
    expect((await trickle(socket)).quietMs).toBeLessThan(1_000)
  })

  it('[H3] a client that sends slowly is cut off after the total time', async () => {
    const { wallMs, quietMs } = await trickle(await lingering())
    expect(wallMs).toBeGreaterThan(1_500)
    expect(quietMs).toBeLessThan(4_000)
  })

  it('[H3] a client that sends endlessly is cut off after the byte limit', async () => {
    const socket = await lingering()
    const before = socket.bytesWritten
    const closed = until(socket, 'close')
    await expect(writeBody(socket, { ...refused, bytes: 60 * MIB })).rejects.toThrow(/EPIPE|ECONNRESET/)
    await closed
    expect(socket.bytesWritten - before).toBeGreaterThan(4 * MIB)
    expect(socket.bytesWritten - before).toBeLessThan(24 * MIB)
  })

  it('[H3] above the limit of lingering connections the next one is closed at once', async () => {
    const sockets = [await lingering(), await lingering(), await lingering()]
    expect((await trickle(await lingering())).quietMs).toBeLessThan(1_000)
    for (const socket of sockets) socket.destroy()
    await sleep(50)
    expect((await trickle(await lingering())).wallMs).toBeGreaterThan(1_500)
  })

  it('[LIFE-28] a shutdown waits for lingering connections only briefly, and then cuts them off', async () => {
    const own = await startRestRelay({ linger: { ...LINGER_LIMITS, shutdownMs: 200 } })
    const socket = await lingering(own)
    const took = stopwatch()
    await own.server.finishRequests()
    expect(took()).toBeLessThan(1_000)
    await own[Symbol.asyncDispose]()
    expect((await trickle(socket)).quietMs).toBeLessThan(1_000)
  })
})
