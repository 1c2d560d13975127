import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startMcpRelay } from '../mcp/testing/mcp-relay.ts'
import { type RestRelay, startRestRelay } from './testing/rest-relay.ts'
import { patience } from '../kernel/testing/patience.ts'

const HALF = 'GET /health HTTP/1.1\r\nHost: h\r\n'

let relay: RestRelay
const sockets: Socket[] = []
beforeEach(async () => {
  relay = await startRestRelay({
    timeouts: { headersMs: 300, stallMs: 60_000 },
    connections: { perAddress: 8, total: 12 },
    linger: { idleMs: 100, totalMs: 300, maxBytes: 1_048_576, maxSockets: 256, shutdownMs: 500 },
  })
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await relay[Symbol.asyncDispose]()
})

/** A peer that never closes its own side. */
function open(
  text: string,
  port = relay.port,
): { readonly socket: Socket; readonly received: () => string; readonly ended: Promise<void> } {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined)
  sockets.push(socket)
  let received = ''
  socket.on('data', (data) => void (received += data.toString('latin1')))
  socket.write(text)
  return { socket, received: () => received, ended: new Promise((resolve) => socket.once('end', resolve)) }
}

/** Returns the number of TCP connections of this process, which contains both the relay and its peers. */
const held = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length

it('[REST-7] [H1] a peer that stops in the middle of its headers is answered, and its socket is destroyed', async () => {
  const before = held()
  const peers = Array.from({ length: 5 }, () => open(HALF))
  await Promise.all(peers.map(({ ended }) => ended))
  expect(peers.map(({ received }) => received().slice(0, 12))).toEqual(Array(5).fill('HTTP/1.1 400'))
  // Only the peers' ends of the connections are left.
  await expect.poll(() => held() - before, { timeout: patience(5_000) }).toBe(5)
})

it('[REST-7] [H1] a hundred peers that stop in the middle of their headers are all answered, and their sockets destroyed', async () => {
  await relay[Symbol.asyncDispose]()
  relay = await startRestRelay({ timeouts: { headersMs: 60_000, stallMs: 60_000 } })
  const before = held()
  const peers = Array.from({ length: 100 }, () => open(HALF))
  await Promise.all(peers.map(({ socket }) => new Promise((resolve) => socket.end('X-Half: ', () => resolve(null)))))
  await Promise.all(peers.map(({ ended }) => ended))
  expect(new Set(peers.map(({ received }) => received().slice(0, 12)))).toEqual(new Set(['HTTP/1.1 400']))
  await expect.poll(() => held() - before, { timeout: patience(5_000) }).toBe(0)
})

it('[REST-7] [H1] a peer that sends headers slowly and without end loses its socket', async () => {
  const { socket } = open(HALF)
  let closed = false
  socket.once('close', () => (closed = true))
  const drip = setInterval(() => socket.write('a'), 20)
  await expect
    .poll(() => closed, { timeout: patience(5_000) })
    .toBe(true)
    .finally(() => clearInterval(drip))
})

it('[H1] above the limit of idle connections of an address the oldest are closed; a prompt request is answered', async () => {
  const closed: number[] = []
  const peers = Array.from({ length: 20 }, (_, i) => {
    const peer = open(HALF)
    void peer.ended.then(() => closed.push(i))
    return peer
  })
  await Promise.all(
    peers.map(
      ({ socket }) => new Promise<void>((resolve) => (socket.connecting ? socket.once('connect', () => resolve()) : resolve())),
    ),
  )
  const answered = await relay.socket('GET /health HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n')
  expect(answered).toMatch(/^HTTP\/1\.1 200 /)
  await expect.poll(() => closed.length).toBeGreaterThanOrEqual(12)
  expect(closed.slice(0, 5).every((at) => at < 12)).toBe(true)
})

it('[H1] a connection with a running request does not count as idle', async () => {
  const token = relay.issuer.token({ sub: 'ann' })
  const slow = open(
    `PUT /api/docs/slow HTTP/1.1\r\nHost: h\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\nContent-Length: 2\r\n\r\n{`,
  )
  await relay.call('GET', '/health')
  for (let i = 0; i < 30; i++) open(HALF)
  await relay.call('GET', '/health')
  slow.socket.write('}')
  await slow.ended
  expect(slow.received()).toMatch(/^HTTP\/1\.1 200 /)
})

it('[REST-7] [H1] the listener of a local MCP endpoint destroys sockets with unfinished headers', async () => {
  await using mcp = await startMcpRelay({ timeouts: { headersMs: 300, stallMs: 60_000 } })
  const peer = open('POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ', Number(new URL(mcp.urls.local).port))
  let closed = false
  peer.socket.once('close', () => (closed = true))
  const drip = setInterval(() => peer.socket.write('a'), 20)
  await expect
    .poll(() => closed, { timeout: patience(15_000) })
    .toBe(true)
    .finally(() => clearInterval(drip))
  expect(peer.received()).toMatch(/^HTTP\/1\.1 400 /)
})
