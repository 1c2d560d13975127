import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { BATCH, PIECE, PIECE_BYTES } from './link-frames.ts'
import {
  areLinked,
  dialAs,
  linkedAs,
  note,
  numbersOf,
  startNode,
  startPair,
  statesOf,
  tellOfPeers,
  type TestNode,
  until,
} from './testing/linked-nodes.ts'

const UPGRADE = [
  'GET /link HTTP/1.1',
  'host: relay',
  'connection: upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
  'sec-websocket-protocol: docrelay-link.1',
  '',
  '',
].join('\r\n')

/** Opens sockets from an address of its own, as an outsider without the secret. */
class Outsider implements Disposable {
  readonly sockets: Socket[] = []
  readonly #port: number
  readonly #address: string
  #isDisposed = false

  constructor(node: TestNode, address = '127.0.0.2') {
    this.#port = node.links.port
    this.#address = address
  }

  /** Opens a socket and sends `first`. */
  open(first = ''): Socket {
    const socket = connect({ host: '127.0.0.1', port: this.#port, localAddress: this.#address })
    socket.on('error', () => undefined)
    // Received data is discarded; without reading, the end of the socket would not be noticed.
    socket.resume()
    if (first !== '') socket.write(first)
    this.sockets.push(socket)
    return socket
  }

  /** Keeps `count` sockets open from now on: opens another one as soon as the node closes one. */
  flood(count: number): void {
    const openOne = (): void => {
      if (!this.#isDisposed) this.open().once('close', openOne)
    }
    for (let n = 0; n < count; n++) openOne()
  }

  openSockets(): number {
    return this.sockets.filter(({ destroyed }) => !destroyed).length
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true
    for (const socket of this.sockets) socket.destroy()
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** The header of a client's frame that announces `length` bytes; its mask is zero. */
function frameHead(length: number): Buffer {
  const head = Buffer.alloc(14)
  head.set([0x82, 0xff])
  head.writeBigUInt64BE(BigInt(length), 2)
  return head
}

describe('outsiders at the link port', () => {
  it('[LIFE-25] thousands of connections disturb no link, and at most 128 of them stay open', async () => {
    await using pair = await startPair({ high: { times: { handshakeMs: 60_000 } } })
    const { low, high } = pair
    await pair.link()
    using outsider = new Outsider(high)
    for (let n = 0; n < 2_000; n++) {
      outsider.open(n % 2 === 0 ? '' : UPGRADE)
      if (n % 100 !== 0) continue
      low.links.post(high.inc, note(n))
      // Connections that wait in the queue of the operating system do not count.
      await until(() => outsider.sockets.every(({ connecting }) => !connecting))
    }
    await until(() => outsider.openSockets() <= 128)
    await until(() => numbersOf(high).length === 20)
    expect([statesOf(low), statesOf(high)]).toEqual([['up'], ['up']])
    // A node at another address still gets a link.
    high.links.setPeers([
      { inc: 1, linkUrl: low.linkUrl },
      { inc: 0, linkUrl: 'ws://127.0.0.1:1' },
    ])
    expect(await dialAs({ inc: 0 }, high)).toMatchObject({ peer: { inc: 2 } })
    expect(outsider.openSockets()).toBeLessThanOrEqual(128)
  })

  it('[LIFE-25] a flood from one address ends connections of that address only', async () => {
    await using node = await startNode(2, { times: { handshakeMs: 60_000 } })
    using other = new Outsider(node, '127.0.0.3')
    const oldest = other.open()
    await until(() => !oldest.connecting)
    using outsider = new Outsider(node)
    for (let n = 0; n < 300; n++) outsider.open()
    await until(() => outsider.openSockets() === 127)
    expect(oldest.destroyed).toBe(false)
  })

  it('[LIFE-25] a link comes up again during a flood of connections from another address', async () => {
    await using pair = await startPair({ low: { times: { redialFirstMs: 5 } } })
    const { low, high, proxy } = pair
    await pair.link()
    using outsider = new Outsider(high)
    outsider.flood(300)
    await until(() => outsider.sockets.length > 500)
    proxy.reset()
    await until(() => statesOf(high).includes('down'))
    await until(() => areLinked(low, high))
  })

  it('[LIFE-25] a connection that does not prove the secret in time is closed, however slowly it sends', async () => {
    await using node = await startNode(2, { times: { handshakeMs: 300 } })
    using outsider = new Outsider(node)
    outsider.open()
    outsider.open('GET /li')
    outsider.open(UPGRADE)
    const slow = outsider.open()
    const drops = [...UPGRADE].values()
    const drip = setInterval(() => slow.write(drops.next().value ?? 'x'), 5)
    const pings = outsider.open(UPGRADE)
    const ping = setInterval(() => pings.write(Buffer.of(0x89, 0x80, 0, 0, 0, 0)), 20)
    await until(() => outsider.openSockets() === 0)
    clearInterval(drip)
    clearInterval(ping)
    expect(node.lines).toEqual([])
  })

  it('[LIFE-25] data of an outsider is not buffered: a giant frame, giant headers or a frame in endless parts end its connection', async () => {
    await using node = await startNode(2, { times: { handshakeMs: 60_000 } })
    using outsider = new Outsider(node)
    const before = process.memoryUsage().arrayBuffers
    const writers = Array.from({ length: 100 }, (_, n) => {
      const socket = outsider.open(n % 4 === 3 ? 'GET /link HTTP/1.1\r\nx: ' : UPGRADE)
      // Sends a frame of 2^40 bytes, a frame of 1 MiB, a frame in parts of one byte, or headers without end.
      if (n % 4 === 0) socket.write(frameHead(2 ** 40))
      if (n % 4 === 1) socket.write(frameHead(1024 * 1024))
      if (n % 4 === 2) socket.write(Buffer.of(0x02, 0x80, 0, 0, 0, 0))
      const parts = Buffer.concat(Array.from({ length: 10 }, () => Buffer.of(0x00, 0x81, 0, 0, 0, 0, 1)))
      return () => socket.write(n % 4 === 2 ? parts : Buffer.alloc(1_000, 'x'))
    })
    let most = 0
    for (let round = 0; round < 50 && outsider.openSockets() > 0; round++) {
      for (const write of writers) write()
      most = Math.max(most, process.memoryUsage().arrayBuffers - before)
      await sleep(5)
    }
    await until(() => outsider.openSockets() === 0)
    expect(most).toBeLessThan(100 * 128 * 1024)
  })

  it('[LIFE-25] the port serves nothing but links', async () => {
    await using node = await startNode(2)
    const at = (path: string) => fetch(`http://127.0.0.1:${node.links.port}${path}`)
    expect([(await at('/')).status, (await at('/link')).status, (await at('/metrics')).status]).toEqual([404, 404, 404])
    using outsider = new Outsider(node)
    outsider.open(UPGRADE.replace('/link', '/other'))
    outsider.open(UPGRADE.replace('docrelay-link.1', 'docrelay.1'))
    outsider.open(UPGRADE.replace(/sec-websocket-protocol.*\r\n/, ''))
    await until(() => outsider.openSockets() === 0)
    expect(node.lines).toEqual([])
  })

  it('[LIFE-25] dials with another secret are refused with one log line a minute', async () => {
    await using node = await startNode(2)
    tellOfPeers(node, 1)
    const secret = 'a secret of another cluster, of 32 characters or more'
    for (let n = 0; n < 20; n++) expect(await dialAs({ inc: 1, secret }, node)).toBe('secret')
    expect(node.lines.map(({ event, fields }) => [event, fields['why'], fields['peer']])).toEqual([
      ['link.refused', 'secret', undefined],
    ])
  })
})

describe('a node that misbehaves', () => {
  it('[LIFE-25] a frame that is not well formed ends its link with a log line, and harms no other link', async () => {
    await using node = await startNode(3)
    tellOfPeers(node, 1, 2)
    const good = await linkedAs({ inc: 1 }, node)
    const bad = await linkedAs({ inc: 2 }, node)
    bad.socket.send(bad.session.sealer.seal(Uint8Array.of(BATCH, 1, 2, 3)))
    await until(() => bad.isClosed())
    expect(node.links.peers()).toEqual([1])
    expect(node.lines.filter(({ event }) => event === 'link.down')).toMatchObject([
      { level: 'warn', fields: { peer: 2, why: 'bad-frame' } },
    ])
    expect(good.isClosed()).toBe(false)
  })

  it('[LIFE-25] a text frame, a frame that is too long and a frame that is not sealed end its link', async () => {
    await using node = await startNode(3)
    tellOfPeers(node, 1)
    const frames = [new Uint8Array(2_000_000), Buffer.from('not sealed')]
    for (const [i, frame] of frames.entries()) {
      const link = await linkedAs({ inc: 1, attempt: i + 1 }, node)
      link.socket.send(frame)
      await until(() => link.isClosed() && node.links.peers().length === 0)
    }
  })

  it('[LIFE-25] a node that sends and never reads loses its link before it takes much memory', async () => {
    await using node = await startNode(3, { times: { pingMs: 50, silentPings: 1_000 } })
    tellOfPeers(node, 1)
    const link = await linkedAs({ inc: 1 }, node)
    // The other node never gives credit, so posted messages wait in this node, up to the bound.
    for (let n = 0; n < 1_000 && node.links.peers().length > 0; n++) {
      node.links.post(1, note(n, { bytes: new Uint8Array(PIECE_BYTES) }))
      expect(node.links.stats().bufferedBytes).toBeLessThan(80 * 1024 * 1024)
    }
    expect(node.lines.at(-1)).toMatchObject({ level: 'warn', event: 'link.down', fields: { why: 'overrun' } })
    await until(() => link.isClosed())
  })

  it('[LIFE-25] a body in pieces that never ends is discarded with its link', async () => {
    await using node = await startNode(3)
    tellOfPeers(node, 1)
    const link = await linkedAs({ inc: 1 }, node)
    link.socket.send(link.session.sealer.seal(Uint8Array.of(PIECE), new Uint8Array(PIECE_BYTES)))
    link.socket.destroy()
    await until(() => node.links.peers().length === 0)
    expect(node.lines.at(-1)).toMatchObject({ event: 'link.down', fields: { why: 'closed' } })
  })
})
