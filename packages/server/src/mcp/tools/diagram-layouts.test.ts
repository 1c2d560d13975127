import { afterAll, describe, expect, it } from 'vitest'
import type { GenerateDiagram } from '@docrelay/model/canvas/generate/diagram-input'
import { type DrawnDiagram, drawDiagram } from '@docrelay/model/canvas/generate/draw-diagram'
import { outdated, refused } from '@docrelay/model/edit'
import { LayoutStopped } from '@docrelay/model/canvas/diagram/effort'
import { silentLogger } from '../../kernel/log.ts'
import type { EditInput } from '../../documents/edit.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { OverdueLayout } from '../overdue-layout.ts'
import { runTool, toolCall } from '../testing/tool-call.ts'
import type { ToolCall } from '../tool.ts'
import { openDiagramLayouts } from './diagram-layouts.ts'
import { runDiagramTask } from './diagram-task.ts'
import { diagramTools } from './diagrams.ts'
import { shapeTools } from './shapes.ts'

/** A diagram with the most nodes and edges that a call may have. */
const LARGEST: GenerateDiagram = {
  pageId: 'c',
  nodes: Array.from({ length: 500 }, (_, i) => ({ id: `n${i}` })),
  edges: Array.from({ length: 1000 }, (_, i) => ({ from: `n${i % 500}`, to: `n${(i * 37 + 11) % 500}` })),
}
const SMALL: GenerateDiagram = { pageId: 'c', nodes: [{ id: 'a' }, { id: 'b' }], edges: [{ from: 'a', to: 'b' }] }

const SQUARE = { id: 'a', type: 'rectangle', x: 0, y: 0, width: 100, height: 100 }
const encoded = (members: object): Uint8Array => new TextEncoder().encode(JSON.stringify({ name: 'd', ...members }))

const layouts = openDiagramLayouts(silentLogger)
afterAll(() => layouts[Symbol.asyncDispose]())

const draw = (args: GenerateDiagram, signal = new AbortController().signal) =>
  layouts.draw({ workspaceId: 'w', body: null, args, signal })

describe('layouts of diagrams', () => {
  it('[DIAG-17] [DIAG-4] a layout made in another thread equals one made in this thread', async () => {
    expect(await draw(SMALL)).toEqual(drawDiagram(null, SMALL))
  })

  it('[DIAG-17] a cancelled layout ends before it is finished', () => {
    const stop = new SharedArrayBuffer(4)
    Atomics.store(new Int32Array(stop), 0, 1)
    expect(() => runDiagramTask({ kind: 'draw', body: null, args: LARGEST, stop })).toThrow(LayoutStopped)
  })

  it('[DIAG-17] a layout that exceeds its deadline rejects with OverdueLayout', async () => {
    await using hasty = openDiagramLayouts(silentLogger, 1)
    const drawing = hasty.draw({ workspaceId: 'w', body: null, args: LARGEST, signal: new AbortController().signal })
    await expect(drawing).rejects.toBeInstanceOf(OverdueLayout)
  })

  it('[DIAG-17] [MCP-15] a call cancelled during its layout writes nothing, and its thread makes the next layout', async () => {
    const edits: EditInput[] = []
    const caller = new AbortController()
    const tools = diagramTools({
      timers: manualTime().timers,
      layouts: {
        draw: (request) => {
          const drawing = layouts.draw(request)
          caller.abort(new Error('the caller left'))
          return drawing
        },
      },
      documents: {
        require: async () => ({}) as never,
        get: async () => ({}) as never,
        edit: async (_, input) => {
          edits.push(input)
          return {} as never
        },
      },
    })
    const call = toolCall({ docId: 'd', ...LARGEST }, { signal: caller.signal })
    await expect(runTool(tools, 'generate_diagram', call)).rejects.toThrow('the caller left')
    expect(edits).toEqual([])
    expect(await draw(SMALL)).toEqual(drawDiagram(null, SMALL))
  })

  it('[MCP-16] during a layout the caller gets progress each second, and none after it', async () => {
    const time = manualTime()
    const drawing = Promise.withResolvers<DrawnDiagram>()
    const tools = diagramTools({
      timers: time.timers,
      layouts: { draw: () => drawing.promise },
      documents: {
        require: async () => ({}) as never,
        get: async () => ({}) as never,
        edit: async () => ({ kind: 'refused', code: 'ERR_PAGE_NOT_FOUND', message: 'gone', facts: {} }) as never,
      },
    })
    const steps: Parameters<ToolCall['progress']>[0][] = []
    const call = toolCall({ docId: 'd', ...SMALL }, { progress: (step) => void steps.push(step) })
    const called = runTool(tools, 'generate_diagram', call)
    await time.advance(3_000)
    expect(steps.map(({ progress }) => progress)).toEqual([1, 2, 3])
    drawing.resolve(drawDiagram(null, SMALL) as DrawnDiagram)
    expect(await called).toMatchObject({ code: 'ERR_PAGE_NOT_FOUND' })
    await time.advance(3_000)
    expect([steps.length, time.waiting()]).toEqual([3, 0])
  })

  it('[AG-106] an outdated layout is made again twice; the write fits the third one to the moved shapes', async () => {
    const asked: EditInput[] = []
    const tools = diagramTools({
      layouts,
      timers: manualTime().timers,
      documents: {
        require: async () => ({}) as never,
        get: async () => ({}) as never,
        edit: async (_, input) => {
          asked.push(input)
          return asked.length < 3 ? outdated('a shape moved') : refused('DONE', 'done')
        },
      },
    })
    expect(await runTool(tools, 'generate_diagram', toolCall({ docId: 'd', ...SMALL }))).toMatchObject({ code: 'DONE' })
    expect(asked.map(({ args }) => (args as GenerateDiagram).fit)).toEqual([false, false, true])
  })

  it('[CONC-13] connectors too many for a live document are routed in a thread, then the edit runs again', async () => {
    const page = { id: 'c', name: 'C', shapes: [SQUARE, { ...SQUARE, id: 'b', x: 400 }] }
    const body = encoded({ pages: [page] })
    const asked: EditInput[] = []
    const tools = shapeTools({
      layouts,
      icons: { icons: [] } as never,
      blobs: {} as never,
      documents: {
        require: async () => ({}) as never,
        get: async () => ({ record: { body } }) as never,
        edit: async (_, input) => {
          asked.push(input)
          return asked.length === 1 ? outdated('too many') : refused('DONE', 'done')
        },
      },
    })
    const shapes = [{ kind: 'connector', startShapeId: 'a', endShapeId: 'b', routingMode: 'orthogonal' }]
    const call = toolCall({ docId: 'd', pageId: 'c', shapes })
    expect(await runTool(tools, 'add_shapes', call)).toMatchObject({ code: 'DONE' })
    expect(asked.map(({ args }) => args)).toMatchObject([{ ways: 'few' }, { ways: [{ points: [] }] }])
  })

  it('[CONC-13] [MCP-15] routing that is told to stop throws LayoutStopped', () => {
    const stop = new SharedArrayBuffer(4)
    Atomics.store(new Int32Array(stop), 0, 1)
    const body = encoded({ pages: [{ id: 'c', name: 'C', shapes: [SQUARE, { ...SQUARE, id: 'b', x: 400 }] }] })
    const args = { pageId: 'c', fromId: 'a', toId: 'b' }
    expect(() => runDiagramTask({ kind: 'route', body, edit: 'connect', args, stop })).toThrow(LayoutStopped)
  })
})
