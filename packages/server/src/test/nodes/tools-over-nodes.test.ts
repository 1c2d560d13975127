import { TAG } from '@docrelay/protocol/frames'
import { afterAll, describe, expect, it } from 'vitest'
import { patience } from '../../kernel/testing/patience.ts'
import { mcpAgent } from '../mcp-agent.ts'
import { type RelayUnderTest, saved, until } from '../relay-under-test.ts'
import { openWire } from '../wire-client.ts'
import { type NodesUnderTest, startNodesUnderTest } from './nodes-under-test.ts'

const nodes = await startNodesUnderTest({ count: 2, mcp: 'public' })
if (typeof nodes === 'string') process.stderr.write(`skipped: ${nodes}\n`)

describe.skipIf(typeof nodes === 'string')('one relay of two nodes', () => {
  const [a, b] = (nodes as NodesUnderTest).relays as [RelayUnderTest, RelayUnderTest]
  const agentAt = (relay: RelayUnderTest) => mcpAgent(relay.mcpUrl, relay.token({ sub: 'ann', role: 'member' }))
  const create = (id: string, more: object = {}) => a.rest({ sub: 'ann' }).putDocument(id, { name: id, ...more })

  afterAll(() => (nodes as NodesUnderTest)[Symbol.asyncDispose](), patience(20_000))

  it('[AG-69] [AG-71] a call that one node made is undone through the other, in a document that is live', async () => {
    await create('undo')
    const person = a.sync('undo', { sub: 'ann', role: 'member' })
    await saved(person)
    const { callId } = await (await agentAt(b)).call('rename_document', { docId: 'undo', name: 'Renamed' })
    expect(await a.rest({ sub: 'ann' }).getDocument('undo')).toMatchObject({ name: 'Renamed' })
    expect(await (await agentAt(a)).call('undo', { docId: 'undo', callId })).toMatchObject({ undone: [callId] })
    expect(await b.rest({ sub: 'ann' }).getDocument('undo')).toMatchObject({ name: 'undo' })
  })

  it('[AG-63] an agent of one node finds words that were written through the other', async () => {
    await create('words', { richTextPages: [{ id: 'p', name: 'P', content: '<p>a mulberry tree</p>' }] })
    const agent = await agentAt(b)
    await until('the words to be found', async () => {
      const { hits } = (await agent.call('search', { query: 'mulberry' })) as { readonly hits: readonly unknown[] }
      return hits.length > 0
    })
  })

  it('[WS-61] a document has one lineage on both nodes', async () => {
    await create('lineage')
    const lineages: unknown[] = []
    for (const relay of [a, b]) {
      const client = await openWire(relay)
      client.auth(relay.token({ sub: 'ann', role: 'member' }), ['ack', 'joined'])
      client.join('lineage')
      lineages.push((await client.nextJson(TAG.joined))['lineage'])
    }
    expect(lineages[0]).toEqual(expect.any(String))
    expect(lineages[1]).toBe(lineages[0])
  })
})
