import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SAMPLE_DOCUMENT } from '../../mcp/tools/testing/sample-document.ts'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { type RelayUnderTest, saved, startRelayUnderTest } from '../relay-under-test.ts'

let relay: RelayUnderTest
let agent: McpAgent
beforeAll(async () => {
  relay = await startRelayUnderTest({ mcp: 'local', env: { RELAY_WRITES_PER_SEC: '0', RELAY_READS_PER_SEC: '0' } })
  agent = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'ann', role: 'member' }))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

let documents = 0
/** A document with one prose page, `p`; opened by a person when it is to be live. */
async function opened(life: 'cold' | 'live', content: string) {
  const docId = `told-${++documents}`
  const richTextPages = [{ id: 'p', name: 'Page', order: 0, content }]
  await relay.rest({ sub: 'ann' }).putDocument(docId, { ...SAMPLE_DOCUMENT, richTextPages })
  const person = life === 'live' ? relay.sync(docId, { sub: 'ann', role: 'member' }) : undefined
  if (person !== undefined) await saved(person)
  const at = { docId, pageId: 'p' }
  return {
    at,
    read: async (way: object = {}) =>
      ((await agent.call('get_prose', { ...at, ...way }))['page'] as { readonly content: string }).content,
    version: async () => (await agent.call('get_document', { docId })).serverVersion,
    [Symbol.dispose]: () => person?.destroy(),
  }
}

const PAGE = [
  '<h2 id="blk-h">Head</h2><pre id="blk-c"><code class="language-sh">*a*\n\n  {{client}}\n\n$x$</code></pre>',
  '<p id="blk-a">To <span data-field data-name="client" data-label="Ada">Ada</span>: **not bold**, &lt;b&gt;</p>',
  '<ul data-type="taskList"><li data-type="taskItem" data-checked="true"><p id="blk-t">done</p></li></ul>',
  '<div data-callout data-variant="tip"><p id="blk-q">tip</p></div><table><tr><td><p id="blk-s">a|b</p></td></tr></table>',
].join('')

describe.each(['cold', 'live'] as const)('prose of a %s document', (life) => {
  it('[AG-34] [AG-35] a page that is read in any format and sent back without one keeps its version', async () => {
    using page = await opened(life, PAGE)
    const [stored, version] = [await page.read(), await page.version()]
    expect(stored).toBe(PAGE)
    expect(await page.read({ ids: true })).toMatch(/^<!-- blk-h#/)
    for (const format of ['html', 'markdown', 'md', undefined])
      for (const ids of [true, false]) {
        const content = await page.read({ ids, ...(format && { format }) })
        const answer = await agent.call('set_prose', { ...page.at, content })
        expect(answer).toMatchObject({ serverVersion: version })
        expect(answer).not.toHaveProperty('fixes')
        expect(answer['format']).toBe(content.startsWith('<h2') ? 'html' : undefined)
      }
    expect([await page.read(), await page.version()]).toEqual([stored, version])
  })
})
