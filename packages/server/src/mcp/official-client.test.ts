import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { INSTRUCTIONS, type McpRelay, type MountName, startMcpRelay } from './testing/mcp-relay.ts'

let relay: McpRelay
beforeAll(async () => {
  relay = await startMcpRelay()
})
afterAll(() => relay[Symbol.asyncDispose]())

const ICONS = 'relay://icons'
const MOUNTS: readonly MountName[] = ['local', 'public']
const MODES = [
  ['legacy', 'legacy'],
  [{ pin: '2026-07-28' }, 'modern'],
  ['auto', 'modern'],
] as const
const CASES = MOUNTS.flatMap((mount) => MODES.map(([mode, era]) => [mount, mode, era] as const))

function access(): { readonly requestInit: RequestInit } {
  return { requestInit: { headers: { authorization: `Bearer ${relay.issuer.token({ sub: 'ann', role: 'member' })}` } } }
}

describe('the official client', () => {
  it.each(CASES)('[MCP-57] the official client lists and calls tools on the %s listener, mode %j', async (mount, mode, era) => {
    const client = new Client({ name: 'official', version: '1.0.0' }, { versionNegotiation: { mode } })
    const updated: string[] = []
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri))
    await client.connect(new StreamableHTTPClientTransport(new URL(relay.urls[mount]), access()))
    expect(client.getNegotiatedProtocolVersion()).toBe(era === 'modern' ? '2026-07-28' : '2025-11-25')
    expect(client.getServerVersion()).toMatchObject({ name: 'docrelay', version: '1.2.3' })
    expect(client.getInstructions()).toBe(INSTRUCTIONS)

    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('service_look')
    expect(await client.callTool({ name: 'service_look', arguments: { a: 1 } })).toMatchObject({
      structuredContent: { seen: { a: 1 } },
    })
    expect(relay.tools.calls.at(-1)?.context.clientName).toBe('official')
    await expect(client.callTool({ name: 'service_none', arguments: {} })).rejects.toMatchObject({ code: -32_602 })

    expect((await client.listResources()).resources).toContainEqual(expect.objectContaining({ uri: ICONS }))
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1)
    expect((await client.readResource({ uri: ICONS })).contents).toMatchObject([{ uri: ICONS, text: '{}' }])
    expect((await client.listPrompts()).prompts).toMatchObject([{ name: 'recipe' }])
    expect((await client.getPrompt({ name: 'recipe', arguments: { docId: 'd' } })).messages).toHaveLength(1)

    const subscription =
      era === 'modern' ? await client.listen({ resourceSubscriptions: [ICONS], resourcesListChanged: true }) : null
    if (subscription === null) await client.subscribeResource({ uri: ICONS })
    else expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: [ICONS], resourcesListChanged: true })
    await expect
      .poll(() => {
        relay.content.change(ICONS)
        return updated.length
      })
      .toBeGreaterThan(0)
    expect(new Set(updated)).toEqual(new Set([ICONS]))
    await subscription?.close()
    await client.close()
    await expect.poll(() => relay.content.watches).toBe(0)
  })

  it.each(MOUNTS)('[MCP-57] [MCP-33] the official client of the older revisions works on the %s listener', async (mount) => {
    const client = new OlderClient({ name: 'older', version: '1.0.0' })
    const transport = new OlderTransport(new URL(relay.urls[mount]), access())
    const updated: string[] = []
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri))
    await client.connect(transport)
    await client.ping()
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('service_look')
    expect(await client.callTool({ name: 'service_change' })).toMatchObject({ structuredContent: { by: 'ann' } })
    const steps: number[] = []
    const slow = client.callTool({ name: 'service_slow' }, undefined, { onprogress: ({ progress }) => void steps.push(progress) })
    await expect.poll(() => steps).toEqual([1])
    relay.tools.finish()
    expect(await slow).toMatchObject({ structuredContent: { slow: true } })
    await client.setLoggingLevel('warning')
    await client.subscribeResource({ uri: ICONS })
    await expect
      .poll(() => {
        relay.content.change(ICONS)
        return updated.length
      })
      .toBeGreaterThan(0)
    await client.unsubscribeResource({ uri: ICONS })
    const headers = { 'mcp-session-id': transport.sessionId ?? '' }
    await transport.terminateSession()
    expect((await relay.send({ method: 'DELETE', mount, headers })).status).toBe(404)
    await client.close()
  })

  it('[MCP-57] [MCP-15] a call cancelled by the older client is cancelled', async () => {
    const client = new OlderClient({ name: 'older', version: '1.0.0' })
    await client.connect(new OlderTransport(new URL(relay.urls.local), access()))
    const { aborted } = relay.tools
    const controller = new AbortController()
    const slow = client.callTool({ name: 'service_slow' }, undefined, { signal: controller.signal })
    const refused = expect(slow).rejects.toThrow()
    await relay.tools.waiting()
    controller.abort()
    await refused
    await expect.poll(() => relay.tools.aborted).toBe(aborted + 1)
    await client.close()
  })

  it('[MCP-21] [MCP-57] the official client reports a refused credential as unauthorized', async () => {
    const client = new Client({ name: 'official', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
    await expect(client.connect(new StreamableHTTPClientTransport(new URL(relay.urls.public)))).rejects.toThrow(/401|nauthorized/)
  })
})
