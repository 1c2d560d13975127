import { describe, expect, it } from 'vitest'
import { patience } from '../../kernel/testing/patience.ts'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { mcpSession } from '../mcp-session.ts'
import { rawHttp } from '../raw-http.ts'
import { type RelayUnderTest, until } from '../relay-under-test.ts'
import { openWire, type WireClient } from '../wire-client.ts'
import { type } from '../wire-typing.ts'
import { linked } from './nodes-under-test.ts'
import { onNodes } from './on-nodes.ts'
import { sharedNodes } from './shared-nodes.ts'

const ANN = { sub: 'ann', role: 'owner' }
const CONTENT = '<p id="blk-1">one</p><p id="blk-2">two</p><p id="blk-3">three</p>'
const page = { pageId: 'p' }

onNodes(await sharedNodes(), ({ relays }) =>
  describe('tools and REST at one node of two', () => {
    const [a, b] = relays
    let documents = 0

    /** Puts a document with a page of three paragraphs, which nobody has open. */
    async function created(): Promise<string> {
      const docId = `doc-${++documents}`
      await a.rest(ANN).putDocument(docId, { name: docId, richTextPages: [{ id: 'p', name: 'P', content: CONTENT }] })
      return docId
    }
    const enter = async (relay: RelayUnderTest, docId: string, sub = 'ann'): Promise<WireClient> =>
      (await openWire(relay)).enter(relay.token({ ...ANN, sub }), docId, ['ack'])
    /** Puts a document that this node owns, because somebody opened it there first. Ann has it open at node A. */
    async function opened(owner: 'a' | 'b'): Promise<{ readonly docId: string; readonly ann: WireClient }> {
      const docId = await created()
      if (owner === 'b') await enter(b, docId, 'first')
      return { docId, ann: await enter(a, docId) }
    }
    /** Returns an agent of a new person. */
    const agentAt = (relay: RelayUnderTest, sub = `agent-${++documents}`): Promise<McpAgent> =>
      mcpAgent(relay.mcpUrl, relay.token({ ...ANN, sub }))
    const htmlAt = async (relay: RelayUnderTest, docId: string): Promise<string> => {
      const { richTextPages } = (await relay.rest(ANN).getDocument(docId)) as {
        readonly richTextPages: { readonly content: string }[]
      }
      return richTextPages[0]?.content ?? ''
    }
    const REWRITTEN = { content: '<p id="blk-1">new one</p><p id="blk-2">new two</p><p id="blk-3">three</p>', format: 'html' }

    describe.each(['a', 'b'] as const)('undo of a document that node %s owns', (owner) => {
      it('[AG-69] [AG-70] [AG-71] a tool at one node undoes a call and keeps what a person typed at the other node since', async () => {
        const { docId, ann } = await opened(owner)
        const agent = await agentAt(b)
        const { callId } = await agent.call('set_prose', { docId, ...page, ...REWRITTEN })
        await until('the words of the call to be here', () => ann.doc.getXmlFragment('prose:p').toString().includes('new two'))
        await type(ann, page, 'blk-2', ' and Ann')
        const told = await agent.call('undo', { docId, callId })
        expect(told).toMatchObject({ undone: [callId], kept: [{ id: 'blk-2', text: 'new two and Ann' }] })
        const html = await htmlAt(a, docId)
        expect(html).toMatch(/one<.*new two and Ann<.*three</)
        expect(html).not.toContain('new one')
        expect(await htmlAt(b, docId)).toBe(html)
      })

      it('[AG-68] a session finds its own last call also after it changed the node and another session wrote', async () => {
        const { docId } = await opened(owner)
        const bearer = a.token({ ...ANN, sub: `sessions-${++documents}` })
        let at = a
        const [first, second] = [
          await mcpSession(() => at.mcpUrl, bearer, 'Client'),
          await mcpSession(a.mcpUrl, bearer, 'Client'),
        ]
        const { callId } = await first('set_prose', { docId, ...page, id: 'blk-1', content: 'first' })
        await second('set_prose', { docId, ...page, id: 'blk-2', content: 'second' })
        at = b
        expect(await first('undo', { docId, last: 1 })).toMatchObject({ undone: [callId] })
        expect(await htmlAt(b, docId)).toMatch(/one<.*second<.*three</)
      })

      it('[AG-72] [AG-73] REST at one node undoes a call of the other, lists it there, and repeats its answer at the other', async () => {
        const { docId, ann } = await opened(owner)
        const { callId } = await (await agentAt(a)).call('set_prose', { docId, ...page, id: 'blk-1', content: 'New.' })
        await type(ann, page, 'blk-3', ' and Ann')
        const callAt = (relay: RelayUnderTest) => rawHttp(relay, { as: { ...ANN, sub: 'ben' } })
        const path = `/api/v1/docs/${docId}/calls`
        const undone = await callAt(b)('POST', `${path}/${String(callId)}/undo`, { body: {} })
        expect([undone.status, undone.json]).toMatchObject([200, { changed: 1, kept: [] }])
        expect(await htmlAt(a, docId)).toMatch(/one<.*three and Ann</)
        expect((await callAt(a)('POST', `${path}/${String(callId)}/undo`, { body: {} })).json).toEqual(undone.json)
        const lists = [await callAt(a)('GET', path), await callAt(b)('GET', path)]
        expect(lists[0]?.json['calls']).toMatchObject([
          { callId: undone.json['callId'], tool: 'undo', by: 'ben' },
          { callId, tool: 'set_prose', undoable: false, undoneBy: undone.json['callId'] },
        ])
        expect(lists[1]?.json).toEqual(lists[0]?.json)
      })
    })

    describe.concurrent.each(['a', 'b'] as const)('news of a document that node %s owns', (owner) => {
      it('[AG-20] [AG-22] an agent at node B gets news once about who typed where at node A', async () => {
        const { docId, ann } = await opened(owner)
        const agent = await agentAt(b)
        await agent.call('get_prose', { docId, ...page })
        await type(ann, page, 'blk-2', ' and Ann')
        const news = { by: ['ann'], blocks: 1, ids: ['blk-2'], pages: ['p'] }
        expect((await agent.call('get_document', { docId }))['news']).toMatchObject(news)
        expect((await agent.call('get_document', { docId }))['news']).toBeUndefined()
      })

      it('[AG-20] [AG-74] own writes through node B are no news to an agent, and end none of its waits', async () => {
        const { docId } = await opened(owner)
        const agent = await agentAt(b)
        await agent.call('get_prose', { docId, ...page })
        for (let i = 0; i < 3; i++) await agent.call('set_prose', { docId, ...page, id: 'blk-1', content: `mine ${i}` })
        expect(await agent.call('wait_for_change', { docId, timeoutSecs: 3 })).toMatchObject({ edited: false })
        expect((await agent.call('get_document', { docId }))['news']).toBeUndefined()
      })

      it('[AG-22] [AG-23] an agent at node B gets news once of a change by an agent of node A, also while it waits', async () => {
        const { docId } = await opened(owner)
        const [agent, waiter, other] = [await agentAt(b), await agentAt(b), await agentAt(a)]
        const { serverVersion } = await agent.call('get_prose', { docId, ...page })
        await waiter.call('get_prose', { docId, ...page })
        const waiting = waiter.call('wait_for_change', { docId, agents: true, timeoutSecs: 50 })
        await other.call('set_prose', { docId, ...page, id: 'blk-1', content: 'of another' })
        expect((await agent.call('get_document', { docId }))['news']).toMatchObject({ since: serverVersion })
        expect((await agent.call('get_document', { docId }))['news']).toBeUndefined()
        expect(await waiting).toMatchObject({ edited: true, news: { since: serverVersion } })
      })

      it('[AG-23] [AG-28] an agent of node B does not overwrite a block that a person changed at node A unseen', async () => {
        const { docId, ann } = await opened(owner)
        const agent = await agentAt(b)
        await agent.call('get_prose', { docId, ...page })
        await type(ann, page, 'blk-2', ' and Ann')
        const refused = await agent.refused('set_prose', { docId, ...page, id: 'blk-2', content: 'mine' })
        expect(refused).toMatchObject({
          code: 'ERR_BLOCK_CHANGED',
          current: { content: 'two and Ann' },
          changedBy: { kind: 'person' },
        })
      })
    })

    describe.concurrent.each(['a', 'b', 'nobody'] as const)(
      'waiting at node B for a change of a document that %s owns',
      (owner) => {
        it('[AG-74] [AG-75] an agent gets the change that a person made through node A', async () => {
          const live = owner === 'nobody' ? null : await opened(owner)
          const docId = live?.docId ?? (await created())
          const agent = await agentAt(b)
          await agent.call('get_prose', { docId, ...page })
          const waiting = agent.call('wait_for_change', { docId, timeoutSecs: 50 })
          if (live !== null) await type(live.ann, page, 'blk-2', ' and Ann')
          else {
            const document = await a.rest(ANN).getDocument(docId)
            await a.rest(ANN).putDocument(docId, { ...document, name: 'Renamed' } as never)
          }
          expect(await waiting).toMatchObject({ edited: true, news: { by: ['ann'] } })
        })
      },
    )

    it('[AG-76] [MCP-15] calls waiting at node B end and free their places when their session cancels them at node A', async () => {
      const { docId } = await opened('a')
      await htmlAt(a, docId)
      const headers: Record<string, string> = {
        authorization: `Bearer ${b.token({ ...ANN, sub: 'waits' })}`,
        'content-type': 'application/json',
      }
      const post = (relay: RelayUnderTest, message: object) =>
        fetch(relay.mcpUrl, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) })
      const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'client', version: '1' } }
      const { headers: opening } = await post(a, { id: 'begin', method: 'initialize', params })
      headers['mcp-session-id'] = opening.get('mcp-session-id') ?? ''
      const wait = (id: number, timeoutSecs: number) =>
        post(b, { id, method: 'tools/call', params: { name: 'service_wait_for_change', arguments: { docId, timeoutSecs } } })
      let asked = 100
      // An update written at the opening of the document may reach this node late.
      const isQuiet = async () => (await (await wait(++asked, 1)).text()).includes('"edited":false')
      await until('nothing to change the document any more', isQuiet)
      const isFull = async () => (await (await wait(++asked, 1)).text()).includes('ERR_STREAM_LIMIT')
      // More calls than there are places, because a call that only looks may take one.
      const waits = Array.from({ length: 20 }, (_, id) => wait(id, 50))
      await until('all places to be taken', isFull)
      await Promise.all(waits.map((_, requestId) => post(a, { method: 'notifications/cancelled', params: { requestId } })))
      const answers = await Promise.all((await Promise.all(waits)).map((answer) => answer.text()))
      expect(answers.filter((answer) => answer.includes('edited'))).toEqual([])
      expect(await isFull()).toBe(false)
    })

    it('[AG-63] [AG-65] a search at node B finds what a person has typed at node A', async () => {
      const { docId, ann } = await opened('a')
      const agent = await agentAt(b)
      const found = async (args: object): Promise<boolean> => {
        const { hits } = (await agent.call('search', { query: 'mulberry', ...args })) as { readonly hits: { docId: string }[] }
        return hits.some((hit) => hit.docId === docId)
      }
      await type(ann, page, 'blk-2', ' mulberry')
      await until('the words to be found in the document', () => found({ docId }))
      await until('the words to be found in the workspace', () => found({}))
      const { json } = await rawHttp(b, { as: ANN })('GET', '/api/v1/search?q=mulberry')
      expect(json['hits']).toMatchObject([{ docId, id: 'blk-2' }])
    })

    it(
      '[AG-23] [AG-28] words typed at a killed node count as a person’s at the node that takes the document over',
      async () => {
        const docId = await created()
        const agent = await agentAt(b)
        await agent.call('get_prose', { docId, ...page })
        const ann = await enter(a, docId)
        await type(ann, page, 'blk-2', ' and Ann')
        await a.kill()
        const write = () => agent.answer('set_prose', { docId, ...page, id: 'blk-2', content: 'mine' })
        let answer = await write()
        await until('the document to be taken over', async () => {
          if (answer.result['retryable'] !== true) return true
          answer = await write()
          return false
        })
        expect(answer.result).toMatchObject({ code: 'ERR_BLOCK_CHANGED', current: { content: 'two and Ann' } })
        await a.restart()
        await linked(relays)
      },
      patience(60_000),
    )
  }),
)
