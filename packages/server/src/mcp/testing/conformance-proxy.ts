import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface CredentialProxy extends AsyncDisposable {
  readonly url: string
}

/**
 * Starts a proxy that forwards every request with a credential added, because the conformance suite cannot send one itself. [MCP-58,
 * MCP-59]
 */
export async function startCredentialProxy(target: string, bearer: string): Promise<CredentialProxy> {
  const { hostname, port, pathname } = new URL(target)
  const server = createServer((incoming, outgoing) => {
    const headers = [...incoming.rawHeaders, 'Authorization', `Bearer ${bearer}`]
    const { method, url: path } = incoming
    const onward = request({ hostname, port, method, path, headers, setHost: false, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.rawHeaders)
      outgoing.flushHeaders()
      answer.pipe(outgoing)
      answer.on('error', () => outgoing.destroy())
    })
    onward.on('error', () => outgoing.destroy())
    // When the client disconnects, the forwarded request is aborted.
    outgoing.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port: own } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${own}${pathname}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
