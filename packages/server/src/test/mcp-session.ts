/**
 * Opens a session of the legacy leg for a client with this title. Its calls return what a tool answers, failures included. `url` is the address,
 * or a function that returns it for each request. `caller` is the name that the agent gives itself.
 */
export async function mcpSession(url: string | (() => string), bearer: string, title: string, caller?: string) {
  let id = 0
  const headers: Record<string, string> = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }
  const post = async (method: string, params: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })
    const answer = await fetch(typeof url === 'string' ? url : url(), { method: 'POST', headers, body })
    const opened = answer.headers.get('mcp-session-id')
    if (opened !== null) headers['mcp-session-id'] = opened
    return ((await answer.json()) as { readonly result: Record<string, unknown> }).result
  }
  const named = caller === undefined ? {} : { _meta: { 'docrelay/caller': caller } }
  const clientInfo = { name: 'client', title, version: '1' }
  await post('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  return async (tool: string, args: object) => {
    const { structuredContent } = await post('tools/call', { name: `service_${tool}`, arguments: args, ...named })
    return structuredContent as Record<string, unknown>
  }
}
