import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SAMPLE_DOCUMENT } from '../../mcp/tools/testing/sample-document.ts'
import { drag, seenBy } from '../dragging-person.ts'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { until } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'
import { openWire, type WireClient } from '../wire-client.ts'

type Members = Readonly<Record<string, unknown>>
type Point = { readonly x: number; readonly y: number }

const ANN = { sub: 'ann', role: 'member' }

let relay: SharedRelay
let agent: McpAgent
beforeAll(async () => {
  relay = await sharedRelay()
  agent = await mcpAgent(relay.mcpUrl, relay.token(ANN))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const [canvas, ...others] = SAMPLE_DOCUMENT.pages
/** The person's shape, with a member that only the person's editor knows, and a connector from it to a shape that the agent moves. */
const MINE = { id: 'mine', type: 'rectangle', x: 0, y: 500, width: 100, height: 80, label: 'Mine', halo: { of: ['light'] } }
const TIED = {
  ...{ id: 'tied', type: 'connector', x: 0, y: 460, x2: 300, y2: 240, startShapeId: 'mine', endShapeId: 's3' },
  ...{ startAnchor: 'top', endAnchor: 'bottom' },
}
const DOCUMENT = { ...SAMPLE_DOCUMENT, pages: [{ ...canvas, shapes: [...canvas.shapes, MINE, TIED] }, ...others] }

async function opened(docId: string): Promise<WireClient> {
  await relay.rest(ANN).putDocument(docId, DOCUMENT)
  return (await openWire(relay)).enter(relay.token(ANN), docId, ['ack'])
}

/** Returns the person's shape after so many steps of the drag. */
const mineAt = (steps: number): Members => ({ ...MINE, x: steps, y: 500 + (steps % 7) })

const on = { pageId: 'c' }
/** Every tool that writes a canvas, called on shapes that are not the person's. */
const CALLS: readonly (readonly [tool: string, args: Members])[] = [
  ['add_shape', { ...on, shape: { kind: 'ellipse', id: 'new', x: 700, y: 0, text: 'New' } }],
  ['add_file', { ...on, fileName: 'a.txt', base64: 'SGVsbG8=', x: 1200, y: 0 }],
  [
    'add_shapes',
    {
      ...on,
      shapes: [
        { kind: 'rectangle', id: 'a', x: 700, y: 200 },
        { kind: 'connector', id: 'a-new', startShapeId: 'a', endShapeId: 'new', routingMode: 'orthogonal' },
      ],
    },
  ],
  ['connect', { ...on, fromId: 's1', toId: 'a', label: 'calls' }],
  ['update_shape', { ...on, id: 's1', patch: { text: 'Gateway', style: { fill: 'orange' } } }],
  ['update_shape', { ...on, id: 's3', patch: { x: 320, y: 260, w: 140 } }],
  ['update_shape', { ...on, id: 'k1', patch: { endArrowStyle: 'open' } }],
  ['rename_canvas_page', { ...on, name: 'Renamed' }],
  ['add_canvas_page', { name: 'More' }],
  ['delete_canvas_page', { pageId: 'c2' }],
  ['delete_shape', { ...on, id: 's2' }],
]

describe('an agent that draws beside a person', () => {
  it('[CONC-8] [CANVAS-21] while a person drags a shape through every tool call, the edits of both are kept', async () => {
    const docId = 'dragged'
    const person = await opened(docId)
    const touched: string[] = []
    person.doc.getMap('shapes:c').observe(({ keysChanged }, { origin }) => {
      if (origin === 'relay') touched.push(...keysChanged)
    })
    const dragged = drag(person, 'mine', mineAt)
    for (const [tool, args] of CALLS) {
      const before = dragged.steps()
      await agent.call(tool, { docId, ...args })
      await until(`a step after ${tool}`, () => dragged.steps() > before + 1)
    }
    const { shapes } = await agent.call('get_page', { docId, ...on })
    const top = (shapes as readonly { readonly id: string }[]).map(({ id }) => id).reverse()
    await agent.call('reorder_shapes', { docId, ...on, order: top })
    const mine = await dragged.stop()

    await until('the last call', () => (person.doc.getArray('shapeOrder:c').get(0) as unknown) === top[0])
    const seen = seenBy(person)
    expect(seen['mine']).toEqual(mine)
    // Only the person ever wrote their own shape, so it never jumped back while it was dragged.
    expect([touched.includes('mine'), touched.includes('tied')]).toEqual([false, true])
    expect(Object.keys(seen).sort()).toEqual([...top].sort())
    expect([top.includes('a-new'), top.includes('s2'), top.includes('k1')]).toEqual([true, false, false])
    expect(seen['s1']).toMatchObject({ label: 'Gateway', fill: 'orange', x: 0, y: 0 })
    // One end of the connector is at its anchor on the shape that the agent moved, the other at the person's shape.
    expect(seen['tied']).toMatchObject({ x2: 320, y2: 300 })

    const newcomer = await (await openWire(relay)).enter(relay.token(ANN), docId)
    expect(seenBy(newcomer)).toEqual(seen)
    for (const client of [person, newcomer]) client.socket.close()
    const page = ((await relay.rest(ANN).getDocument(docId)) as unknown as typeof DOCUMENT).pages[0]
    expect(page?.shapes.map(({ id }) => id)).toEqual(top)
    expect(page?.shapes.find(({ id }) => id === 'mine')).toEqual(mine)
  })
})

describe('connectors of moved shapes', () => {
  it('[CANVAS-21] [CANVAS-22] connectors are routed around the shapes between their ends, cold and live', async () => {
    for (const isLive of [false, true]) {
      const docId = `around-${isLive}`
      await relay.rest(ANN).putDocument(docId, DOCUMENT)
      const person = isLive ? await (await openWire(relay)).enter(relay.token(ANN), docId) : null
      const wall = { kind: 'rectangle', id: 'wall', x: 150, y: 0, w: 40, h: 400 }
      await agent.call('add_shape', { docId, ...on, shape: wall })
      const { id, warnings } = await agent.call('connect', { docId, ...on, fromId: 's1', toId: 's2' })
      expect(warnings).toBeUndefined()
      const moved = await agent.call('update_shape', { docId, ...on, id: 's2', patch: { y: 10 } })
      expect([moved['warnings'], new Set(moved['rerouted'] as string[])]).toEqual([undefined, new Set(['k1', id])])
      for (const connector of ['k1', id]) {
        const { shape } = await agent.call('get_shape', { docId, ...on, id: connector })
        const { x, y, x2, y2, waypoints } = shape as Readonly<Record<string, number>> & { readonly waypoints: readonly Point[] }
        const points = [{ x, y }, ...waypoints, { x: x2, y: y2 }] as readonly Point[]
        expect([x2, y2]).toEqual([250, 10])
        // Every segment runs along an axis, and none goes through the wall.
        for (const [i, point] of points.slice(1).entries()) {
          const last = points[i] as Point
          expect(last.x === point.x || last.y === point.y).toBe(true)
          const [left, right] = [Math.min(last.x, point.x), Math.max(last.x, point.x)]
          const [top, bottom] = [Math.min(last.y, point.y), Math.max(last.y, point.y)]
          expect(right <= 130 || left >= 170 || bottom <= -200 || top >= 200).toBe(true)
        }
      }
      person?.socket.close()
    }
  })
})

describe('icons of shapes', () => {
  it('[ICON-3] [ICON-4] an unknown icon name is kept with a warning, an icon of a wrong type is dropped, and both answers list icons', async () => {
    const bytes = new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"/>')
    const hash = await relay.rest(ANN).uploadBlob(bytes, 'image/svg+xml')
    for (const isLive of [false, true]) {
      const docId = `icons-${isLive}`
      await relay.rest(ANN).putDocument(docId, DOCUMENT)
      const person = isLive ? await (await openWire(relay)).enter(relay.token(ANN), docId) : null
      const added = async (iconId: string) => {
        const shape = { kind: 'rectangle', x: 2_000, y: 2_000, iconId }
        const { id, fixes, warnings } = await agent.call('add_shape', { docId, ...on, shape })
        const { shape: stored } = await agent.call('get_shape', { docId, ...on, id })
        await agent.call('delete_shape', { docId, ...on, id })
        return [(stored as Members)['iconId'], fixes, warnings]
      }
      expect(await added('builtin:database')).toEqual(['builtin:database', undefined, undefined])
      expect(await added(`blob://${hash}`)).toEqual([`blob://${hash}`, undefined, undefined])
      const unknown = [{ reason: expect.any(String), field: 'iconId', nearest: expect.arrayContaining(['builtin:database']) }]
      expect(await added('builtin:databse')).toEqual(['builtin:databse', undefined, unknown])
      const lost = 'ab'.repeat(32)
      expect(await added(lost)).toEqual([lost, undefined, [{ reason: expect.any(String), field: 'iconId', nearest: [] }]])
      const dropped = [{ action: 'dropped_invalid', field: 'iconId', reason: expect.stringContaining('builtin:database') }]
      expect(await added('database')).toEqual([undefined, dropped, undefined])
      const patched = { docId, ...on, id: 's1', patch: { iconId: 'builtin:databse' } }
      expect(await agent.call('update_shape', patched)).toMatchObject({ changedPaths: ['iconId'], warnings: unknown })
      person?.socket.close()
    }
  })
})

describe('tools for shapes', () => {
  it('[TOOL-add_shape] [TOOL-add_shapes] [TOOL-connect] [TOOL-update_shape] [TOOL-reorder_shapes] [TOOL-delete_shape] [TOOL-16] each shape tool returns its result', async () => {
    const written = (changed: number) => ({ changed, callId: expect.stringMatching(/^call-/) })
    for (const isLive of [false, true]) {
      const docId = `story-${isLive}`
      await relay.rest(ANN).putDocument(docId, DOCUMENT)
      const person = isLive ? await (await openWire(relay)).enter(relay.token(ANN), docId) : null
      const call = (tool: string, args: Members) => agent.call(tool, { docId, pageId: 'c2', ...args })

      const one = { kind: 'rectangle', id: 'one', x: 500, y: 0, w: 1e9, colour: 'red' }
      expect(await call('add_shape', { shape: one })).toEqual({
        id: 'one',
        ...written(1),
        serverVersion: 2,
        fixes: [
          { action: 'clamped', field: 'w', reason: expect.any(String) },
          { action: 'dropped_unknown', field: 'colour', reason: expect.any(String) },
        ],
        warnings: [{ reason: 'one covers other' }],
      })
      expect(await call('update_shape', { id: 'one', patch: { x: 500, w: 120, style: { fill: 'orange' } } })).toEqual({
        id: 'one',
        changedPaths: ['w', 'style.fill'],
        ...written(1),
        serverVersion: 3,
      })
      const several = [
        { kind: 'ellipse', id: 'two', x: 500, y: 300, radius: 7 },
        { kind: 'connector', id: 'line', startShapeId: 'one', endShapeId: 'two' },
      ]
      expect(await call('add_shapes', { shapes: several })).toEqual({
        ids: ['two', 'line'],
        ...written(2),
        serverVersion: 4,
        fixes: [{ action: 'dropped_unknown', field: 'radius', shape: 0, reason: expect.any(String) }],
      })
      const taken = await agent.refused('add_shapes', {
        docId,
        pageId: 'c2',
        shapes: [{ kind: 'text' }, { kind: 'text', id: 'two' }],
      })
      expect(taken).toMatchObject({ code: 'ERR_SHAPE_ID_TAKEN', message: expect.stringMatching(/^shape\[1\]: /), shape: 1 })
      const { id } = await call('connect', { fromId: 'one', toId: 'two', routing: 'straight', label: 'calls' })
      const { shape } = await call('get_shape', { id })
      expect(shape).toMatchObject({
        ...{ kind: 'connector', text: 'calls', startShapeId: 'one', endShapeId: 'two', startAnchor: 'bottom', endAnchor: 'top' },
        ...{ x: 500, y: 40, x2: 500, y2: 260 },
      })
      expect(shape).not.toHaveProperty('waypoints')
      const order = [id, 'line', 'two', 'one', 'other']
      expect(await call('reorder_shapes', { order })).toEqual({ pageId: 'c2', order, ok: true, ...written(4), serverVersion: 6 })
      expect(await call('delete_shape', { id: 'two' })).toEqual({
        deleted: ['two', id, 'line'],
        removed: [
          { id, text: 'calls' },
          { id: 'line', text: '' },
        ],
        ...written(3),
        serverVersion: 7,
      })
      const { shapes } = await call('get_page', {})
      expect((shapes as readonly Members[]).map((left) => left['id'])).toEqual(['one', 'other'])
      person?.socket.close()
    }
  })
})
