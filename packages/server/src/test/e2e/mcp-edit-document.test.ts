import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SAMPLE_DOCUMENT } from '../../mcp/tools/testing/sample-document.ts'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { saved, until } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

const ANN = { sub: 'ann', role: 'member' }

let relay: SharedRelay
let agent: McpAgent
beforeAll(async () => {
  relay = await sharedRelay()
  agent = await mcpAgent(relay.mcpUrl, relay.token(ANN))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

let documents = 0
async function sample(): Promise<string> {
  const docId = `steps-${++documents}`
  await relay.rest(ANN).putDocument(docId, SAMPLE_DOCUMENT)
  return docId
}
const step = (tool: string, args: object) => ({ tool, arguments: args })

describe('edit_document', () => {
  it('[TOOL-edit_document] [AG-57] steps are one version and one update for others; brief omits their results', async () => {
    const docId = await sample()
    const person = relay.sync(docId, ANN)
    await saved(person)
    let updates = 0
    person.doc.on('update', () => updates++)
    const steps = [
      step('insert_block', { pageId: 'p', id: 'blk-a', content: 'New.' }),
      step('service_set_block', { pageId: 'p', id: '$1.blocks[0].id', level: 2 }),
      step('add_shape', { pageId: 'c', shape: { kind: 'rectangle', x: 900, y: 900 } }),
      step('set_fields', { fields: [{ name: 'x', value: '1' }] }),
    ]
    const answer = await agent.call('edit_document', { docId, steps })
    expect(answer).toMatchObject({
      serverVersion: 2,
      callId: expect.any(String),
      steps: [{ tool: 'insert_block', changed: 1 }, {}, {}, {}],
    })
    await until('the steps', () => person.doc.getXmlFragment('prose:p').toString().includes('New.'))
    expect(updates).toBe(1)
    const brief = await agent.call('edit_document', {
      docId,
      steps: [step('rename_document', { name: 'x' })],
      brief: true,
      dryRun: true,
    })
    expect(brief).toMatchObject({ serverVersion: 2, dryRun: true, steps: [{ tool: 'rename_document', changed: 1 }] })
    expect(brief['steps']).toEqual([{ tool: 'rename_document', changed: 1 }])
    person.destroy()
  })

  it('[AG-53] a diagram step keeps shapes of earlier steps, cold and live, and an undo removes it with them', async () => {
    for (const isLive of [false, true]) {
      const docId = await sample()
      const person = isLive ? relay.sync(docId, ANN) : null
      if (person !== null) await saved(person)
      const before = await agent.call('get_page', { docId, pageId: 'c2' })
      const steps = [
        step('add_shape', { pageId: 'c2', shape: { kind: 'rectangle', x: 900, y: 900, text: 'API' } }),
        step('generate_diagram', {
          pageId: 'c2',
          nodes: [
            { id: 'api', shapeId: '$1.id' },
            { id: 'db', label: 'DB' },
          ],
          edges: [{ from: 'api', to: 'db' }],
        }),
        step('generate_diagram', { pageId: 'c2', nodes: [{ id: 'a' }, { id: 'b' }], near: '$2.nodes.db' }),
        step('connect', { pageId: 'c2', fromId: '$2.nodes.db', toId: '$3.nodes.a' }),
      ]
      const tried = await agent.call('edit_document', { docId, steps, dryRun: true })
      expect(tried).toMatchObject({ serverVersion: 1, dryRun: true, steps: [{}, { changed: 2 }, { changed: 2 }, { changed: 1 }] })
      const answer = await agent.call('edit_document', { docId, steps })
      expect(answer).toMatchObject({ serverVersion: 2, changed: 6 })
      const [made, diagram] = answer['steps'] as unknown as readonly { readonly result: Record<string, Record<string, string>> }[]
      expect(diagram?.result['nodes']).toMatchObject({ api: made?.result['id'] })
      const { lint } = (await agent.call('get_page', { docId, pageId: 'c2', lint: true })) as { readonly lint?: unknown }
      expect(lint).toEqual([])
      await agent.call('undo', { docId, last: 1 })
      expect((await agent.call('get_page', { docId, pageId: 'c2' }))['shapes']).toEqual(before['shapes'])
      person?.destroy()
    }
  })

  it('[AG-53] [AG-55] a diagram step with a bad reference, or a shape removed by an earlier step, fails like its own tool', async () => {
    const docId = await sample()
    const diagram = (more: object) => step('generate_diagram', { pageId: 'c', nodes: [{ id: 'a' }], ...more })
    const fine = step('delete_block', { pageId: 'p', id: 'blk-a' })
    expect(await agent.refused('edit_document', { docId, steps: [fine, diagram({ near: '$1.nowhere' })] })).toMatchObject({
      code: 'ERR_STEP_REF',
      step: 2,
    })
    const gone = [step('delete_shape', { pageId: 'c', id: 's3' }), diagram({ nodes: [{ id: 'a', shapeId: 's3' }] })]
    expect(await agent.refused('edit_document', { docId, steps: gone })).toMatchObject({ code: 'ERR_SHAPE_NOT_FOUND', step: 2 })
    expect(await agent.call('get_document', { docId })).toMatchObject({ serverVersion: 1 })
  })

  it('[AG-56] a later step may name a shape that an earlier step changed by the stamp from get_page', async () => {
    const docId = await sample()
    const { shapes } = (await agent.call('get_page', { docId, pageId: 'c' })) as unknown as {
      readonly shapes: readonly { readonly id: string; readonly stamp: string }[]
    }
    const name = `s1#${shapes.find(({ id }) => id === 's1')?.stamp}`
    const steps = [
      step('update_shape', { pageId: 'c', id: name, patch: { text: 'API' } }),
      step('connect', { pageId: 'c', fromId: name, toId: 's2' }),
      step('generate_diagram', { pageId: 'c', nodes: [{ id: 'a' }], near: name }),
    ]
    expect(await agent.call('edit_document', { docId, steps })).toMatchObject({ steps: [{ changed: 1 }, {}, {}] })
  })

  it('[AG-53] a step with an unknown icon warns as its tool does', async () => {
    const docId = await sample()
    const shape = { kind: 'rectangle', x: 0, y: 900, iconId: 'builtin:databse' }
    expect(await agent.call('edit_document', { docId, steps: [step('add_shape', { pageId: 'c', shape })] })).toMatchObject({
      warnings: [{ step: 1, nearest: expect.arrayContaining(['builtin:database']) as unknown }],
    })
  })

  it('[AG-54] arguments of all steps are checked by the schemas of their tools before any step runs', async () => {
    const docId = await sample()
    const refused = (...steps: readonly object[]) => agent.refused('edit_document', { docId, steps })
    const fine = step('delete_block', { pageId: 'p', id: 'blk-a' })
    expect(await refused(fine, step('delete_block', { id: 'blk-b' }))).toMatchObject({
      code: 'ERR_BAD_ARGUMENT',
      argument: 'pageId',
      step: 2,
    })
    expect(await refused(fine, step('delete_block', { pageId: 'p', id: 'blk-b', docId: 'other' }))).toMatchObject({
      argument: 'docId',
      step: 2,
    })
    for (const [name, value] of Object.entries({ expectedVersion: 1, dryRun: true, requestId: 'r', brief: true }))
      expect(await refused(fine, step('insert_block', { pageId: 'p', id: 'blk-b', content: 'x', [name]: value }))).toMatchObject({
        code: 'ERR_BAD_ARGUMENT',
        argument: name,
        step: 2,
      })
    for (const tool of ['create_document', 'delete_document', 'add_file', 'edit_document', 'get_prose', 'nothing'])
      expect(await refused(fine, step(tool, {}))).toMatchObject({ code: 'ERR_STEP_TOOL', step: 2, tool })
    expect(await refused(fine, step('add_reference', { doi: '10.1/x' }))).toMatchObject({ code: 'ERR_STEP_TOOL', step: 2 })
    const part = await mcpAgent(relay.mcpUrl, relay.token(ANN), '?toolsets=author,read')
    expect(await part.refused('edit_document', { docId, steps: [fine] })).toMatchObject({
      code: 'ERR_TOOL_DISABLED',
      toolset: 'prose',
      step: 1,
    })
    expect(await agent.call('get_document', { docId })).toMatchObject({ serverVersion: 1 })
    expect(
      await agent.call('edit_document', { docId, steps: [step('delete_block', { docId, pageId: 'p', id: 'blk-a' })] }),
    ).toMatchObject({ changed: 1 })
  })
})
