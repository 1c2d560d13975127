import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import { afterEach, expect, it } from 'vitest'
import { systemRandom } from '../kernel/ids.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'
import { patience } from '../kernel/testing/patience.ts'
import { createAnswerBudget, REFUSAL_LIMITS, type RefusalLimits } from './connection-cap.ts'
import { createHttpServer } from './server.ts'

interface Listener extends AsyncDisposable {
  readonly port: number
  /** Paths of the requests that reached the app. */
  readonly seen: readonly string[]
  refused: number
}

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

/** Starts a listener that answers every request. An upgraded WebSocket stays open without any frame. */
async function listener(most: number, limits: Partial<RefusalLimits> = {}): Promise<Listener> {
  const seen: string[] = []
  const upgraded: Duplex[] = []
  const server = createHttpServer({
    async app(incoming, outgoing) {
      seen.push(incoming.url ?? '')
      outgoing.end('served')
    },
    onUpgrade(request, socket) {
      seen.push(`upgrade ${request.url}`)
      upgraded.push(socket)
      socket.on('error', () => undefined)
      socket.on('end', () => socket.destroy())
      socket.resume()
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
    },
    cap: {
      most,
      alwaysAnswered: ['/livez'],
      onRefused: () => void made.refused++,
      limits: { ...REFUSAL_LIMITS, ...limits },
    },
    corsOrigins: ['*'],
    random: systemRandom,
  })
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  const made = {
    port,
    seen,
    refused: 0,
    async [Symbol.asyncDispose]() {
      for (const socket of upgraded) socket.destroy()
      await server[Symbol.asyncDispose]()
    },
  }
  return made
}

const REQUEST = 'GET /any HTTP/1.1\r\nHost: h\r\n\r\n'
const UPGRADE = 'GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'

interface Peer {
  readonly socket: Socket
  received(): string
  /** Resolves when the relay has closed its side, or the whole connection. */
  readonly ended: Promise<void>
}

/** A client that never closes its own side. */
function peer(port: number, text: string): Peer {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined)
  sockets.push(socket)
  let received = ''
  socket.on('data', (data) => void (received += data.toString('latin1')))
  if (text !== '') socket.write(text)
  const ended = new Promise<void>((resolve) => socket.once('end', resolve).once('close', () => resolve()))
  return { socket, received: () => received, ended }
}

/** Opens connections that stay open: WebSockets, or connections that are kept alive for a further request. */
async function take(port: number, count: number, text = UPGRADE): Promise<readonly Peer[]> {
  const peers = Array.from({ length: count }, () => peer(port, text))
  for (const { received } of peers) await expect.poll(received, { timeout: patience(5_000) }).toMatch(/^HTTP\/1\.1 (200|101) /)
  return peers
}

it('[H11] a connection above the cap gets 503 UNAVAILABLE with Retry-After and a request id, and is closed', async () => {
  await using full = await listener(2)
  await take(full.port, 2)
  const { received, ended } = peer(full.port, REQUEST)
  await ended
  expect(received()).toMatch(/^HTTP\/1\.1 503 UNAVAILABLE\r\n/)
  expect(received()).toMatch(/\r\nRetry-After: 5\r\n/)
  expect(received()).toMatch(/\r\nConnection: close\r\n/)
  expect(received()).toMatch(/\r\nX-Request-Id: req-/)
  const [head = '', body = ''] = received().split('\r\n\r\n')
  expect(Number(/Content-Length: (\d+)/.exec(head)?.[1])).toBe(body.length)
  expect(JSON.parse(body)).toEqual({
    error: expect.stringContaining('connections'),
    errorCode: 'UNAVAILABLE',
    retryAfterMs: 5_000,
  })
  expect([full.refused, full.seen]).toEqual([1, ['upgrade /ws', 'upgrade /ws']])
})

it('[H11] a WebSocket client above the cap sees the 503', async () => {
  await using full = await listener(1)
  await take(full.port, 1)
  const socket = new WebSocket(`ws://127.0.0.1:${full.port}/ws`)
  const [status, retryAfter] = await new Promise<[number | undefined, string | undefined]>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('unexpected-response', (_, { statusCode, headers }) => resolve([statusCode, headers['retry-after']]))
  })
  expect([status, retryAfter]).toEqual([503, '5'])
})

it('[H11] a client that sends a long body to a full relay sees the 503', async () => {
  await using full = await listener(1, { holdMs: 60_000 })
  await take(full.port, 1)
  const answer = await fetch(`http://127.0.0.1:${full.port}/any`, { method: 'PUT', body: new Uint8Array(4 * 1_048_576) })
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
  expect(await answer.json()).toMatchObject({ errorCode: 'UNAVAILABLE' })
})

it('[H11] [REST-2] the answer to HEAD above the cap has no body', async () => {
  await using full = await listener(1)
  await take(full.port, 1)
  const { received, ended } = peer(full.port, REQUEST.replace('GET', 'HEAD'))
  await ended
  expect(received()).toMatch(/^HTTP\/1\.1 503 [^]*\r\n\r\n$/)
})

it('[H11] a place is free again when a connection ends', async () => {
  await using full = await listener(2)
  const [first] = await take(full.port, 2, REQUEST)
  first?.socket.destroy()
  await expect.poll(async () => (await fetch(`http://127.0.0.1:${full.port}/any`)).status, { timeout: patience(5_000) }).toBe(200)
})

it('[H11] WebSockets take places until they end', async () => {
  await using full = await listener(2)
  const [first] = await take(full.port, 2)
  const refused = peer(full.port, UPGRADE)
  await refused.ended
  expect(refused.received()).toMatch(/^HTTP\/1\.1 503 /)
  first?.socket.destroy()
  await expect
    .poll(
      async () => {
        const next = peer(full.port, UPGRADE)
        await expect.poll(next.received, { timeout: patience(5_000) }).not.toBe('')
        return next.received().slice(0, 12)
      },
      { timeout: patience(5_000) },
    )
    .toBe('HTTP/1.1 101')
})

it('[H11] a path that is always answered is answered above the cap, and its connection is then closed', async () => {
  await using full = await listener(1)
  await take(full.port, 1)
  for (const path of ['/livez', '/livez?probe=1']) {
    const { received, ended } = peer(full.port, `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`)
    await ended
    expect(received()).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n[^]*served$/i)
  }
  expect(full.refused).toBe(0)
  const similar = peer(full.port, 'GET /livezz HTTP/1.1\r\nHost: h\r\n\r\n')
  await similar.ended
  expect(similar.received()).toMatch(/^HTTP\/1\.1 503 /)
})

it('[H11] a second request on a connection above the cap is not handled', async () => {
  await using full = await listener(1)
  await take(full.port, 1)
  const { received, ended } = peer(full.port, `GET /livez HTTP/1.1\r\nHost: h\r\n\r\n${REQUEST}`)
  await ended
  expect(received().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200'])
  expect(full.seen).toEqual(['upgrade /ws', '/livez'])
})

it('[H11] an upgrade sent after a path that is always answered does not pass the cap', async () => {
  await using full = await listener(1)
  await take(full.port, 1)
  const before = peer(full.port, UPGRADE.replace('/ws', '/livez'))
  await before.ended
  const behind = peer(full.port, `GET /livez HTTP/1.1\r\nHost: h\r\n\r\n${UPGRADE}`)
  await behind.ended
  expect(before.received() + behind.received()).not.toContain(' 101 ')
  expect(full.seen).toEqual(['upgrade /ws', '/livez'])
})

it('[H11] a connection above the cap that sends nothing is answered with 503 as well', async () => {
  await using full = await listener(1, { holdMs: 100 })
  await take(full.port, 1)
  const { received, ended } = peer(full.port, '')
  await ended
  expect(received()).toMatch(/^HTTP\/1\.1 503 /)
})

it('[H11] when more connections than may be held send nothing, the oldest is answered at once', async () => {
  await using full = await listener(1, { held: 2, holdMs: 600_000 })
  await take(full.port, 1)
  const oldest = peer(full.port, '')
  await new Promise((resolve) => oldest.socket.once('connect', resolve))
  const younger = [peer(full.port, ''), peer(full.port, '')]
  await oldest.ended
  expect(oldest.received()).toMatch(/^HTTP\/1\.1 503 /)
  expect(younger.map(({ received }) => received())).toEqual(['', ''])
})

it('[H11] a client that neither sends nor closes after its answer loses its connection', async () => {
  await using full = await listener(1, { holdMs: 100 })
  await take(full.port, 1)
  const { socket, ended } = peer(full.port, '')
  await ended
  let isClosed = false
  socket.once('close', () => (isClosed = true))
  const drip = setInterval(() => socket.write('a'), 20)
  await expect
    .poll(() => isClosed, { timeout: patience(5_000) })
    .toBe(true)
    .finally(() => clearInterval(drip))
})

it('[H11] connections above the number of answers per second are closed without an answer, and counted', async () => {
  await using full = await listener(1, { perSec: 0 })
  await take(full.port, 1)
  const peers = Array.from({ length: 20 }, () => peer(full.port, REQUEST))
  await Promise.all(peers.map(({ ended }) => ended))
  expect(peers.map(({ received }) => received()).join('')).toBe('')
  expect(full.refused).toBe(20)
})

it('[H11] an address gets at most its share of the refusals answered in a second, and a new share each second', async () => {
  const { clock, advance } = manualTime()
  const budget = createAnswerBudget({ perSec: 5, perAddressPerSec: 3 }, clock)
  const taken = (address: string) => Array.from({ length: 10 }, () => budget.takes(address)).filter(Boolean).length
  expect([taken('a'), taken('b'), taken('c')]).toEqual([3, 2, 0])
  await advance(1_000)
  expect([taken('c'), taken('a')]).toEqual([3, 2])
})

it('[H11] a listener that stops closes the connections that it holds for a refusal', async () => {
  const full = await listener(1, { holdMs: 600_000 })
  await take(full.port, 1)
  const silent = peer(full.port, '')
  await new Promise((resolve) => silent.socket.once('connect', resolve))
  await full[Symbol.asyncDispose]()
  await silent.ended
})
