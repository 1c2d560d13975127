import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CredentialProxy, startCredentialProxy } from '../../mcp/testing/conformance-proxy.ts'
import { type Findings, printSummary, type Revision, runSuite } from '../../mcp/testing/conformance-suite.ts'
import { type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.ts'

/** The scenarios that need no tools of the suite. */
const HELD: readonly { readonly revision: Revision; readonly scenarios: readonly string[] }[] = [
  {
    revision: '2025-11-25',
    scenarios: [
      'server-initialize',
      'ping',
      'logging-set-level',
      'tools-list',
      'resources-list',
      'prompts-list',
      'server-sse-multiple-streams',
      'dns-rebinding-protection',
      'server-session-lifecycle',
    ],
  },
  {
    revision: '2026-07-28',
    scenarios: [
      'server-stateless',
      'tools-list',
      'resources-list',
      'prompts-list',
      'caching',
      'sep-2164-resource-not-found',
      'server-sse-multiple-streams',
      'dns-rebinding-protection',
      'http-header-validation',
      'input-required-result-unsupported-methods',
    ],
  },
]

let relay: RelayUnderTest
let proxy: CredentialProxy
beforeAll(async () => {
  relay = await startRelayUnderTest({ mcp: 'local' })
  proxy = await startCredentialProxy(relay.mcpUrl, readFileSync(join(relay.dataDir, 'mcp_token'), 'utf8').trim())
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await relay[Symbol.asyncDispose]()
})

describe.each(HELD)('the public MCP conformance suite against a released relay, $revision', ({ revision, scenarios }) => {
  let findings: ReadonlyMap<string, Findings>
  beforeAll(async () => {
    findings = await runSuite(proxy.url, revision)
    printSummary(revision, scenarios, findings)
  })

  it.for(scenarios)('[MCP-59] the conformance scenario passes: %s', (scenario, { skip }) => {
    const found = findings.get(scenario)
    expect(found?.failures).toEqual([])
    expect((found?.checks ?? 0) - (found?.untestable.length ?? 0) - (found?.skipped.length ?? 0)).toBeGreaterThan(0)
    const untestable = found?.untestable ?? []
    if (untestable.length > 0) skip(`the other checks passed; ${untestable.join('; ')}`)
  })
})

it('[MCP-58] a released relay does not offer the tools, resources and prompts made for the suite', async () => {
  const post = async (method: string, params: unknown): Promise<Record<string, unknown>> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const answer = await fetch(proxy.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return (await answer.json()) as Record<string, unknown>
  }
  expect(JSON.stringify((await post('tools/list', {}))['result'])).not.toContain('"test_')
  expect(await post('tools/call', { name: 'test_simple_text' })).toMatchObject({ error: { code: -32_602 } })
  expect(await post('resources/read', { uri: 'test://static-text' })).toMatchObject({ error: { code: -32_002 } })
  expect(await post('prompts/get', { name: 'test_simple_prompt' })).toMatchObject({ error: { code: -32_602 } })
})
