import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A node behind the front. */
export interface Behind {
  readonly name: string
  readonly port: number
}

/**
 * A minimal load balancer. Each new connection goes to the first ready node in its order. `/readyz` decides, as for HAProxy; a node that refuses
 * a connection is skipped at once. Open connections stay with their node.
 */
export interface Front extends AsyncDisposable {
  readonly baseUrl: string
  readonly wsUrl: string
  /** Returns the node of the client's newest connection. Clients name themselves by `?client=` in the address. */
  nodeOf(client: string): string | null
}

const LOOK_EVERY_MS = 500
const LOOK_TIMEOUT_MS = 1_000
/** A client that has sent nothing after this time is forwarded anyway. */
const FIRST_BYTES_MS = 1_000

/** Starts a front that prefers the nodes in the order given. */
export async function startFront(nodes: readonly Behind[]): Promise<Front> {
  const ready = new Map(nodes.map(({ name }) => [name, true]))
  const nodeOf = new Map<string, string>()
  const sockets = new Set<Socket>()
  const look = async ({ name, port }: Behind): Promise<void> => {
    const signal = AbortSignal.timeout(LOOK_TIMEOUT_MS)
    const isReady = await fetch(`http://127.0.0.1:${port}/readyz`, { signal }).then(
      async (answer) => (await answer.arrayBuffer(), answer.status === 200),
      () => false,
    )
    ready.set(name, isReady)
  }
  const looking = setInterval(() => void Promise.all(nodes.map(look)), LOOK_EVERY_MS)
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
  }

  const forward = async (near: Socket): Promise<void> => {
    keep(near)
    const first = await firstBytes(near)
    const client = /[?&]client=([\w.-]+)/.exec(first.toString('latin1', 0, 2_048))?.[1]
    // When no node is ready, one of them is asked anyway, since its own answer explains most.
    const inOrder = [...nodes.filter(({ name }) => ready.get(name)), ...nodes.filter(({ name }) => !ready.get(name))]
    for (const { name, port } of inOrder) {
      const far = await connected(port)
      if (far === null) continue
      keep(far)
      if (client !== undefined) nodeOf.set(client, name)
      far.write(first)
      near.pipe(far)
      far.pipe(near)
      near.once('close', () => far.destroy())
      far.once('close', () => near.destroy())
      return
    }
    near.resetAndDestroy()
  }
  const server = createServer({ noDelay: true }, (near) => void forward(near))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the front has no port')
  const baseUrl = `http://127.0.0.1:${address.port}`
  return {
    baseUrl,
    wsUrl: `${baseUrl.replace('http', 'ws')}/ws`,
    nodeOf: (client) => nodeOf.get(client) ?? null,
    async [Symbol.asyncDispose]() {
      clearInterval(looking)
      for (const socket of sockets) socket.destroy()
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}

function firstBytes(socket: Socket): Promise<Buffer> {
  return new Promise((resolve) => {
    const end = (bytes: Buffer): void => {
      clearTimeout(timer)
      socket.off('data', onData)
      socket.pause()
      resolve(bytes)
    }
    const onData = (bytes: Buffer): void => end(bytes)
    const timer = setTimeout(() => end(Buffer.alloc(0)), FIRST_BYTES_MS)
    socket.on('data', onData)
    socket.once('close', () => end(Buffer.alloc(0)))
  })
}

/** Connects to a port; `null` when nobody listens there. */
function connected(port: number): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.once('connect', () => resolve(socket))
    socket.once('error', () => resolve(null))
  })
}
