import { createServer, type ServerResponse } from 'node:http'
import { once } from 'node:events'

/** An HTTP server in place of an object store, which answers every request as the given script says. */
export interface ScriptedStore extends AsyncDisposable {
  readonly port: number
  readonly requests: readonly string[]
}

export async function startScriptedStore(answer: (response: ServerResponse, nth: number) => void): Promise<ScriptedStore> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    request.resume()
    requests.push(`${request.method} ${request.url}`)
    answer(response, requests.length)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the scripted store has no port')
  return {
    port: address.port,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Answers with an error in the form of S3. */
export function s3Error(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' })
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>told by the store at a secret host</Message></Error>`)
}
