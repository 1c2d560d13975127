import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { mcpSession } from '../mcp-session.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'
import { openWire, type WireClient } from '../wire-client.ts'
import { type } from '../wire-typing.ts'

let relay: SharedRelay
beforeAll(async () => {
  relay = await sharedRelay()
})
afterAll(() => relay?.[Symbol.asyncDispose]())

interface Body {
  readonly richTextPages: readonly { readonly content: string }[]
}

let made = 0
/** Puts a document of Ann with three paragraphs. Starts an agent of Ann's and one of a workspace owner, neither of which has seen it. */
async function start(content = '<p id="blk-1">one</p><p id="blk-2">two</p><p id="blk-3">three</p>') {
  const ann = `ann-${++made}`
  const writer = await mcpAgent(relay.mcpUrl, relay.token({ sub: `${ann}-setup`, role: 'owner' }))
  const { id, prosePageId } = await writer.call('create_document', { name: 'Memory' })
  const docId = String(id)
  await writer.call('set_prose', { docId, pageId: prosePageId, content, format: 'html' })
  const agentOf = (sub: string, role = 'owner') => mcpAgent(relay.mcpUrl, relay.token({ sub, role }))
  const [agent, other] = [await agentOf(`${ann}-agent`), await agentOf(`${ann}-other`)]
  const at = { docId, pageId: String(prosePageId) }
  const enter = async (sub = ann) => (await openWire(relay)).enter(relay.token({ sub, role: 'owner' }), docId, ['ack'])
  return { ann, docId, at, agent, other, agentOf, enter, rest: relay.rest({ sub: ann, role: 'owner' }) }
}

/** Leaves the document and waits until the connection is closed. */
async function left(client: WireClient): Promise<void> {
  client.socket.close()
  await client.closed
}

const newsOf = async (agent: McpAgent, tool: string, args: Readonly<Record<string, unknown>>) =>
  (await agent.call(tool, args))['news']

describe.concurrent('news of changes by others since the last answer', () => {
  it('[AG-20] [AG-21] [AG-22] news of a live document says once who typed where, with the name that the person shows', async () => {
    const { ann, docId, at, agent, enter } = await start()
    const person = await enter()
    person.presence({ client: person.doc.clientID, clock: 1, state: { user: { name: 'Ann of the very long and winding name' } } })
    const { serverVersion } = await agent.call('get_prose', at)
    expect(await newsOf(agent, 'get_document', { docId })).toBeUndefined()
    await type(person, at, 'blk-2', ' and more')
    const news = {
      since: serverVersion,
      by: [`Ann of the very long and (${ann})`],
      blocks: 1,
      ids: ['blk-2'],
      pages: [at.pageId],
    }
    expect(await newsOf(agent, 'list_fields', { docId })).toEqual(news)
    expect(await newsOf(agent, 'list_fields', { docId })).toBeUndefined()
    await left(person)
  })

  it('[AG-20] [AG-22] changes by REST and by another agent are news, also under the sub of the caller; own calls are not', async () => {
    const { at, docId, agent, other, rest, ann } = await start()
    const own = await mcpAgent(relay.mcpUrl, relay.token({ sub: ann, role: 'owner' }))
    await own.call('get_prose', at)
    await own.call('insert_block', { ...at, id: 'blk-3', content: 'own' })
    expect(await newsOf(own, 'get_document', { docId })).toBeUndefined()
    const document = (await rest.getDocument(docId)) as { readonly richTextPages: readonly { readonly content: string }[] }
    const [page] = document.richTextPages
    await rest.putDocument(docId, {
      ...document,
      richTextPages: [{ ...page, content: page?.content.replace('two', '2') }],
    } as never)
    expect(await newsOf(own, 'get_document', { docId })).toMatchObject({ by: [ann], blocks: 1, ids: ['blk-2'] })
    await other.call('set_prose', { ...at, id: 'blk-1', content: 'by another agent' })
    expect(await newsOf(own, 'get_document', { docId })).toMatchObject({ by: [`${ann}-other`], blocks: 1, ids: ['blk-1'] })
    await other.call('set_fields', { docId, fields: [{ name: 'a', value: '1' }] })
    expect(await newsOf(own, 'get_document', { docId })).toMatchObject({ by: [`${ann}-other`], blocks: 0, ids: [] })
    expect(await newsOf(agent, 'get_document', { docId })).toBeUndefined()
  })

  it('[AG-19] [AG-22] failures and dry runs show news again; a read or a write shows them once', async () => {
    const { docId, at, agent, enter } = await start()
    await agent.call('get_prose', at)
    const person = await enter()
    await type(person, at, 'blk-3', '!')
    const news = { blocks: 1, ids: ['blk-3'] }
    expect((await agent.refused('delete_block', { ...at, id: 'blk-none' }))['news']).toMatchObject(news)
    const conflict = await agent.refused('rename_document', { docId, name: 'x', expectedVersion: 1 })
    expect([conflict.code, conflict['news']]).toEqual(['ERR_VERSION_CONFLICT', expect.objectContaining(news)])
    expect(await newsOf(agent, 'rename_document', { docId, name: 'x', dryRun: true })).toMatchObject(news)
    const once = { ...at, id: 'blk-2', content: 'once', requestId: 'r1' }
    expect(await newsOf(agent, 'insert_block', once)).toMatchObject(news)
    await type(person, at, 'blk-1', '!')
    const repeat = await agent.call('insert_block', once)
    expect([repeat['replayed'], repeat['news']]).toEqual([true, undefined])
    expect(await newsOf(agent, 'get_document', { docId })).toMatchObject({ ids: ['blk-1'] })
    await left(person)
  })

  it('[AG-24] [AG-28] a dry run of delete_document does not let its caller overwrite unseen words', async () => {
    const { docId, at, agent, enter } = await start()
    await agent.call('get_prose', at)
    const person = await enter()
    await type(person, at, 'blk-2', ' and more')
    expect(await agent.call('delete_document', { docId, dryRun: true })).toEqual({ deleted: docId, dryRun: true })
    expect((await agent.refused('set_prose', { ...at, content: 'whole' })).code).toBe('ERR_PAGE_CHANGED')
    expect((await agent.refused('set_prose', { ...at, id: 'blk-2', content: 'one block' })).code).toBe('ERR_BLOCK_CHANGED')
    await left(person)
  })

  it('[AG-22] a caller that lost its right gets no news', async () => {
    const { ann, docId, at, agentOf, rest, enter } = await start()
    await rest.shareDocument(docId, [{ userId: `${ann}-guest`, permission: 'edit' }])
    const guest = await agentOf(`${ann}-guest`, 'member')
    await guest.call('get_prose', at)
    const person = await enter()
    await type(person, at, 'blk-1', ' secret')
    expect((await guest.refused('delete_block', { ...at, id: 'blk-none' }))['news']).toMatchObject({ ids: ['blk-1'] })
    await rest.shareDocument(docId, [])
    for (const [tool, args] of [
      ['get_prose', at],
      ['set_prose', { ...at, id: 'blk-1', content: 'x' }],
      ['delete_block', { ...at, id: 'blk-none' }],
    ] as const)
      expect(JSON.stringify(await guest.refused(tool, args))).not.toMatch(/news|blk-1/)
    await left(person)
  })

  it('[AG-18] [AG-21] each session of a principal has a memory of its own, and an agent has the name of its client', async () => {
    const { docId, at, ann } = await start()
    const bearer = relay.token({ sub: ann, role: 'owner' })
    const [first, second] = [
      await mcpSession(relay.mcpUrl, bearer, 'First client'),
      await mcpSession(relay.mcpUrl, bearer, 'Second client'),
    ]
    await first('get_prose', at)
    await second('get_prose', at)
    await first('set_prose', { ...at, id: 'blk-1', content: 'from the first' })
    expect((await first('get_document', { docId }))['news']).toBeUndefined()
    expect((await second('get_document', { docId }))['news']).toMatchObject({ by: [`First client (${ann})`], ids: ['blk-1'] })
  })
})

describe.concurrent('overwriting edits of others', () => {
  it('[AG-24] [AG-28] words that a person typed since the last read are not overwritten, until the agent reads them', async () => {
    const { ann, at, agent, enter } = await start()
    const person = await enter()
    await agent.call('get_prose', at)
    await type(person, at, 'blk-2', ' by Ann')
    for (let i = 0; i < 2; i++) {
      const page = await agent.refused('set_prose', { ...at, content: 'all new' })
      expect(page).toMatchObject({ code: 'ERR_PAGE_CHANGED', seen: true, total: 1, news: { ids: ['blk-2'] } })
      expect(page['changedBlocks']).toMatchObject([{ content: 'two by Ann', changedBy: { id: ann, kind: 'person' } }])
      const block = await agent.refused('set_prose', { ...at, id: 'blk-2', content: 'mine' })
      expect(block).toMatchObject({ code: 'ERR_BLOCK_CHANGED', changedBy: { id: ann, kind: 'person' } })
      expect((block['current'] as { readonly content: string }).content).toBe('two by Ann')
    }
    await agent.call('set_prose', { ...at, id: 'blk-1', content: 'one by me' })
    await agent.call('get_prose', { ...at, id: 'blk-2' })
    await agent.call('set_prose', { ...at, id: 'blk-2', content: 'two by both' })
    await agent.call('set_prose', { ...at, content: 'all new' })
    await left(person)
  })

  it('[AG-24] [AG-28] words written by PUT or by another agent into a cold document are protected in the same way', async () => {
    const { ann, docId, at, agent, other, rest } = await start()
    await agent.call('get_prose', at)
    const document = (await rest.getDocument(docId)) as { readonly richTextPages: readonly { readonly content: string }[] }
    const [page] = document.richTextPages
    await rest.putDocument(docId, {
      ...document,
      richTextPages: [{ ...page, content: page?.content.replace('two', 'put') }],
    } as never)
    expect(await agent.refused('delete_block', { ...at, id: 'blk-2' })).toMatchObject({ changedBy: { id: ann, kind: 'person' } })
    await other.call('get_prose', at)
    await other.call('set_prose', { ...at, id: 'blk-3', content: 'by another' })
    const { warnings } = await agent.call('set_prose', { ...at, id: 'blk-3', content: 'over it' })
    expect(warnings).toEqual([{ reason: expect.stringMatching(/by another.*-other/) }])
    expect(await agent.refused('set_prose', { ...at, content: 'all' })).toMatchObject({ code: 'ERR_PAGE_CHANGED', total: 1 })
    await agent.call('set_prose', { ...at, content: 'all', replace: true })
  })

  it('[AG-25] a page read with ids and sent back whole keeps what people typed elsewhere, live', async () => {
    const { at, agent, enter } = await start()
    const person = await enter()
    const { page } = (await agent.call('get_prose', { ...at, ids: true })) as { readonly page: { readonly content: string } }
    await type(person, at, 'blk-2', ' by Ann')
    await agent.call('set_prose', { ...at, content: page.content.replace('three', 'three by me') })
    const now = await agent.call('get_prose', { ...at, format: 'html' })
    expect((now['page'] as { readonly content: string }).content).toMatch(/one<.*two by Ann<.*three by me</)
    await type(person, at, 'blk-3', ' and Ann')
    const stale = await agent.refused('set_prose', { ...at, content: page.content.replace('three', 'three again') })
    expect(stale).toMatchObject({ code: 'ERR_PAGE_CHANGED' })
    await left(person)
  })

  it('[AG-26] [AG-28] replacing a page that was never shown warns with the words of the blocks that keep their id', async () => {
    const { at, other } = await start()
    const { warnings } = await other.call('set_prose', { ...at, content: 'blind' })
    expect(warnings).toEqual([
      { reason: expect.stringContaining('not shown all of page') },
      { reason: 'the block blk-1 said "one", which you were not shown' },
    ])
  })

  it('[AG-26] [AG-31] before a never shown page is replaced, its state becomes a recovery point, however small it is', async () => {
    for (const isLive of [false, true])
      for (const inSteps of [false, true]) {
        const { at, docId, other, enter, rest } = await start('<p id="blk-1">the only words</p>')
        const person = isLive ? await enter() : null
        if (person !== null) await type(person, at, 'blk-1', ' by Ann')
        const words = { pageId: at.pageId, content: 'blind' }
        const step = { docId, steps: [{ tool: 'set_prose', arguments: words }] }
        await (inSteps ? other.call('edit_document', step) : other.call('set_prose', { docId, ...words }))
        const points = await rest.recoveryPoints(docId)
        const kept = await Promise.all(points.map(({ id }) => rest.getRecoveryPoint(docId, id)))
        const page = `<p id="blk-1">the only words${isLive ? ' by Ann' : ''}</p>`
        expect(kept.map((body) => (body as unknown as Body).richTextPages[0]?.content)).toContain(page)
        await (person && left(person))
      }
  })

  it('[AG-19] concurrent calls of one agent know the writes of each other', async () => {
    const { at, agent } = await start()
    await agent.call('get_prose', at)
    await Promise.all(Array.from({ length: 6 }, (_, i) => agent.call('set_prose', { ...at, id: 'blk-1', content: `words ${i}` })))
  })
})

it('[AG-5] a write to a shape that a person is moving gets a warning', async () => {
  const { docId, agent, enter } = await start()
  const { pages } = (await agent.call('get_document', { docId })) as unknown as {
    readonly pages: readonly { readonly id: string }[]
  }
  const pageId = pages[0]?.id
  const { id } = await agent.call('add_shape', { docId, pageId, shape: { kind: 'rectangle', x: 0, y: 0, text: 'old' } })
  const person = await enter()
  await person.write(
    person.edit((doc) => {
      const shapes = doc.getMap<object>(`shapes:${String(pageId)}`)
      shapes.set(String(id), { ...shapes.get(String(id)), x: 500 })
    }),
  )
  const rename = (text: string) => agent.call('update_shape', { docId, pageId, id, patch: { text } })
  await agent.call('get_page', { docId, pageId })
  expect((await rename('new'))['warnings']).toContainEqual({ reason: expect.stringContaining('a person moves the shape') })
  expect((await rename('newer'))['warnings'] ?? []).toEqual([])
  await left(person)
})

describe.concurrent('waiting for a change', () => {
  it('[AG-74] [TOOL-wait_for_change] a waiting agent gets news of a person who types, cold and live', async () => {
    const { ann, docId, at, agent, other, enter, rest } = await start()
    await agent.call('get_prose', at)
    const person = await enter()
    const waiting = agent.call('wait_for_change', { docId })
    await type(person, at, 'blk-2', ' typed')
    expect(await waiting).toMatchObject({ edited: true, news: { by: [ann], blocks: 1, ids: ['blk-2'] } })
    expect(await newsOf(agent, 'get_document', { docId })).toBeUndefined()
    await left(person)
    const [quiet, cold] = [agent.call('wait_for_change', { docId, timeoutSecs: 1 }), other.call('wait_for_change', { docId })]
    expect((await quiet)['edited']).toBe(false)
    const document = (await rest.getDocument(docId)) as { readonly richTextPages: readonly { readonly content: string }[] }
    const [page] = document.richTextPages
    await rest.putDocument(docId, { ...document, richTextPages: [{ ...page, content: '<p id="blk-9">new</p>' }] } as never)
    expect(await cold).toMatchObject({ edited: true, news: { by: [ann] } })
  })

  it('[AG-105] a waiting agent hears of what a person typed, in 20 of 20 documents', async () => {
    const heard = Array.from({ length: 20 }, async () => {
      const { docId, at, agent, enter } = await start()
      const person = await enter()
      await agent.call('get_prose', at)
      const waiting = agent.call('wait_for_change', { docId })
      await type(person, at, 'blk-1', ' typed')
      const { edited, news } = await waiting
      await left(person)
      return [edited, (news as { readonly ids?: unknown } | undefined)?.ids]
    })
    expect(await Promise.all(heard)).toEqual(Array.from({ length: 20 }, () => [true, ['blk-1']]))
  })

  it('[AG-105] the next answer to an agent that does not wait has what a person typed, for 20 of 20 changes', async () => {
    const { docId, at, agent, enter } = await start()
    const person = await enter()
    await agent.call('get_prose', at)
    for (let i = 0; i < 20; i++) {
      const id = `blk-${1 + (i % 3)}`
      await type(person, at, id, ` ${i}`)
      expect(await newsOf(agent, 'get_document', { docId })).toMatchObject({ blocks: 1, ids: [id] })
    }
    await left(person)
  })

  it('[AG-75] a waiting call ends when its document is deleted', async () => {
    const { docId, agent, rest } = await start()
    const waiting = agent.refused('wait_for_change', { docId })
    await new Promise((resolve) => setTimeout(resolve, 300))
    await rest.deleteDocument(docId)
    expect(await waiting).toMatchObject({ code: 'ERR_DOC_NOT_FOUND', deleted: true })
  })
})

const LONG = `cat ${'and so on '.repeat(20)}end.`

it.each([
  { what: 'a long block', text: LONG, brief: false },
  { what: 'a short block, by a brief call,', text: 'cat and so on.', brief: true },
])(
  '[AG-19] [AG-43] $what that a person changed unseen does not count as seen when its reader edits another part of it',
  async ({ text, brief }) => {
    const { at, agent, enter } = await start(`<p id="blk-1">${text}</p><p id="blk-2">two</p>`)
    const person = await enter()
    await agent.call('get_prose', at)
    await type(person, at, 'blk-1', ' Typed by a person.')
    await agent.call('edit_text', { ...at, edits: [{ find: 'cat', replace: 'dog' }], ...(brief && { brief }) })
    const content = `<p id="blk-1">${text.replace('cat', 'dog')}</p><p id="blk-2">two</p>`
    const { warnings } = await agent.call('set_prose', { ...at, content, format: 'html', replace: true })
    expect(JSON.stringify(warnings)).toContain('written by somebody after you read it')
    await left(person)
  },
)
