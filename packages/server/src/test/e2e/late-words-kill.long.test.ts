import type { SyncClient } from '@docrelay/client/sync/sync-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { storesUnderTest } from '../stores-under-test.ts'
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts'

type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>]

const WORDS = '§words§'
const CONTENT =
  '<h1 id="h1">First</h1><p id="p1">one</p><p id="p2">two</p><ul><li><p id="i1">item</p></li><li><p id="i2">other</p></li></ul>'
const page = { pageId: 'p' }
const heading: Call = ['set_block', { ...page, id: 'p1', type: 'heading', level: 2 }]

/** The calls of an agent on the block in which a person types, before and after the kill. */
interface Story {
  readonly what: string
  readonly block: string
  readonly calls: readonly Call[]
  readonly later?: readonly Call[]
}

const ONE_CALL: Story = { what: 'a block that becomes a heading', block: 'p1', calls: [heading] }

const STORIES: readonly Story[] = [
  ONE_CALL,
  {
    what: 'a block whose text is replaced',
    block: 'p2',
    calls: [['set_prose', { ...page, id: 'p1', untilId: 'p2', content: '> New.' }]],
  },
  { what: 'a page that is replaced', block: 'i2', calls: [['set_prose', { ...page, content: 'All new.', replace: true }]] },
  { what: 'a block that is deleted', block: 'p1', calls: [['delete_block', { ...page, id: 'p1' }]] },
  {
    what: 'a block that is replaced twice',
    block: 'p1',
    calls: [heading, ['set_prose', { ...page, id: 'p1', content: '> Quoted.' }]],
  },
  {
    what: 'a block that is replaced before the kill and again after it',
    block: 'p1',
    calls: [heading],
    later: [['set_prose', { ...page, id: 'p1', content: '> Quoted.' }]],
  },
  {
    what: 'a block that moves to another page',
    block: 'p1',
    calls: [['move_block', { ...page, id: 'p1', toPageId: 'q', targetId: 'q1' }]],
  },
  { what: 'a block that an undo changes back', block: 'p1', calls: [heading, ['undo', { last: 1 }]] },
]

const stores = await storesUnderTest()

describe.each(stores)('words typed into a block that an agent has just replaced, on $name', ({ env, remove }) => {
  const settings = { RELAY_WRITES_PER_SEC: '0', RELAY_READS_PER_SEC: '0', ...env }
  let relay: RelayUnderTest
  const proxies = new AsyncDisposableStack()
  beforeAll(async () => {
    relay = await startRelayUnderTest({ mcp: 'local', env: settings })
  })
  afterAll(async () => {
    await proxies.disposeAsync()
    await relay?.[Symbol.asyncDispose]()
    await remove()
  })

  /** Each group of typists has its own proxy to the relay. */
  async function newProxy(): Promise<TcpProxy> {
    const { hostname, port } = new URL(relay.baseUrl)
    return proxies.use(await startTcpProxy({ host: hostname, port: Number(port) }))
  }

  let documents = 0
  async function desk(proxy: TcpProxy, story: Story) {
    const docId = `kill-${++documents}`
    const pages = [
      { id: 'p', name: 'P', content: CONTENT },
      { id: 'q', name: 'Q', content: '<p id="q1">elsewhere</p>' },
    ]
    await relay.rest({ sub: 'agent' }).putDocument(docId, { name: 'Late', pages: [], richTextPages: pages })
    const typist = relay.sync(docId, { sub: 'ann' }, { url: relay.wsUrl.replace(/:\d+\//, `:${proxy.port}/`) })
    const reader = relay.sync(docId, { sub: 'ben' })
    await saved(typist, reader)
    return { story, docId, typist, reader }
  }
  type Desk = Awaited<ReturnType<typeof desk>>

  const agent = () => mcpAgent(relay.mcpUrl, relay.token({ sub: 'agent', role: 'owner' }))
  async function perform({ call }: McpAgent, { docId }: Desk, calls: readonly Call[]): Promise<void> {
    for (const [tool, args] of calls) expect(await call(tool, { docId, ...args })).not.toMatchObject({ changed: 0 })
  }

  /** Checks that the words are once in both editors and once in REST. */
  async function expectWords(at: Desk | undefined): Promise<void> {
    if (at === undefined) throw new Error('its documents were not made')
    const { docId, typist, reader } = at
    for (const client of [typist, reader]) client.retryNow()
    await saved(typist, reader)
    await until('the reader to have the words', () => nodesOf(reader).includes(WORDS))
    await until('both editors to agree', () => nodesOf(typist) === nodesOf(reader))
    expect(nodesOf(reader).split(WORDS)).toHaveLength(2)
    const { richTextPages } = (await relay.rest({ sub: 'agent' }).getDocument(docId)) as {
      readonly richTextPages: readonly { readonly content: string }[]
    }
    const contents = richTextPages.map(({ content }) => content).join('')
    expect(contents.split(WORDS)).toHaveLength(2)
    typist.destroy()
    reader.destroy()
  }

  // All these documents share one kill and one restart of the relay, the slowest part of the test.
  describe('around a kill', () => {
    let held: readonly Desk[] = []
    let cutOff: readonly Desk[] = []
    let unheard: Desk | undefined
    let seenUnheard = ''
    beforeAll(async () => {
      const [holding, down, silent] = [await newProxy(), await newProxy(), await newProxy()]
      const first = await agent()
      held = await Promise.all(STORIES.map((story) => desk(holding, story)))
      cutOff = await Promise.all(STORIES.slice(0, 2).map((story) => desk(down, story)))
      unheard = await desk(silent, ONE_CALL)
      const all = [...held, ...cutOff, unheard]
      holding.hold()
      await down.down()
      silent.silent()
      all.forEach(type)
      await Promise.all(all.map((at) => perform(first, at, at.story.calls)))
      await until('the typists to see what the agent did', () => !held.some(({ typist }) => nodesOf(typist).includes(WORDS)))
      seenUnheard = nodesOf(unheard.typist)
      await relay.kill()
      // The typists reconnect after the last call. Words that had arrived before a call would be replaced by it, and would not be late.
      await holding.down()
      await relay.restart(settings)
      const second = await agent()
      await Promise.all(held.map((at) => perform(second, at, at.story.later ?? [])))
      await Promise.all([holding.up(), down.up(), silent.up()])
    })

    it.each(numbered(STORIES))(
      '[AG-98] [AG-110] late words return when the relay is killed while their frame is under way, in $what',
      async ({ i }) => expectWords(held[i]),
    )

    it.each(numbered(STORIES.slice(0, 2)))(
      '[AG-98] [AG-110] late words return when they are typed without a connection around a kill of the relay, in $what',
      async ({ i }) => expectWords(cutOff[i]),
    )

    it('[AG-98] [AG-110] late words return when the relay is killed after the commit of a call, before the typist hears of it', async () => {
      expect(seenUnheard).toContain(WORDS)
      await expectWords(unheard)
    })
  })

  it('[AG-110] late words return when they are typed without a connection around an orderly restart', async () => {
    const proxy = await newProxy()
    const at = await desk(proxy, ONE_CALL)
    await proxy.down()
    type(at)
    await perform(await agent(), at, at.story.calls)
    expect(await relay.stop()).toBe(0)
    await relay.restart(settings)
    await proxy.up()
    await expectWords(at)
  })
})

function numbered(stories: readonly Story[]): readonly (Story & { readonly i: number })[] {
  return stories.map((story, i) => ({ ...story, i }))
}

function nodesOf({ doc }: SyncClient): string {
  return ['p', 'q'].map((id) => doc.getXmlFragment(`prose:${id}`).toString()).join('')
}

function type({ typist, story: { block } }: { readonly typist: SyncClient; readonly story: Story }): void {
  const [text] = blockOf(typist.doc.getXmlFragment('prose:p'), block)?.toArray() ?? []
  if (!(text instanceof Y.XmlText)) throw new Error(`no text in ${block}`)
  text.insert(text.length, ` ${WORDS}`)
}

function blockOf(node: Y.XmlFragment, id: string): Y.XmlElement | undefined {
  for (const child of node.toArray()) {
    if (!(child instanceof Y.XmlElement)) continue
    const found = child.getAttribute('id') === id ? child : blockOf(child, id)
    if (found !== undefined) return found
  }
  return undefined
}
