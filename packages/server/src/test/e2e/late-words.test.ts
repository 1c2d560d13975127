import type { SyncClient } from '@docrelay/client/sync/sync-client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts'

type Members = Readonly<Record<string, unknown>>

let relay: RelayUnderTest
let agent: McpAgent
/** The proxy between a typist and the relay. */
let proxy: TcpProxy

beforeAll(async () => {
  const env = { RELAY_WRITES_PER_SEC: '0', RELAY_READS_PER_SEC: '0' }
  relay = await startRelayUnderTest({ mcp: 'local', env })
  agent = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'agent', role: 'owner' }))
  const { hostname, port } = new URL(relay.baseUrl)
  proxy = await startTcpProxy({ host: hostname, port: Number(port) })
})
// A failed test must not keep frames held for the next one.
afterEach(() => proxy?.release())
afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]()
  await relay?.[Symbol.asyncDispose]()
})

const CONTENT = [
  '<h1 id="h1">First</h1><p id="p1">one</p><p id="p2">two</p><h1 id="h2">Second</h1><p id="p3">three</p>',
  '<ul><li><p id="i1">item</p></li><li><p id="i2">other</p></li></ul>',
  '<table><tr><td><p id="c1">left</p></td><td><p id="c2">right</p></td></tr><tr><td colspan="2"><p id="c3">wide</p></td></tr></table>',
].join('')
const WORDS = ' §words§'

let documents = 0
interface Desk {
  readonly docId: string
  /** A client that types through the proxy. */
  readonly typist: SyncClient
  readonly reader: SyncClient
}

async function desk(): Promise<Desk> {
  const docId = `late-${++documents}`
  const richTextPages = [{ id: 'p', name: 'P', content: CONTENT }]
  await relay.rest({ sub: 'agent' }).putDocument(docId, { name: 'Late', pages: [], richTextPages })
  const url = relay.wsUrl.replace(/:\d+\//, `:${proxy.port}/`)
  const typist = relay.sync(docId, { sub: 'ann' }, { url })
  const reader = relay.sync(docId, { sub: 'ben' })
  await saved(typist, reader)
  return { docId, typist, reader }
}

function blockOf(node: Y.XmlFragment, id: string): Y.XmlElement | undefined {
  for (const child of node.toArray()) {
    if (!(child instanceof Y.XmlElement)) continue
    const found = child.getAttribute('id') === id ? child : blockOf(child, id)
    if (found !== undefined) return found
  }
  return undefined
}

function type({ typist }: Desk, block: string): void {
  const [text] = blockOf(typist.doc.getXmlFragment('prose:p'), block)?.toArray() ?? []
  if (!(text instanceof Y.XmlText)) throw new Error(`no text in ${block}`)
  text.insert(text.length, WORDS)
}

const nodesOf = ({ doc }: SyncClient) => doc.getXmlFragment('prose:p').toString()

/** Checks that the words are once in every view of the document. */
async function expectWords({ docId, typist, reader }: Desk): Promise<void> {
  await saved(typist)
  await until('both editors to have the words', () => [typist, reader].every((one) => nodesOf(one).includes(WORDS.trim())))
  await until('both editors to agree', () => nodesOf(typist) === nodesOf(reader))
  expect(nodesOf(reader).split(WORDS.trim())).toHaveLength(2)
  const { richTextPages } = (await relay.rest({ sub: 'agent' }).getDocument(docId)) as {
    readonly richTextPages: readonly { readonly content: string }[]
  }
  expect(richTextPages[0]?.content.split(WORDS.trim())).toHaveLength(2)
  typist.destroy()
  reader.destroy()
}

const page = { pageId: 'p' }
const insert = { tool: 'insert_block', arguments: { ...page, id: 'p2', content: 'New.' } }

type Call = readonly [tool: string, args: Members]
/** A call, the block in which a person types meanwhile, and earlier calls. */
type Case = readonly [tool: string, args: Members, block: string, before?: readonly Call[]]
const merge: Call = ['edit_table', { ...page, tableIndex: 0, op: 'mergeCells', fromRow: 0, fromCol: 0, toRow: 0, toCol: 1 }]
const heading = (id: string): Call => ['set_block', { ...page, id, type: 'heading', level: 2 }]

const CASES: readonly Case[] = [
  ['set_prose', { ...page, id: 'p1', content: '## one' }, 'p1'],
  ['set_prose', { ...page, id: 'p1', untilId: 'p2', content: '> All new.' }, 'p2'],
  ['set_prose', { ...page, content: 'All new.', replace: true }, 'p3'],
  ['set_prose', { ...page, content: 'All new.', replace: true }, 'i2'],
  [...heading('p1'), 'p1'],
  ['set_block', { ...page, id: 'p2', type: 'codeBlock' }, 'p2'],
  ['move_block', { ...page, id: 'p1', targetId: 'p3' }, 'p1'],
  ['move_block', { ...page, id: 'i2', targetId: 'i1', side: 'before' }, 'i2'],
  ['restructure_outline', { ...page, op: 'move', index: 0, toIndex: 1 }, 'p2'],
  ['restructure_outline', { ...page, op: 'demote', index: 1 }, 'h2'],
  ['delete_block', { ...page, id: 'p1' }, 'p1'],
  ['delete_block', { ...page, id: 'p1', untilId: 'p2' }, 'p2'],
  ['delete_section', { ...page, id: 'h2' }, 'p3'],
  ['delete_section', { ...page, id: 'h1' }, 'h1'],
  [...merge, 'c2'],
  [...merge, 'c1'],
  ['edit_table', { ...page, tableIndex: 0, op: 'splitCell', row: 1, col: 0 }, 'c3'],
  ['edit_table', { ...page, tableIndex: 0, op: 'deleteColumn', col: 0 }, 'c1'],
  ['edit_document', { steps: [insert, { tool: 'delete_block', arguments: { ...page, id: 'p2' } }] }, 'p2'],
  [
    'edit_document',
    { steps: [{ tool: 'set_block', arguments: { ...page, id: 'p1', type: 'heading', level: 3 } }, insert] },
    'p1',
  ],
  ['undo', { last: 1 }, 'p1', [heading('p1')]],
  ['undo', { last: 1 }, 'c1', [merge]],
  ['undo', { last: 1 }, 'p2', [['delete_block', { ...page, id: 'p1' }]]],
  ['undo', { last: 2 }, 'p3', [heading('p3'), ['move_block', { ...page, id: 'p3', targetId: 'h1' }]]],
]

const cases = CASES.map(([tool, args, block, before = []]) => ({ tool, args, given: JSON.stringify(args), block, before }))

describe('a person whose frame is held until a call has committed', () => {
  it.each(cases)(
    '[AG-110] $tool $given keeps words typed in $block, in the live document and in REST',
    async ({ tool, args, block, before }) => {
      const at = await desk()
      for (const [earlier, given] of before) await agent.call(earlier, { docId: at.docId, ...given })
      await until('the typist to see what was done before', () => nodesOf(at.typist) === nodesOf(at.reader))
      proxy.hold()
      type(at, block)
      expect(await agent.call(tool, { docId: at.docId, ...args })).not.toMatchObject({ changed: 0 })
      expect(nodesOf(at.reader)).not.toContain(WORDS.trim())
      proxy.release()
      await expectWords(at)
    },
  )

  it('[AG-110] an undo over REST keeps words typed in a block that it changes back or removes', async () => {
    for (const [block, tool, args] of [
      ['p1', 'set_block', { ...page, id: 'p1', type: 'heading', level: 2 }],
      ['', 'insert_block', { ...page, id: 'p1', content: 'Made by the agent.' }],
    ] as const) {
      const at = await desk()
      const done = await agent.call(tool, { docId: at.docId, ...args })
      const made = (done['blocks'] as readonly { readonly id: string }[])[0]?.id.replace(/#.*$/, '') ?? ''
      const where = block === '' ? made : block
      await until(
        'the typist to see the call',
        () => nodesOf(at.typist) === nodesOf(at.reader) && nodesOf(at.typist).includes(where),
      )
      proxy.hold()
      type(at, where)
      const undone = await relay.fetch(`/api/v1/docs/${at.docId}/calls/${String(done['callId'])}/undo`, {
        method: 'POST',
        headers: { authorization: `Bearer ${relay.token({ sub: 'agent', role: 'owner' })}`, 'content-type': 'application/json' },
        body: '{}',
      })
      expect(undone.status).toBe(200)
      proxy.release()
      await expectWords(at)
    }
  })
})
