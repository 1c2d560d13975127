import { connect, createServer, type Socket } from 'node:net'
import { delayedWrites } from './delayed-writes.ts'

/** `out`: to the target; `back`: from the target. */
export type ProxyWay = 'out' | 'back'

/** A TCP proxy on a port of 127.0.0.1 that a test can break. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number
  /** Number of open connections. */
  connections(): number
  /** Number of forwarded bytes, in both directions. */
  forwarded(): number
  /** Resets every connection and refuses new ones. */
  down(): Promise<void>
  /** Resets every connection; new ones are forwarded as before. */
  reset(): void
  /** Holds the bytes of open connections to the target until `release`. Bytes from the target are forwarded. */
  hold(): void
  release(): void
  /**
   * Accepts connections but forwards nothing, in the given direction or in both, like a network that loses packets. Bytes sent meanwhile are
   * lost.
   */
  silent(way?: ProxyWay): void
  /** Forwards again, and listens again after `down`. Resets all connections if the proxy was silent. */
  up(): Promise<void>
  /** Delays everything by `ms` from now on, in each direction. */
  delay(ms: number): void
  /**
   * Resets every connection once `bytes` more bytes have been forwarded, in both directions together. Those bytes still arrive.
   */
  cutAfter(bytes: number): void
}

export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  const near = new Set<Socket>()
  const silentWays = new Set<ProxyWay>()
  let delayMs = 0
  let forwarded = 0
  let cutAt = Number.POSITIVE_INFINITY
  const send = delayedWrites(write)
  const server = createServer((socket) => {
    keep(socket)
    if (silentWays.size === 2) return
    const far = connect(target)
    keep(far)
    near.add(socket)
    socket.on('data', (bytes) => forward('out', far, bytes))
    far.on('data', (bytes) => forward('back', socket, bytes))
    socket.on('close', () => {
      near.delete(socket)
      far.destroy()
    })
    far.on('close', () => socket.destroy())
  })
  function forward(way: ProxyWay, to: Socket, bytes: Buffer): void {
    if (silentWays.has(way)) return
    send(to, bytes, delayMs)
  }
  function write(to: Socket, bytes: Uint8Array): void {
    const passing = bytes.subarray(0, Math.max(0, cutAt - forwarded))
    forwarded += passing.length
    if (forwarded < cutAt) return void to.write(passing)
    cutAt = Number.POSITIVE_INFINITY
    to.write(passing, reset)
  }
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  }
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const reset = (): void => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  await listen(0)
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  const { port } = address
  const proxy: TcpProxy = {
    port,
    connections: () => near.size,
    forwarded: () => forwarded,
    async down() {
      const closed = server.listening ? new Promise((resolve) => server.close(resolve)) : null
      reset()
      await closed
    },
    reset,
    hold() {
      for (const socket of near) socket.pause()
    },
    release() {
      for (const socket of near) socket.resume()
    },
    silent(way) {
      for (const each of way === undefined ? (['out', 'back'] as const) : [way]) silentWays.add(each)
    },
    async up() {
      if (silentWays.size > 0) reset()
      silentWays.clear()
      if (!server.listening) await listen(port)
    },
    delay(ms) {
      delayMs = ms
    },
    cutAfter(bytes) {
      cutAt = forwarded + bytes
    },
    [Symbol.asyncDispose]: () => proxy.down(),
  }
  return proxy
}
