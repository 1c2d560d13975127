import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { saved } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

let relay: SharedRelay
let token: string
let agent: McpAgent
let bare: McpAgent
beforeAll(async () => {
  relay = await sharedRelay()
  token = relay.token({ sub: 'ann', role: 'member' })
  agent = await mcpAgent(relay.mcpUrl, token)
  bare = await mcpAgent(relay.mcpUrl, token, '?ids=bare')
})
afterAll(() => relay?.[Symbol.asyncDispose]())

let documents = 0
/** Puts a document with a prose page `p` and a canvas page `c`, and opens it as a person when it is to be live. */
async function opened(life: 'cold' | 'live') {
  const docId = `ids-${++documents}`
  const content =
    '<h1 id="blk-h">Head</h1><p id="blk-a">Alpha</p><table><tr><th><p id="blk-t">cell</p></th></tr></table><p id="do this">odd</p><hr>'
  const shapes = [
    { id: 'a', type: 'rectangle', x: 0, y: 0, width: 100, height: 50, label: 'A' },
    { id: 'b', type: 'rectangle', x: 300, y: 0, width: 100, height: 50, label: 'B' },
  ]
  await relay.rest({ sub: 'ann' }).putDocument(docId, {
    name: 'Ids',
    pages: [{ id: 'c', name: 'Canvas', shapes }],
    richTextPages: [{ id: 'p', name: 'Page', order: 0, content }],
  })
  const person = life === 'live' ? relay.sync(docId, { sub: 'ann', role: 'member' }) : undefined
  if (person !== undefined) await saved(person)
  return { prose: { docId, pageId: 'p' }, canvas: { docId, pageId: 'c' }, [Symbol.dispose]: () => person?.destroy() }
}

const STAMP = /#[0-9a-z]{4}\b/g

describe.each(['cold', 'live'] as const)('names in answers about a %s document', (life) => {
  it('[AG-11] [AG-12] [AG-13] each id that a read prints is accepted by the next call', async () => {
    using at = await opened(life)
    const { page } = (await agent.call('get_prose', { ...at.prose, ids: true })) as { page: { content: string } }
    const names = [...page.content.matchAll(/<!-- (\S+) -->/g)].map(([, name]) => name)
    expect(names.map((name) => name?.split('#')[0])).toEqual(['blk-h', 'blk-a', '@2', 'blk-t', '@3', '@4'])
    expect(page.content).not.toContain('do this')
    const html = (await agent.call('get_prose', { ...at.prose, ids: true, format: 'html' })) as { page: { content: string } }
    expect([...html.page.content.matchAll(/(?:id|data-handle)="([^"]*)"/g)].map(([, name]) => name)).toEqual(names)
    for (const id of names) await agent.call('get_prose', { ...at.prose, id })
    const { table } = (await agent.call('get_table', at.prose)) as { table: { id: string; cells: readonly { id: string }[] } }
    expect([table.id, table.cells[0]?.id]).toEqual([names[2], names[3]])
    const { outline } = (await agent.call('get_outline', at.prose)) as { outline: readonly { id: string }[] }
    expect(outline[0]?.id).toBe(names[0])
    const moved = (await agent.call('move_block', { ...at.prose, id: names[5], targetId: names[0] })) as {
      blocks: readonly { id: string }[]
    }
    await agent.call('delete_block', { ...at.prose, id: moved.blocks[0]?.id })
    await agent.call('set_prose', { ...at.prose, id: names[4], content: 'even' })
    expect(await agent.refused('set_prose', { ...at.prose, id: names[4], content: 'late' })).toMatchObject({
      code: 'ERR_BLOCK_CHANGED',
    })
  })

  it('[AG-6] [AG-7] [AG-11] a stamped shape id is accepted, and refused when somebody changed the shape since', async () => {
    using at = await opened(life)
    const { shapes } = (await agent.call('get_page', at.canvas)) as { shapes: readonly { id: string; stamp: string }[] }
    const [a, b] = shapes.map(({ id, stamp }) => `${id}#${stamp}`)
    await agent.call('connect', { ...at.canvas, fromId: a, toId: b })
    await agent.call('update_shape', { ...at.canvas, id: a, patch: { x: 50, text: 'New' } })
    const refused = await agent.refused('delete_shape', { ...at.canvas, id: a })
    expect(refused).toMatchObject({
      code: 'ERR_SHAPE_CHANGED',
      current: { type: 'rectangle', content: { id: 'a', text: 'New' } },
    })
    const { current } = refused as unknown as { current: { id: string } }
    expect((await agent.call('delete_shape', { ...at.canvas, id: current.id }))['deleted']).toHaveLength(2)
  })

  it('[RES-3] [AG-15] ?ids=bare omits the stamps of an outline that is read as a resource', async () => {
    using at = await opened(life)
    const { docId, pageId } = at.prose
    const read = async (search: string) => {
      const response = await fetch(relay.mcpUrl + search, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          ...{ jsonrpc: '2.0', id: 1, method: 'resources/read' },
          params: { uri: `relay://doc/${docId}/outline/${pageId}` },
        }),
      })
      return response.text()
    }
    expect(await read('')).toMatch(STAMP)
    const text = await read('?ids=bare')
    expect(text).toContain('blk-h')
    expect(text).not.toMatch(STAMP)
  })

  it('[AG-15] ?ids=bare and the header X-MCP-Ids omit every stamp in answers, and accept stamps in arguments', async () => {
    using at = await opened(life)
    const stamped = await agent.call('get_prose', { ...at.prose, ids: true })
    const alpha = /blk-a#[0-9a-z]{4}/.exec(JSON.stringify(stamped))?.[0]
    const answers = [
      await bare.call('get_prose', { ...at.prose, ids: true }),
      await bare.call('get_outline', at.prose),
      await bare.call('get_table', at.prose),
      await bare.call('get_page', at.canvas),
      await bare.call('set_prose', { ...at.prose, id: alpha, content: 'Beta' }),
      await bare.refused('delete_block', { ...at.prose, anchor: 'Bet' }),
    ]
    for (const answer of answers) expect(JSON.stringify(answer)).not.toMatch(STAMP)
    expect(JSON.stringify(answers[3])).not.toContain('stamp')
    const response = await fetch(relay.mcpUrl, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-mcp-ids': 'bare' },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'service_get_prose', arguments: { ...at.prose, ids: true } },
      }),
    })
    expect(await response.text()).toMatch(/blk-h -->(?!.*#[0-9a-z]{4}\b)/)
    await expect(mcpAgent(relay.mcpUrl, token, '?ids=none')).rejects.toThrow('There are no ids of the form \\"none\\"')
  })
})
