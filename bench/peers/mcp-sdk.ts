// The official tool server with one tool that does nothing, over bare node HTTP: no tokens, no documents. argv: port, ignored.
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'peer', version: '1.0.0' })
  server.registerTool('echo', { description: 'Says ok.' }, () => ({
    content: [{ type: 'text', text: '{"ok":true}' }],
    structuredContent: { ok: true },
  }))
  return server
})

async function textOf(incoming: IncomingMessage): Promise<string> {
  let text = ''
  incoming.setEncoding('utf8')
  for await (const part of incoming) text += part
  return text
}

/** Does less than framework adapters do, so that the peer is as fast as possible. */
async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const body = await textOf(incoming)
  const headers = new Headers(incoming.headers as Record<string, string>)
  const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
    method: incoming.method ?? 'POST',
    headers,
    body,
  })
  const response = await handler.fetch(request)
  const text = await response.text()
  outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(text)
}

createServer((incoming, outgoing) => void answer(incoming, outgoing)).listen(Number(process.argv[2]), '127.0.0.1', () =>
  console.log('ready'),
)
