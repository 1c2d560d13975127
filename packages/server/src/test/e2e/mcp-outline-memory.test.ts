import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { mcpAgent } from '../mcp-agent.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'
import { openWire, type WireClient } from '../wire-client.ts'

let relay: SharedRelay
beforeAll(async () => {
  relay = await sharedRelay()
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const PAGE = '<h1 id="blk-a">A</h1><p id="blk-1">one</p><h1 id="blk-b">B</h1><p id="blk-2">two</p><h1 id="blk-c">C</h1>'

let made = 0
/** Puts a document of Ann, with an agent of hers that has not seen it, and Ann in her editor. */
async function start(content = PAGE) {
  const docId = `outline-${++made}`
  const ann = `ann-${made}`
  const richTextPages = [{ id: 'p', name: 'Page', order: 0, content }]
  await relay.rest({ sub: ann }).putDocument(docId, { name: docId, pages: [], richTextPages } as never)
  const agentOf = (sub: string) => mcpAgent(relay.mcpUrl, relay.token({ sub, role: 'owner' }))
  const [agent, other] = [await agentOf(`${ann}-agent`), await agentOf(`${ann}-other`)]
  const person = await (await openWire(relay)).enter(relay.token({ sub: ann, role: 'owner' }), docId, ['ack'])
  const at = { docId, pageId: 'p' }
  return {
    ...{ ann, at, agent, other, person },
    outline: async () =>
      (await agent.call('get_outline', at))['outline'] as readonly { readonly id: string; readonly title: string }[],
    html: async () => ((await other.call('get_prose', at))['page'] as { readonly content: string }).content,
    async [Symbol.asyncDispose]() {
      person.socket.close()
      await person.closed
    },
  }
}

const fragmentOf = (client: WireClient) => client.doc.getXmlFragment('prose:p')

function heading(id: string, words: string): Y.XmlElement {
  const made = new Y.XmlElement('heading')
  made.setAttribute('id', id)
  made.setAttribute('level', 1 as never)
  made.insert(0, [new Y.XmlText(words)])
  return made
}

/** Puts a heading before all others. Resolves when it is durable. */
const putFirst = (client: WireClient, id: string) =>
  client.write(client.edit(() => fragmentOf(client).insert(0, [heading(id, id)])))

/** Types at the end of a top-level block of the page. */
function type(client: WireClient, id: string, words: string): Promise<void> {
  return client.write(
    client.edit(() => {
      for (const node of fragmentOf(client).createTreeWalker(() => true))
        if (node instanceof Y.XmlElement && node.getAttribute('id') === id) {
          const text = node.get(0) as Y.XmlText
          text.insert(text.length, words)
        }
    }),
  )
}

describe.concurrent('a heading that is named by its index', () => {
  it('[AG-79] is refused, with the heading that is there now, when a person put another one before it', async () => {
    await using document = await start()
    const { agent, at, person } = document
    await document.outline()
    await putFirst(person, 'blk-new')
    const calls = [
      ['restructure_outline', { op: 'demote', index: 1 }],
      ['restructure_outline', { op: 'move', index: 1, toIndex: 0 }],
      ['insert_section', { level: 1, title: 'x', afterIndex: 1 }],
      ['edit_text', { edits: [{ find: 'one', replace: '1', sectionIndex: 1 }] }],
    ] as const
    for (const [tool, args] of calls) {
      const refused = await agent.refused(tool, { ...at, ...args })
      expect(refused, tool).toMatchObject({
        code: 'ERR_BLOCK_CHANGED',
        id: 'blk-b',
        current: { type: 'heading', content: '# A' },
      })
      expect((refused['current'] as { readonly id: string }).id).toMatch(/^blk-a#/)
    }
    const version = (await agent.call('get_document', { docId: at.docId })).serverVersion
    await agent.call('restructure_outline', { ...at, op: 'demote', index: 1, expectedVersion: version })
    expect(await document.html()).toContain('<h2 id="blk-a">A</h2>')
  })

  it('[AG-79] can be named again after any answer that showed the headings at their places', async () => {
    await using document = await start()
    const { agent, at, person } = document
    const demote = (index: number) => agent.call('restructure_outline', { ...at, op: 'demote', index })
    await document.outline()
    await putFirst(person, 'blk-x')
    await agent.call('get_outline', { docId: at.docId })
    await demote(1)
    await putFirst(person, 'blk-y')
    await agent.call('get_prose', at)
    await demote(2)
    await putFirst(person, 'blk-z')
    await agent.refused('restructure_outline', { ...at, op: 'demote', index: 3 })
    await agent.call('get_prose', { ...at, index: 3 })
    await demote(3)
    expect(await document.html()).toContain('<h4 id="blk-a">A</h4>')
  })

  it('[AG-79] stays known to a caller through its own additions, moves and removals', async () => {
    await using document = await start()
    const { agent, at } = document
    await document.outline()
    await agent.call('insert_section', { ...at, level: 1, title: 'New', position: 'start' })
    await agent.call('restructure_outline', { ...at, op: 'demote', index: 1 })
    await agent.call('restructure_outline', { ...at, op: 'move', index: 3, toIndex: 0 })
    await agent.call('restructure_outline', { ...at, op: 'demote', index: 0 })
    await agent.call('delete_section', { ...at, id: 'blk-b' })
    await agent.call('restructure_outline', { ...at, op: 'promote', index: 2 })
    expect((await document.html()).replaceAll(/ id="[^"]*"/g, '')).toBe('<h2>C</h2><h1>New</h1><h1>A</h1><p>one</p>')
  })

  it('[AG-79] stays refused after own writes elsewhere, and a caller without memory gets the heading at the index', async () => {
    await using document = await start()
    const { agent, other, at, person } = document
    await document.outline()
    await putFirst(person, 'blk-new')
    await agent.call('set_prose', { ...at, id: 'blk-1', content: 'one by me' })
    await agent.call('insert_section', { ...at, level: 2, title: 'New', afterId: 'blk-c' })
    expect(await agent.refused('restructure_outline', { ...at, op: 'demote', index: 0 })).toMatchObject({ id: 'blk-a' })
    await other.call('restructure_outline', { ...at, op: 'demote', index: 0 })
  })

  it('[AG-79] stays valid while a person only types in it', async () => {
    await using document = await start()
    const { agent, at, person } = document
    await document.outline()
    await type(person, 'blk-b', ' typed')
    await agent.call('restructure_outline', { ...at, op: 'demote', index: 1 })
    expect(await document.html()).toContain('<h2 id="blk-b">B typed</h2>')
  })

  it('[AG-79] counts, in a step, after the earlier steps', async () => {
    await using document = await start()
    const { agent, at, person } = document
    await document.outline()
    const steps = [
      { tool: 'insert_section', arguments: { pageId: 'p', level: 1, title: 'New', position: 'start' } },
      { tool: 'restructure_outline', arguments: { pageId: 'p', op: 'demote', index: 1 } },
    ]
    await agent.call('edit_document', { docId: at.docId, steps })
    expect(await document.html()).toContain('<h2 id="blk-a">A</h2>')
    await agent.call('restructure_outline', { ...at, op: 'promote', index: 1 })
    await putFirst(person, 'blk-x')
    expect(await agent.refused('edit_document', { docId: at.docId, steps })).toMatchObject({ code: 'ERR_BLOCK_CHANGED', step: 2 })
  })
})

describe.concurrent('blocks shown by an answer', () => {
  it('[AG-17] [AG-28] a heading from get_outline and a cell from get_table are not overwritten by bare id after a person typed there', async () => {
    const table = '<table><tr><td><p id="blk-t">cell</p></td><td><p id="blk-u">other</p></td></tr></table>'
    await using document = await start(PAGE + table)
    const { agent, other, at, person } = document
    await document.outline()
    await agent.call('get_table', at)
    for (const id of ['blk-b', 'blk-t']) await type(person, id, ' typed')
    for (const id of ['blk-b', 'blk-t']) {
      const refused = await agent.refused('set_prose', { ...at, id, content: 'x' })
      expect(refused).toMatchObject({ code: 'ERR_BLOCK_CHANGED', changedBy: { kind: 'person' } })
      await other.call('set_prose', { ...at, id, content: 'not seen' })
    }
    await agent.call('edit_table', { ...at, op: 'toggleHeaderRow' })
    await type(person, 'blk-u', ' typed')
    expect(await agent.refused('edit_table', { ...at, op: 'deleteColumn', col: 1 })).toMatchObject({ id: 'blk-u' })
  })
})

describe.concurrent('a section that is removed', () => {
  /** Puts an image after the first two blocks. Resolves when it is durable. */
  const putImage = (client: WireClient) =>
    client.write(
      client.edit(() => {
        const image = new Y.XmlElement('image')
        image.setAttribute('src', 'https://example.com/a.png')
        fragmentOf(client).insert(2, [image])
      }),
    )

  it('[AG-27] a section with an image that a person added is not removed until the caller has read the image', async () => {
    await using document = await start()
    const { agent, at, person } = document
    const { page } = (await agent.call('get_prose', { ...at, ids: true })) as { readonly page: { readonly content: string } }
    const id = /blk-a#\w{4}/.exec(page.content)?.[0]
    await putImage(person)
    const refused = await agent.refused('delete_section', { ...at, id })
    expect(refused).toMatchObject({ code: 'ERR_BLOCK_CHANGED', current: { type: 'image' } })
    expect(await agent.refused('delete_section', { ...at, id: 'blk-a' })).toMatchObject({ code: 'ERR_BLOCK_CHANGED' })
    const { id: handle } = refused['current'] as { readonly id: string }
    await agent.call('get_prose', { ...at, id: handle })
    await agent.call('delete_section', { ...at, id })
    expect(await document.html()).not.toContain('<img')
  })

  it('[AG-27] a section is removed with images that the caller has read, or added itself', async () => {
    await using document = await start()
    const { agent, at, person } = document
    await putImage(person)
    await agent.call('get_prose', { ...at, index: 0 })
    await agent.call('delete_section', { ...at, id: 'blk-a' })
    await agent.call('get_prose', at)
    await agent.call('insert_block', { ...at, id: 'blk-2', content: '![x](https://example.com/b.png)' })
    await agent.call('insert_block', {
      ...at,
      id: 'blk-2',
      content: '> quoted\n>\n> ![x](https://example.com/b.png)',
      brief: true,
    })
    await agent.call('delete_section', { ...at, id: 'blk-b' })
    expect(await document.html()).toBe('<h1 id="blk-c">C</h1>')
  })
})

describe.concurrent('the steps of one call', () => {
  it('[AG-28] [AG-56] may write a block changed by an earlier step by its bare id, but not one changed by a person', async () => {
    await using document = await start()
    const { agent, at, person, ann } = document
    await agent.call('get_prose', at)
    const set = (id: string, content: string) => ({ tool: 'set_prose', arguments: { pageId: 'p', id, content } })
    const words = { tool: 'edit_text', arguments: { edits: [{ find: 'one', replace: 'first' }] } }
    await agent.call('edit_document', { docId: at.docId, steps: [words, set('blk-1', 'second'), set('blk-1', 'third')] })
    expect(await document.html()).toContain('<p id="blk-1">third</p>')
    await type(person, 'blk-2', ' typed')
    const refused = await agent.refused('edit_document', { docId: at.docId, steps: [set('blk-1', 'x'), set('blk-2', 'y')] })
    expect(refused).toMatchObject({
      code: 'ERR_BLOCK_CHANGED',
      step: 2,
      changedBy: { id: ann },
      current: { content: 'two typed' },
    })
    expect(await document.html()).toContain('<p id="blk-1">third</p>')
  })

  it('[AG-27] a step that deletes a section is refused after a person wrote in it, and may delete what earlier steps added', async () => {
    await using document = await start()
    const { agent, at, person } = document
    await agent.call('get_prose', at)
    const insert = { tool: 'insert_block', arguments: { pageId: 'p', id: 'blk-1', content: 'new' } }
    const remove = (id: string) => ({ tool: 'delete_section', arguments: { pageId: 'p', id } })
    await agent.call('edit_document', { docId: at.docId, steps: [insert, remove('blk-a')] })
    expect(await document.html()).toBe('<h1 id="blk-b">B</h1><p id="blk-2">two</p><h1 id="blk-c">C</h1>')
    await type(person, 'blk-2', ' typed')
    const refused = await agent.refused('edit_document', { docId: at.docId, steps: [remove('blk-c'), remove('blk-b')] })
    expect(refused).toMatchObject({ code: 'ERR_BLOCK_CHANGED', step: 2, current: { content: 'two typed' } })
  })

  it('[AG-27] [AG-56] a step that deletes a section by a stamped heading may delete only what the caller has seen in it', async () => {
    await using document = await start()
    const { agent, at } = document
    const [heading] = await document.outline()
    const id = heading?.id
    const steps = [
      { tool: 'restructure_outline', arguments: { pageId: 'p', op: 'demote', id } },
      { tool: 'delete_section', arguments: { pageId: 'p', id } },
    ]
    const refused = await agent.refused('edit_document', { docId: at.docId, steps })
    expect(refused).toMatchObject({ code: 'ERR_BLOCK_CHANGED', step: 2, current: { content: 'one' } })
    await agent.call('get_prose', at)
    await agent.call('edit_document', { docId: at.docId, steps })
    expect(await document.html()).toBe('<h1 id="blk-b">B</h1><p id="blk-2">two</p><h1 id="blk-c">C</h1>')
  })

  it('[AG-24] [AG-19] a page that one step wrote whole is known in the form of the last step', async () => {
    await using document = await start()
    const { agent, at, person } = document
    const steps = [
      { tool: 'set_prose', arguments: { pageId: 'p', content: '# A\n\nfirst\n\nsecond\n\nthird', replace: true } },
      { tool: 'edit_text', arguments: { edits: [{ find: 'first', replace: '1st' }] } },
      { tool: 'delete_block', arguments: { pageId: 'p', anchor: 'second' } },
    ]
    const { steps: told } = (await agent.call('edit_document', { docId: at.docId, steps })) as unknown as {
      readonly steps: readonly { readonly result: { readonly blocks: readonly { readonly id: string }[] } }[]
    }
    expect((await agent.call('set_prose', { ...at, content: '# A\n\n1st\n\n3rd' }))['warnings']).toBeUndefined()
    const id = told[0]?.result.blocks[0]?.id.split('#')[0] ?? ''
    await type(person, id, ' typed')
    expect(await agent.refused('set_prose', { ...at, content: 'all new' })).toMatchObject({
      code: 'ERR_PAGE_CHANGED',
      seen: true,
      total: 1,
    })
  })

  it('[AG-28] [AG-48] edit_text by bare id keeps what a person typed in the block, and an old stamp is refused', async () => {
    await using document = await start()
    const { agent, at, person } = document
    const { page } = (await agent.call('get_prose', { ...at, ids: true })) as { readonly page: { readonly content: string } }
    const stamped = /blk-1#\w{4}/.exec(page.content)?.[0]
    await type(person, 'blk-1', ' typed')
    const edit = (id: unknown) => ({ ...at, edits: [{ find: 'one', replace: 'first', id }] })
    expect(await agent.refused('edit_text', edit(stamped))).toMatchObject({
      code: 'ERR_BLOCK_CHANGED',
      current: { content: 'one typed' },
      changedBy: { kind: 'person' },
    })
    await agent.call('edit_text', edit('blk-1'))
    expect(await document.html()).toContain('<p id="blk-1">first typed</p>')
  })
})
