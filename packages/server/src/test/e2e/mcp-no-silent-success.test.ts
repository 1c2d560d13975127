import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SAMPLE_DOCUMENT } from '../../mcp/tools/testing/sample-document.ts'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { saved } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

let relay: SharedRelay
let agent: McpAgent
beforeAll(async () => {
  relay = await sharedRelay()
  agent = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'ann', role: 'member' }))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

let documents = 0
/** Puts a document with one prose page `p`, and opens it as a person when it is to be live. */
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
  it('[AG-34] [AG-35] a page read in any format and sent back without a format keeps its version', async () => {
    using page = await opened(life, PAGE)
    const [stored, version] = [await page.read(), await page.version()]
    expect(stored).toBe(PAGE)
    expect(await page.read({ ids: true })).toMatch(/^<!-- blk-h#/)
    for (const format of ['html', 'markdown', 'md', undefined])
      for (const ids of [true, false]) {
        const content = await page.read({ ids, ...(format && { format }) })
        const answer = await agent.call('set_prose', { ...page.at, content })
        expect(answer).toMatchObject({ serverVersion: version, changed: 0 })
        expect(answer).not.toHaveProperty('fixes')
        expect(answer['format']).toBe(content.startsWith('<h2') ? 'html' : undefined)
      }
    expect([await page.read(), await page.version()]).toEqual([stored, version])
  })

  it('[AG-36] [AG-37] a title without ## stays a heading, code without a fence code, and a ticked task keeps sub-tasks', async () => {
    const sub = '<ul data-type="taskList"><li data-type="taskItem" data-checked="false"><p id="blk-u">sub</p></li></ul>'
    using page = await opened(
      life,
      PAGE.replace('done</p>', `done</p>${sub}`).replace('data-checked="true"', 'data-checked="false"'),
    )
    const unwrapped = { fixes: [{ action: 'unwrapped', field: 'content' }] }
    const set = (id: string, content: string) => agent.call('set_prose', { ...page.at, id, content })
    expect(await set('blk-h', 'New title')).toMatchObject(unwrapped)
    expect(await set('blk-c', '# comment\n\n*x*')).toMatchObject(unwrapped)
    expect(await set('blk-t', '- [x] Beta')).toMatchObject(unwrapped)
    expect(await set('blk-a', '## Text')).toMatchObject({ warnings: [{ reason: expect.stringContaining('was a paragraph') }] })
    const html = await page.read()
    expect(html).toContain('<h2 id="blk-h">New title</h2><pre id="blk-c"><code class="language-sh"># comment\n\n*x*</code></pre>')
    expect(html).toContain(`<li data-type="taskItem" data-checked="true"><p id="blk-t">Beta</p>${sub}</li>`)
  })

  it('[AG-38] [AG-39] a section inserted beside the last item of a list goes after the list, and a page end needs no target', async () => {
    using page = await opened(life, '<ul><li><p id="blk-i">one</p></li></ul>')
    const put = (args: object) => agent.call('insert_block', { ...page.at, ...args })
    expect(await put({ id: 'blk-i', content: '## New section\n\nText.' })).toMatchObject({ fixes: [{ action: 'unwrapped' }] })
    await put({ at: 'start', content: 'first' })
    await put({ id: 'blk-i', outside: true, side: 'before', content: 'second' })
    await put({ at: 'end', content: 'last' })
    expect(await page.read({ format: 'markdown' })).toBe('first\n\nsecond\n\n- one\n\n## New section\n\nText.\n\nlast\n')
    const refused = await agent.refused('insert_block', { ...page.at, at: 'end', id: 'blk-i', content: 'x' })
    expect(refused).toMatchObject({ code: 'ERR_BAD_ARGUMENT', argument: 'at' })
  })

  it('[AG-40] [AG-41] an answer reports sections that lie under another heading, and Markdown without effect', async () => {
    using page = await opened(life, '<h1>A</h1><h2>B</h2>')
    const inserted = await agent.call('insert_section', {
      ...page.at,
      level: 1,
      title: '**C**',
      afterIndex: 0,
      body: 'H~2~O \\(x\\)',
    })
    expect(inserted['warnings']).toEqual([
      { field: 'title', reason: expect.stringContaining('plain text only') },
      { reason: expect.stringContaining('write $x$') },
      { reason: expect.stringContaining('<sub>') },
      { reason: 'a section lies under another heading now: "B" was under "A" and is under "**C**"' },
    ])
  })

  it('[AG-82] reading a page by cursor gives each block once, while another page start is written', async () => {
    const ids = Array.from({ length: 12 }, (_, i) => `blk-n${i}`)
    using page = await opened(life, ids.map((id) => `<p id="${id}">${id}</p>`).join(''))
    const seen: string[] = []
    let cursor: unknown
    for (let i = 0; i < 20; i++) {
      const part = await agent.call('get_prose', { ...page.at, limit: 2, ...(cursor !== undefined && { cursor }) })
      seen.push(
        ...[...(part['page'] as { readonly content: string }).content.matchAll(/id="([^"]*)"/g)].map(([, id]) => id ?? ''),
      )
      cursor = part['nextCursor']
      if (cursor === undefined) break
      await agent.call('insert_block', { ...page.at, at: 'start', content: `new ${i}` })
    }
    expect(seen).toEqual(ids)
  })

  it('[AG-96] a request without extension tools is not told of them', async () => {
    using page = await opened(life, PAGE)
    const plain = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'ann', role: 'member' }), '?extra=0')
    const reasons = async (caller: McpAgent, content: string) => {
      const { fixes } = await caller.call('set_prose', { ...page.at, id: 'blk-h', content })
      return (fixes as readonly { readonly reason: string }[]).map(({ reason }) => reason)
    }
    const said = 'the text was set in the heading, which stays on level 2'
    expect(await reasons(agent, 'One')).toEqual([`${said}; service_set_block changes what a block is`])
    expect(await reasons(plain, 'Two')).toEqual([said])
  })
})
