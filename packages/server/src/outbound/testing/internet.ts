import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { isPublicAddress } from '../blocked-addresses.ts'
import type { GuardedNetwork } from '../guarded-fetch.ts'
import { makeCertificate } from './test-certificate.ts'

export interface ReceivedRequest {
  readonly host: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/**
 * A small internet on this machine. A TLS server stands for every public address, names resolve as the test says, and a trap stands for every other
 * address and counts connections.
 */
export interface Internet extends AsyncDisposable {
  readonly network: GuardedNetwork
  /** By name: the addresses that the resolver answers, or a function that computes them at each look-up. */
  readonly names: Map<string, readonly string[] | (() => readonly string[])>
  /** By host without port: the handler of requests. A host without a handler answers 404. */
  readonly sites: Map<string, Answer>
  readonly requests: ReceivedRequest[]
  /** Addresses that received a connection, in order. */
  readonly connections: string[]
  /** Returns the number of TCP connections to addresses that are not public. */
  trapped(): number
  readonly trapPort: number
}

export const PUBLIC = '93.184.216.34'
export const PUBLIC_V6 = '2606:2800:220:1::1'

export async function startInternet(hosts: readonly string[]): Promise<Internet> {
  const { key, cert } = makeCertificate(hosts)
  const names: Internet['names'] = new Map(hosts.map((host) => [host, [PUBLIC]]))
  const sites: Internet['sites'] = new Map()
  const requests: ReceivedRequest[] = []
  const connections: string[] = []
  let trapped = 0

  const site = createHttpsServer({ key, cert }, (request, response) => {
    const host = (request.headers.host ?? '').replace(/:\d+$/, '')
    requests.push({ host, path: request.url ?? '', headers: request.headers })
    const answer = sites.get(host)
    if (answer) answer(request, response)
    else response.writeHead(404).end('no such site')
  })
  const sockets = new Set<Socket>()
  site.on('connection', (socket: Socket) => sockets.add(socket))
  const catching = () =>
    createServer((socket) => {
      trapped++
      socket.destroy()
    })
  const trap = catching()
  const trapV6 = catching()
  const sitePort = await listening(site, '127.0.0.1')
  const trapPort = await listening(trap, '127.0.0.1')
  // On a machine without IPv6, no test can reach the trap over IPv6.
  await listening(trapV6, '::1', trapPort).catch(() => undefined)

  return {
    names,
    sites,
    requests,
    connections,
    trapped: () => trapped,
    trapPort,
    network: {
      resolve(name) {
        const found = names.get(name)
        const addresses = typeof found === 'function' ? found() : found
        return addresses === undefined ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve(addresses)
      },
      connect(address) {
        connections.push(address)
        return { host: '127.0.0.1', port: isPublicAddress(address) ? sitePort : trapPort, ca: cert }
      },
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await Promise.all([site, trap, trapV6].map((server) => new Promise((resolve) => server.close(resolve))))
    },
  }
}

async function listening(server: Server, host: string, port = 0): Promise<number> {
  server.listen(port, host)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
