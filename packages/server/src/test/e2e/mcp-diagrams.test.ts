import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SAMPLE_DOCUMENT } from '../../mcp/tools/testing/sample-document.ts'
import { drag, seenBy } from '../dragging-person.ts'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { until } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'
import { openWire, type WireClient } from '../wire-client.ts'

type Members = Readonly<Record<string, unknown>>

const ANN = { sub: 'ann', role: 'member' }

let relay: SharedRelay
let agent: McpAgent
beforeAll(async () => {
  relay = await sharedRelay()
  agent = await mcpAgent(relay.mcpUrl, relay.token(ANN))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const [canvas, ...others] = SAMPLE_DOCUMENT.pages
/** The person's shape, with a member that only the person's editor knows. */
const MINE = { id: 'mine', type: 'rectangle', x: -4000, y: 0, width: 100, height: 80, label: 'Mine', halo: { of: ['light'] } }
const DOCUMENT = { ...SAMPLE_DOCUMENT, pages: [{ ...canvas, shapes: [...canvas.shapes, MINE] }, ...others] }

async function opened(docId: string): Promise<WireClient> {
  await relay.rest(ANN).putDocument(docId, DOCUMENT)
  return (await openWire(relay)).enter(relay.token(ANN), docId, ['ack'])
}

/** Returns the person's shape after so many steps of the drag. */
const mineAt = (steps: number): Members => ({ ...MINE, x: -4000 - steps, y: steps % 7 })

const on = { pageId: 'c' }
const EDGES = [
  { from: 'a', to: 'b' },
  { from: 'b', to: 'c', label: 'then' },
]
const CALLS: readonly Members[] = [
  { ...on, nodes: [{ id: 'a' }, { id: 'b' }, { id: 'c' }], edges: EDGES },
  { ...on, nodes: [{ id: 'a', shapeId: 's1' }, { id: 'b', at: { x: 900, y: 100 } }, { id: 'c' }], edges: EDGES },
  { ...on, nodes: [{ id: 'a' }, { id: 'b' }, { id: 'c' }], edges: EDGES, near: 's3' },
]

describe('a diagram beside a person who draws', () => {
  it('[TOOL-generate_diagram] [AG-106] [AG-107] [AG-108] [CONC-8] generating a diagram keeps the edits of a person who drags, and moves no shape', async () => {
    const docId = 'dragged'
    const person = await opened(docId)
    const before = seenBy(person)
    const touched: string[] = []
    person.doc.getMap('shapes:c').observe(({ keysChanged }, { origin }) => {
      if (origin === 'relay') touched.push(...keysChanged)
    })
    const dragged = drag(person, 'mine', mineAt)
    const drawn: string[] = []
    for (const args of CALLS) {
      const { nodes, edges, layout } = await agent.call('generate_diagram', { docId, ...args })
      drawn.push(...Object.values(nodes as Readonly<Record<string, string>>), ...(edges as readonly string[]))
      expect(layout).toMatchObject({ overlaps: 0, throughNodes: 0 })
      const steps = dragged.steps()
      await until('a step after the call', () => dragged.steps() > steps + 1)
    }
    const mine = await dragged.stop()
    const written = drawn.filter((id) => id !== 's1')
    await until('the last drawing', () => written.every((id) => Object.hasOwn(seenBy(person), id)))
    const seen = seenBy(person)
    expect(seen['mine']).toEqual(mine)
    for (const id of ['s1', 's2', 's3', 'k1']) expect(seen[id]).toEqual(before[id])
    expect(new Set(touched)).toEqual(new Set(written))
    person.socket.close()
  })

  it('[AG-106] a diagram that includes a shape being dragged is drawn around its current place', async () => {
    const docId = 'fixed'
    const person = await opened(docId)
    const dragged = drag(person, 'mine', mineAt)
    const args = { docId, ...on, nodes: [{ id: 'mine', shapeId: 'mine' }, { id: 'next' }], edges: [{ from: 'mine', to: 'next' }] }
    const { isError, result } = await agent.answer('generate_diagram', args)
    const mine = await dragged.stop()
    const seen = seenBy(person)
    expect(seen['mine']).toEqual(mine)
    expect(isError).toBeFalsy()
    expect(result).toMatchObject({ nodes: { mine: 'mine' }, layout: { overlaps: 0 } })
    person.socket.close()
  })

  it('[DIAG-17] [LIM-8] while the largest diagram is laid out, edits of a person in that document are acknowledged', async () => {
    const docId = 'largest'
    const person = await opened(docId)
    const nodes = Array.from({ length: 500 }, (_, i) => ({ id: `n${i}` }))
    const edges = Array.from({ length: 1000 }, (_, i) => ({ from: `n${i % 500}`, to: `n${(i * 37 + 11) % 500}` }))
    const dragged = drag(person, 'mine', mineAt)
    const call = agent.call('generate_diagram', { docId, ...on, nodes, edges })
    const { edges: connectors } = await call
    const during = dragged.steps()
    const mine = await dragged.stop()
    expect(during).toBeGreaterThan(5)
    expect(connectors).toHaveLength(1000)
    const { shapeCount } = await agent.call('get_page', { docId, ...on, limit: 1 })
    expect(shapeCount).toBe(5 + 1500)
    const { shape } = await agent.call('get_shape', { docId, ...on, id: 'mine' })
    expect(shape).toMatchObject({ x: mine['x'], y: mine['y'] })
    person.socket.close()
  })
})
