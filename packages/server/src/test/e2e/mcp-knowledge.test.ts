import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { mcpAgent } from '../mcp-agent.ts'
import { startRelayUnderTest } from '../relay-under-test.ts'

it('[REF-9] [REF-10] [REF-11] [REF-12] [SKILL-1] [ICON-2] a viewer can use references, recipes and icons, and a DOI is resolved', async () => {
  const asked: string[] = []
  const resolver = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.accept}`)
    if (request.url === '/csl/10.1000/redirect') response.writeHead(302, { location: 'http://127.0.0.1/' }).end()
    else if (request.url !== '/csl/10.1000/ABC') response.writeHead(404).end()
    else response.end(JSON.stringify({ type: 'book', title: 'A <i>b</i>' }))
  }).listen(0, '127.0.0.1')
  await once(resolver, 'listening')
  const { port } = resolver.address() as AddressInfo
  await using relay = await startRelayUnderTest({
    mcp: 'public',
    env: { RELAY_CITATIONS_DOI_RESOLVER: `http://127.0.0.1:${port}/csl/` },
  })
  const agent = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'vic', role: 'viewer' }))

  const reference = { type: 'book', title: 'A b', id: '10.1000/abc', DOI: '10.1000/ABC' }
  const doi = 'https://doi.org/10.1000/ABC'
  expect(await agent.call('resolve_doi', { doi })).toEqual({ reference, doi: '10.1000/ABC', cached: false })
  expect(await agent.call('resolve_doi', { doi })).toMatchObject({ cached: true })
  expect(await agent.refused('resolve_doi', { doi: '10.1000/none' })).toMatchObject({ code: 'ERR_DOI_NOT_FOUND' })
  expect(await agent.refused('resolve_doi', { doi: 'none' })).toMatchObject({ code: 'ERR_DOI_INVALID' })
  expect(await agent.refused('resolve_doi', { doi: '10.1000/redirect' })).toMatchObject({ code: 'ERR_DOI_UNAVAILABLE' })
  expect(asked[0]).toBe('GET /csl/10.1000/ABC application/vnd.citationstyles.csl+json')
  expect(asked).toHaveLength(3)

  expect(await agent.call('get_skills')).toMatchObject({ contentContract: expect.stringContaining('## Targets') })
  expect(await agent.call('get_skills', { skill: 'attach-files' })).toMatchObject({ skill: 'attach-files' })
  expect(await agent.refused('get_skills', { skill: 'x' })).toMatchObject({ code: 'ERR_SKILL_NOT_FOUND' })
  expect(await agent.call('list_icons', { query: 'database', limit: 1 })).toMatchObject({ returned: 1 })
  resolver.close()
})

interface Prompt {
  readonly name: string
  readonly arguments: readonly { readonly name: string }[]
}

it.each([
  ['with every tool', {}, ''],
  ['with the tools of the interface only', { RELAY_MCP_EXTRA_TOOLS: 'false' }, ''],
  ['that has every tool, to a request without those beyond the interface', {}, '?extra=0'],
])(
  '[AG-96] [MCP-60] [SKILL-5] instructions, contract, recipes and prompts name only listed tools of a relay %s',
  async (_, env, query) => {
    await using relay = await startRelayUnderTest({ mcp: 'public', env })
    let id = 0
    const ask = async (method: string, params: object): Promise<Readonly<Record<string, unknown>>> => {
      const answer = await fetch(relay.mcpUrl + query, {
        method: 'POST',
        headers: { authorization: `Bearer ${relay.token({ sub: 'ann' })}`, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }),
      })
      const { result, error } = (await answer.json()) as Readonly<Record<'result' | 'error', Readonly<Record<string, unknown>>>>
      return result ?? { error }
    }
    const { tools } = (await ask('tools/list', {})) as { readonly tools: readonly { readonly name: string }[] }
    const { prompts } = (await ask('prompts/list', {})) as { readonly prompts: readonly Prompt[] }
    const texts = [
      await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }),
      await ask('tools/call', { name: 'service_get_skills', arguments: {} }),
    ]
    texts.push(await ask('resources/read', { uri: 'relay://skills/contract' }))
    for (const prompt of prompts) {
      const given = Object.fromEntries(prompt.arguments.map(({ name }) => [name, 'x']))
      texts.push(await ask('tools/call', { name: 'service_get_skills', arguments: { skill: prompt.name } }))
      texts.push(await ask('prompts/get', { name: prompt.name, arguments: given }))
    }
    if (query !== '') {
      const { error } = (await ask('tools/call', { name: 'edit_txt', arguments: {} })) as { readonly error: object }
      texts.push(error as Readonly<Record<string, unknown>>)
    }
    const named = [...JSON.stringify(texts).matchAll(/service_[a-z]+(?:_[a-z]+)*/g)].map(([name]) => name)
    expect(prompts.length).toBeGreaterThanOrEqual(6)
    expect([...new Set(named)].filter((name) => !tools.some((tool) => tool.name === name))).toEqual([])
  },
)
