import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { systemRandom } from '../kernel/ids.ts'
import { createInputRounds } from './input-rounds.ts'
import { conformanceContent } from './testing/conformance-content.ts'
import { type CredentialProxy, startCredentialProxy } from './testing/conformance-proxy.ts'
import { type Findings, printSummary, REVISIONS, runSuite, scenariosOf } from './testing/conformance-suite.ts'
import { conformanceTools } from './testing/conformance-tools.ts'
import { type McpRelay, startMcpRelay, STATIC_TOKEN } from './testing/mcp-relay.ts'

/**
 * Scenarios that the suite does not score but that this endpoint passes anyway. The other unscored scenarios test an extension, or
 * headers that no tool of this endpoint declares. [MCP-43]
 */
const HELD_AS_WELL = ['server-session-lifecycle', 'json-schema-2020-12', 'http-header-validation']

const sets = await Promise.all(REVISIONS.map(async (revision) => ({ revision, ...(await scenariosOf(revision)) })))

let relay: McpRelay
let proxy: CredentialProxy
beforeAll(async () => {
  const rounds = createInputRounds({ keys: [systemRandom.bytes(32)], clock: systemClock })
  relay = await startMcpRelay({ tools: conformanceTools(rounds), content: conformanceContent(rounds) })
  proxy = await startCredentialProxy(relay.urls.local, STATIC_TOKEN)
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await relay[Symbol.asyncDispose]()
})

/** Scenarios that do not apply: tools and prompts of this endpoint change only with a release. [MCP-46] */
const SKIPPED = [
  'sep-2575-server-sends-prompts-list-changed-on-subscription',
  'sep-2575-server-sends-tools-list-changed-on-subscription',
]

it('[MCP-58] each frozen set has as many scored scenarios as when it was frozen', () => {
  expect(sets.map(({ scored }) => scored.length)).toEqual([30, 37])
})

describe.each(sets)('the public MCP conformance suite, $revision', ({ revision, scored, unscored }) => {
  let findings: ReadonlyMap<string, Findings>
  beforeAll(async () => {
    findings = await runSuite(proxy.url, revision)
    printSummary(revision, [...scored, ...HELD_AS_WELL.filter((name) => unscored.includes(name))], findings)
    const others = unscored.filter((name) => !HELD_AS_WELL.includes(name))
    process.stdout.write(`${revision} not scored and not served: ${others.join(', ')}\n`)
  })

  it.for([...scored, ...unscored.filter((name) => HELD_AS_WELL.includes(name))])(
    '[MCP-58] the conformance scenario passes: %s',
    (scenario) => {
      const found = findings.get(scenario)
      expect(found?.checks).toBeGreaterThan(0)
      expect([...(found?.failures ?? []), ...(found?.untestable ?? [])]).toEqual([])
      expect(found?.skipped.filter((line) => !SKIPPED.some((id) => line.startsWith(`${id}:`)))).toEqual([])
    },
  )
})
