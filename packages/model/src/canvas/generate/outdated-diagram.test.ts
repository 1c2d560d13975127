import { describe, expect, it } from 'vitest'
import type { DocumentBody } from '../../body.ts'
import { type Edited, isOutdated, isRefusal } from '../../edit.ts'
import { runEdit } from '../../edits.ts'
import type { JsonObject } from '../../json.ts'
import { body, canvasPage } from '../../testing/builders.ts'
import { shapeStamp } from '../shape-stamp.ts'
import { now } from '../testing/shape-editing.ts'
import type { GenerateDiagram } from './diagram-input.ts'
import { drawDiagram } from './draw-diagram.ts'
import type { GeneratedDiagram } from './generate-diagram.ts'

const box = (id: string, x: number, y: number, width = 100, height = 80): JsonObject => ({
  id,
  type: 'rectangle',
  x,
  y,
  width,
  height,
})
const page = (...shapes: readonly JsonObject[]): DocumentBody => body({ pages: [canvasPage('c', ...shapes)] })

function run(
  given: DocumentBody,
  call: Partial<GenerateDiagram>,
  name: 'generate_diagram' | 'edit_document' = 'generate_diagram',
) {
  let minted = 0
  const environment = { nowMs: now, random: (count: number) => String(minted++).padStart(count, '0') }
  return runEdit(name, given, { pageId: 'c', ...call }, environment)
}

function done(given: DocumentBody, call: Partial<GenerateDiagram>): Edited<GeneratedDiagram> {
  const answer = run(given, call)
  if (isRefusal(answer)) throw new Error(`${answer.code} ${answer.message}`)
  return answer as Edited<GeneratedDiagram>
}

describe('a diagram that was refused before the write', () => {
  const call = { nodes: [{ id: 'a', shapeId: 's1' }, { id: 'b' }], isRefused: true } as const

  it('[DIAG-17] [CONC-13] a diagram refused before the write is refused again, or is outdated when the reason is gone: the write makes no layout', () => {
    expect(run(page(), call)).toMatchObject({ code: 'ERR_SHAPE_NOT_FOUND' })
    expect(isOutdated(run(page(box('s1', 0, 0)), call))).toBe(true)
  })

  it('[DIAG-17] [AG-53] a step refused before the write is outdated when the reason is gone', () => {
    const steps = {
      steps: [{ tool: 'generate_diagram', arguments: { pageId: 'c', nodes: call.nodes } }],
      prepared: [{ isRefused: true }],
    }
    expect(isOutdated(run(page(box('s1', 0, 0)), steps as object, 'edit_document'))).toBe(true)
  })
})

describe('a diagram with fixed nodes near another shape, fitted to a page on which that shape has moved', () => {
  const call = { nodes: [{ id: 'a', shapeId: 's1' }, { id: 'b' }], edges: [{ from: 'a', to: 'b' }], near: 's9' } as const
  const drawn = drawDiagram(page(box('s1', 0, 0), box('s9', 600, 0)), { pageId: 'c', ...call })
  if (isRefusal(drawn)) throw new Error(drawn.code)
  const fitted = (at: number) => {
    const { body: edited, result } = done(page(box('s1', 0, 0), box('s9', at, 0)), { ...call, drawn, fit: true })
    const [made] = edited.canvas.pages
    return Number(made?.shapes.find(({ id }) => id === result.nodes['b'])?.value['x'])
  }

  it('[AG-107] [CONC-8] new nodes follow the shape that near names', () => {
    expect(fitted(3000)).toBeGreaterThan(3000)
    expect(fitted(3000)).toBeLessThan(3000 + 50 + 200 + 200)
  })

  it('[AG-107] [CONC-8] new nodes stay in place while they are within 200 of the shape that near names', () => {
    expect(fitted(590)).toBe(drawn.layout.centres[1]?.x)
  })
})

it('[AG-6] two nodes that name the same shape, one of them with its stamp, are refused', () => {
  const given = page(box('s1', 0, 0))
  const stamped = `s1#${shapeStamp(box('s1', 0, 0))}`
  for (const shapeIds of [
    ['s1', stamped],
    [stamped, 's1'],
  ])
    expect(run(given, { nodes: shapeIds.map((shapeId, i) => ({ id: `n${i}`, shapeId })) })).toMatchObject({
      code: 'ERR_DIAGRAM_NODE',
      facts: { node: 1 },
    })
})

it('[DIAG-10] [CANVAS-4] a diagram without room below the page content stands beside it, with a warning', () => {
  const given = page(box('s1', 0, 999_900))
  const { result, warnings } = done(given, { nodes: [{ id: 'a' }, { id: 'b' }], edges: [{ from: 'a', to: 'b' }] })
  expect(result.bounds).toEqual({ x: 170, y: 999_776, w: 160, h: 224 })
  expect(warnings).toEqual([{ reason: expect.stringContaining('stands elsewhere, from x 170, y 999776') }])
  expect(result.layout.overlaps).toBe(0)
})

it('[DIAG-14] [AG-106] a warning names an edge without a clear way by its index in the call', () => {
  const walls = [box('w1', 100, 0, 40, 120), box('w2', -100, 0, 40, 120), box('w3', 0, -60, 240, 20), box('w4', 0, 60, 240, 20)]
  const nodes = [
    { id: 'a', shapeId: 'a' },
    { id: 'b', shapeId: 'b' },
  ]
  const { warnings } = done(page(box('a', 0, 0), box('b', 900, 200), ...walls), { nodes, edges: [{ from: 'a', to: 'b' }] })
  expect(warnings).toEqual([{ reason: expect.stringContaining('no clear way'), edge: 0 }])
})
