import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'

const LATE_MS = 5

/** A proxy in front of a Redis: it passes requests on at once, and answers 5 ms later. */
export async function lateRedis(url: string): Promise<AsyncDisposable & { readonly url: string }> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const redis = connect(Number(port || 6379), hostname)
    client.pipe(redis)
    redis.on('data', (answer) => setTimeout(() => client.write(answer), LATE_MS))
    for (const socket of [client, redis]) {
      sockets.add(socket.setNoDelay())
      socket.on('error', () => undefined)
      socket.on('close', () => {
        client.destroy()
        redis.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const late = new URL(url)
  late.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: late.href,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
