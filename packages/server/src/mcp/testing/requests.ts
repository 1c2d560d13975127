import type { McpRequest } from './mcp-relay.ts'

export const EVENTS = 'text/event-stream'

/** Builds a legacy request; `more.headers` are added to it. */
export function legacy(method: string, params?: unknown, more: McpRequest = {}): McpRequest {
  return { ...more, body: { jsonrpc: '2.0', id: 1, method, ...(params !== undefined && { params }) } }
}

/** Builds a modern request with everything it requires. A member of `more.headers` with the value `undefined` removes that header. */
export function modern(
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  more: Omit<McpRequest, 'headers'> & {
    readonly headers?: Readonly<Record<string, string | undefined>>
    readonly meta?: unknown
  } = {},
): McpRequest {
  const { meta, headers, ...rest } = more
  const name = params['name'] ?? params['uri']
  const all = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof name === 'string' && ['tools/call', 'resources/read', 'prompts/get'].includes(method) && { 'mcp-name': name }),
    ...headers,
  }
  const _meta = meta === undefined ? META : meta
  return {
    ...rest,
    headers: Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)),
    body: { jsonrpc: '2.0', id: 'm1', method, params: { ...params, ...(_meta !== null && { _meta }) } },
  }
}

export const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'tester', version: '1' },
}
