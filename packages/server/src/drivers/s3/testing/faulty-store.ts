import { once } from 'node:events'
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { behindPort } from './s3-under-test.ts'
import { s3Error } from './scripted-store.ts'

/** A fault of one request on its way to a real store and back. */
export type Fault =
  /** The store answers with this error and does nothing. */
  | { readonly kind: 'error'; readonly status: number; readonly code: string }
  /** The connection is reset, and the store never sees the request. */
  | { readonly kind: 'reset' }
  /** The store does what the request asks, but its answer is lost. */
  | { readonly kind: 'lost-answer' }
  /** The store does what the request asks, but its answer begins only after `delayMs`. */
  | { readonly kind: 'late'; readonly delayMs: number }
  /** The connection ends after half of the body of the answer. */
  | { readonly kind: 'cut' }
  /** The answer is an HTML page with status 200. The store never sees the request. */
  | { readonly kind: 'page' }

export interface SeenRequest {
  readonly method: string
  /** Path and query of the request, as sent. */
  readonly url: string
  /** Number of the request, from 1. */
  readonly nth: number
}

/** A real store behind a proxy that breaks the requests that a test chooses. */
export interface FaultyStore extends AsyncDisposable {
  /** Address of the proxy, in the form of `[blobs] url`. */
  readonly url: string
  readonly seen: readonly SeenRequest[]
  /** Called for every request; `null` lets the request pass. */
  fault: (request: SeenRequest) => Fault | null
}

/** Starts the proxy. `storeUrl` is the `[blobs] url` of the real store, in path style. */
export async function startFaultyStore(storeUrl: string): Promise<FaultyStore> {
  const endpoint = new URL(new URL(storeUrl).searchParams.get('endpoint') ?? '')
  const seen: SeenRequest[] = []
  const server = createServer((request, response) => {
    const one = { method: request.method ?? '', url: request.url ?? '', nth: seen.length + 1 }
    seen.push(one)
    void answer(endpoint, request, response, opened.fault(one)).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  const opened: FaultyStore = {
    url: behindPort(storeUrl, address.port),
    seen,
    fault: () => null,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return opened
}

async function answer(endpoint: URL, request: IncomingMessage, response: ServerResponse, fault: Fault | null): Promise<void> {
  const body = await buffer(request)
  switch (fault?.kind) {
    case 'error':
      return s3Error(response, fault.status, fault.code)
    case 'reset':
      return void request.socket.resetAndDestroy()
    case 'page':
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>a page of some proxy</html>')
    default:
  }
  const real = await forwarded(endpoint, request, body)
  if (fault?.kind === 'lost-answer') return void request.socket.resetAndDestroy()
  if (fault?.kind === 'late') await new Promise((resolve) => setTimeout(resolve, fault.delayMs))
  const { 'transfer-encoding': _, connection: __, ...headers } = real.headers
  const length = real.isHead ? headers['content-length'] : String(real.body.byteLength)
  response.writeHead(real.status, { ...headers, ...(length !== undefined && { 'content-length': length }) })
  if (fault?.kind === 'cut') {
    response.write(real.body.subarray(0, real.body.byteLength / 2))
    return void setImmediate(() => response.destroy())
  }
  response.end(real.body)
}

/** Sends a request to the real store and returns its answer. The Host header is kept, since it is signed. */
async function forwarded(endpoint: URL, request: IncomingMessage, body: Buffer) {
  const { hostname, port } = endpoint
  const sent = httpRequest({ hostname, port, method: request.method, path: request.url, headers: request.headers, agent: false })
  sent.end(body)
  const [got] = (await once(sent, 'response')) as [IncomingMessage]
  const bytes = await buffer(got)
  return { status: got.statusCode ?? 502, headers: got.headers, body: bytes, isHead: request.method === 'HEAD' }
}
