import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy on a port of 127.0.0.1 that a test can break. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number
  /** Resets every connection and refuses new ones. */
  down(): Promise<void>
  /** Accepts connections and forwards nothing, in neither direction. */
  silent(): void
  /** Forwards again; what is connected while it was silent is reset. */
  up(): Promise<void>
}

export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let forwards = true
  const server = createServer((near) => {
    keep(near)
    if (!forwards) return
    const far = connect(target)
    keep(far)
    near.on('data', (bytes) => forwards && far.write(bytes))
    far.on('data', (bytes) => forwards && near.write(bytes))
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
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
