import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy on a port of 127.0.0.1 that a test can break. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number
  /** Resets every connection and refuses new ones. */
  down(): Promise<void>
  /** Keeps what connections that are open now send to the target until `release`. What the target sends is forwarded meanwhile. */
  hold(): void
  release(): void
  /** Accepts connections and forwards nothing, in neither direction. */
  silent(): void
  /** Forwards again; what is connected while it was silent is reset. */
  up(): Promise<void>
}

export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  const near = new Set<Socket>()
  let forwards = true
  const server = createServer((socket) => {
    keep(socket)
    if (!forwards) return
    const far = connect(target)
    keep(far)
    near.add(socket)
    socket.on('data', (bytes) => forwards && far.write(bytes))
    far.on('data', (bytes) => forwards && socket.write(bytes))
    socket.on('close', () => {
      near.delete(socket)
      far.destroy()
    })
    far.on('close', () => socket.destroy())
  })
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
    async down() {
      const closed = server.listening ? new Promise((resolve) => server.close(resolve)) : null
      reset()
      await closed
    },
    hold() {
      for (const socket of near) socket.pause()
    },
    release() {
      for (const socket of near) socket.resume()
    },
    silent() {
      forwards = false
    },
    async up() {
      if (!forwards) reset()
      forwards = true
      if (!server.listening) await listen(port)
    },
    [Symbol.asyncDispose]: () => proxy.down(),
  }
  return proxy
}
