import type { ServerResponse } from 'node:http'

/** The answer to a request, before it is sent. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Parts are sent one after another without being joined first. */
  readonly body: null | string | readonly Uint8Array[] | ReadableStream<Uint8Array>
}

/**
 * Writes an answer. A stream is read as fast as the connection takes its parts, and cancelled when the client leaves;
 * when it fails, the connection ends.
 */
export function writeAnswer(outgoing: ServerResponse, { status, headers, body }: Answer): void {
  if (body === null) {
    outgoing.writeHead(status, headers)
    outgoing.end()
  } else if (typeof body === 'string') {
    outgoing.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) })
    outgoing.end(body)
  } else if (body instanceof ReadableStream) {
    outgoing.writeHead(status, headers)
    outgoing.flushHeaders()
    void sendStream(outgoing, body)
  } else {
    outgoing.writeHead(status, headers)
    for (const part of body) outgoing.write(part)
    outgoing.end()
  }
}

async function sendStream(outgoing: ServerResponse, body: ReadableStream<Uint8Array>): Promise<void> {
  const reader = body.getReader()
  const leave = (): void => void reader.cancel().catch(() => undefined)
  if (outgoing.destroyed) return leave()
  outgoing.once('close', leave)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (outgoing.destroyed) return
      if (done) return void outgoing.end()
      if (!outgoing.write(value)) await taken(outgoing)
    }
  } catch {
    outgoing.destroy()
  }
}

/** Resolves when the connection can take more data, or is closed. */
function taken(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const ended = (): void => {
      outgoing.off('drain', ended).off('close', ended)
      resolve()
    }
    outgoing.on('drain', ended).on('close', ended)
  })
}
