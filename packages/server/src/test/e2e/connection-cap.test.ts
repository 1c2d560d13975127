import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { logged, type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'

const MOST = 6
let relay: RelayUnderTest
const sockets: Socket[] = []

beforeAll(async () => {
  // WebSockets without AUTH occupy all connections.
  relay = await startRelayUnderTest({ env: { RELAY_MAX_CONNECTIONS: String(MOST), RELAY_AUTH_TIMEOUT_SECS: '3600' } })
})
afterAll(() => relay?.[Symbol.asyncDispose]())

interface Line {
  readonly event: string
  readonly level: string
  readonly [name: string]: unknown
}
const lines = (): readonly Line[] => relay.logLines.map((line) => JSON.parse(line) as Line)

/** Sends a request on a new connection. Returns everything that came until the relay closed the connection, or the answer to an upgrade. */
function ask(path: string, headers = 'Connection: close\r\n'): Promise<string> {
  const { hostname, port } = new URL(relay.baseUrl)
  const socket = connect(Number(port), hostname)
  sockets.push(socket)
  return new Promise((resolve, reject) => {
    let received = ''
    socket.on('error', reject)
    socket.on('data', (data) => {
      received += data.toString('latin1')
      if (received.startsWith('HTTP/1.1 101')) resolve(received)
    })
    socket.on('close', () => resolve(received))
    socket.write(`GET ${path} HTTP/1.1\r\nHost: h\r\n${headers}\r\n`)
  })
}

const UPGRADE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'

describe('a relay whose connections are all taken', () => {
  beforeAll(() => until('all places to be taken', async () => (await ask('/ws', UPGRADE)).startsWith('HTTP/1.1 503')))
  afterAll(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
  })

  it('[H11] [CFG-10] refuses a WebSocket and a request with 503, UNAVAILABLE and Retry-After', async () => {
    for (const answer of [await ask('/ws', UPGRADE), await ask('/api/docs')]) {
      expect(answer).toMatch(/^HTTP\/1\.1 503 [^]*\r\nRetry-After: 5\r\n[^]*"errorCode":"UNAVAILABLE"/)
    }
  })

  it('[H11] [OPS-1] [OPS-2] answers /health, /livez, /readyz and its public metrics', async () => {
    for (const path of ['/health', '/livez', '/readyz', '/metrics']) expect(await ask(path)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('[H11] [OPS-4] counts the refused connections', async () => {
    const counted = async () =>
      Number(/^relay_connections_refused_total\{listener="main"\} (\d+)$/m.exec(await ask('/metrics'))?.[1])
    const before = await counted()
    for (let i = 0; i < 3; i++) await ask('/api/docs')
    expect(before).toBeGreaterThan(0)
    expect(await counted()).toBe(before + 3)
  })

  it('[H11] [OPS-5] logs the first refusal at level warn, and not every one', async () => {
    const full = () => lines().filter(({ event }) => event === 'http.connections_full')
    await until('a line', () => full().length > 0)
    expect(full()[0]).toMatchObject({ level: 'warn', listener: 'main', limit: MOST, refused: 1 })
    for (let i = 0; i < 20; i++) await ask('/api/docs')
    expect(full().length).toBeLessThan(20)
  })
})

it.runIf(process.platform === 'linux')(
  '[H11] a start with too few file descriptors for the connection limit logs a warning',
  async () => {
    await using many = await startRelayUnderTest({ env: { RELAY_MAX_CONNECTIONS: '1000000000' } })
    await logged(many, '"http.few_descriptors"', '"warn"', 'max_connections = 1000000000 needs 1000004096 file descriptors')
  },
)
