import { describe, expect, it } from 'vitest'
import type { CanvasPage, DocumentBody } from '../../body.ts'
import { type Edited, type EditEnvironment, isOutdated, isRefusal, type Refusal } from '../../edit.ts'
import { runEdit } from '../../edits.ts'
import type { JsonObject } from '../../json.ts'
import { body, canvasPage } from '../../testing/builders.ts'
import type { Point } from '../geometry/bounds.ts'
import { lintPage } from '../page-lint.ts'
import { provenance, now } from '../testing/shape-editing.ts'
import type { GenerateDiagram } from './diagram-input.ts'
import { drawDiagram } from './draw-diagram.ts'
import type { GeneratedDiagram } from './generate-diagram.ts'

/** The nodes may be any objects: TypeScript takes no object with optional members as a `JsonObject`. */
type Call = Partial<Omit<GenerateDiagram, 'nodes'>> & { readonly nodes?: readonly object[] }

function run(given: DocumentBody, call: Call): Edited<GeneratedDiagram> | Refusal {
  let minted = 0
  const environment: EditEnvironment = { nowMs: now, random: (count) => String(minted++).padStart(count, '0') }
  return runEdit('generate_diagram', given, { pageId: 'c', nodes: [], ...call }, environment) as
    | Edited<GeneratedDiagram>
    | Refusal
}

function done(given: DocumentBody, call: Call): Edited<GeneratedDiagram> {
  const answer = run(given, call)
  if (isRefusal(answer)) throw new Error(`${answer.code} ${answer.message}`)
  return answer
}

function refusal(call: Call, given = page()): Refusal {
  const answer = run(given, call)
  if (!isRefusal(answer)) throw new Error('the call succeeded')
  return answer
}

function page(...shapes: readonly JsonObject[]): DocumentBody {
  return body({ pages: [canvasPage('c', ...shapes)] })
}

const shapesOf = (edited: DocumentBody) => edited.canvas.pages[0]?.shapes ?? []
const valuesOf = (edited: DocumentBody) => new Map(shapesOf(edited).map(({ id, value }) => [id, value]))
const rectangle = (id: string, x: number, y: number, more: JsonObject = {}): JsonObject => ({
  ...{ id, type: 'rectangle', x, y, width: 100, height: 80, ...more },
})
const nodes = (...ids: readonly string[]) => ids.map((id) => ({ id }))
const edges = (...pairs: readonly (readonly [string, string])[]) => pairs.map(([from, to]) => ({ from, to }))

describe('generating a diagram', () => {
  it('[TOOL-generate_diagram] [DIAG-3] [DIAG-18] [CANVAS-2] [CANVAS-15] nodes are written in order, then connectors, on top of the page, each as add_shape would', () => {
    const call = {
      nodes: [
        { id: 'b', label: 'B' },
        { id: 'a', kind: 'ellipse' },
      ],
      edges: [{ from: 'b', to: 'a', label: 'then' }],
    }
    const { body: edited, result } = done(page(rectangle('old', 0, 0)), call)
    const written = shapesOf(edited)
    expect(written.map(({ id }) => id)).toEqual(['old', result.nodes['b'], result.nodes['a'], result.edges[0]])
    const [, b, a, connector] = written.map(({ value }) => value)
    const base = { rotation: 0, opacity: 1, locked: false, visible: true, provenance }
    const paint = { fill: '#4a90d9', stroke: '#2c5282', strokeWidth: 2 }
    expect(b).toEqual({
      ...{ id: result.nodes['b'], type: 'rectangle', label: 'B', x: 30, y: 196, width: 160, height: 72, cornerRadius: 0 },
      ...base,
      ...paint,
    })
    expect(a).toMatchObject({ type: 'ellipse', label: 'a', radiusX: 80, radiusY: 36, ...base, ...paint })
    expect(connector).toMatchObject({
      ...{ type: 'connector', label: 'then', fill: null, stroke: 'auto', strokeWidth: 2, ...base },
      ...{ startShapeId: result.nodes['b'], endShapeId: result.nodes['a'], startAnchor: 'bottom', endAnchor: 'top' },
      ...{ startArrowStyle: 'none', endArrowStyle: 'triangle', startArrow: false, endArrow: true },
      ...{ routingMode: 'orthogonal', waypoints: [] },
    })
    expect(connector).not.toHaveProperty('labelPosition')
  })

  it('[TOOL-generate_diagram] [DIAG-3] generate_diagram answers layout, direction, routing and bounds of the drawing', () => {
    const some = done(page(), { nodes: nodes('a', 'b'), edges: edges(['a', 'b']) }).result
    expect([some.layout.name, some.direction, some.routing]).toEqual(['layered', 'TB', 'orthogonal'])
    const none = done(page(), { nodes: nodes('a', 'b'), direction: 'LR', routing: 'straight' }).result
    expect([none.layout.name, none.direction, none.routing]).toEqual(['grid', 'LR', 'straight'])
    expect(done(page(), { nodes: nodes('a') }).result.bounds).toEqual({ x: 40, y: 40, w: 160, h: 72 })
  })

  it('[DIAG-10] [DIAG-4] a diagram begins at (40, 40) on an empty page, else 120 below the content, with the same geometry', () => {
    const call = { nodes: nodes('a', 'b', 'c'), edges: edges(['a', 'b'], ['a', 'c'], ['c', 'c']) }
    const places = (given: DocumentBody, more: Call = {}) => {
      const { body: edited, result } = done(given, { ...call, ...more })
      const values = valuesOf(edited)
      const { x, y } = result.bounds
      const relative = Object.values(result.nodes).map((id) => [
        Number(values.get(id)?.['x']) - x,
        Number(values.get(id)?.['y']) - y,
      ])
      return { at: [x, y], relative }
    }
    const first = places(page())
    expect(first.at).toEqual([40, 40])
    const full = page(rectangle('one', -200.5, 0), { id: 'k', type: 'connector', x: 0, y: 0, x2: 10, y2: 900 })
    const drawn = drawDiagram(null, { pageId: 'c', ...call })
    if (isRefusal(drawn)) throw new Error(drawn.code)
    for (const more of [{}, { drawn }]) expect(places(full, more)).toEqual({ ...first, at: [-251, 1020] })
  })

  it('[DIAG-1] [DIAG-2] ids are trimmed, labels cut at 500 characters, and each unusable member is reported', () => {
    const {
      body: edited,
      result,
      fixes,
    } = done(page(), {
      nodes: [
        { id: ' a ', label: 'é'.repeat(501), type: 'ellipse' },
        { id: 'b', kind: 'star', iconId: 'builtin:x', text: 'B' },
        { id: 'c', label: 7, kind: 'ellipse', type: 'rectangle', at: { x: 'left', y: 0 }, shapeId: 3 },
      ],
      edges: [{ from: 'a ', to: 'b', color: 'red', label: null }],
    })
    expect(Object.keys(result.nodes)).toEqual(['a', 'b', 'c'])
    const values = valuesOf(edited)
    expect(values.get(result.nodes['a'] as string)).toMatchObject({ type: 'ellipse', label: 'é'.repeat(500) })
    expect(values.get(result.nodes['b'] as string)).toMatchObject({ type: 'rectangle', label: 'b' })
    expect(values.get(result.nodes['c'] as string)).toMatchObject({ type: 'ellipse', label: 'c' })
    expect(values.get(result.edges[0] as string)).not.toHaveProperty('label')
    expect(fixes.map(({ action, field, node, edge }) => [action, field, node ?? `edge ${edge}`])).toEqual([
      ['clamped', 'label', 0],
      ['dropped_unknown', 'iconId', 1],
      ['dropped_unknown', 'text', 1],
      ['dropped_invalid', 'kind', 1],
      ['dropped_invalid', 'shapeId', 2],
      ['dropped_invalid', 'label', 2],
      ['dropped_invalid', 'type', 2],
      ['dropped_invalid', 'at', 2],
      ['dropped_unknown', 'color', 'edge 0'],
    ])
    expect(fixes[1]?.reason).toContain('add_shape')
    expect(fixes[2]?.reason).toContain('label')
  })

  it('[DIAG-2] [LIM-8] a diagram without nodes, above 500 nodes or 1,000 edges, with bad or repeated ids, or with an edge to no node is refused', () => {
    const many = nodes(...Array.from({ length: 501 }, (_, i) => `n${i}`))
    const loops = edges(...Array.from({ length: 1001 }, () => ['n0', 'n0'] as const))
    expect(refusal({ nodes: [] })).toMatchObject({ code: 'ERR_DIAGRAM_LIMIT', facts: { nodes: 0, edges: 0 } })
    expect(refusal({ nodes: many })).toMatchObject({
      code: 'ERR_DIAGRAM_LIMIT',
      facts: { nodes: 501, max: { nodes: 500, edges: 1000 } },
    })
    expect(refusal({ nodes: many.slice(0, 1), edges: loops })).toMatchObject({
      code: 'ERR_DIAGRAM_LIMIT',
      facts: { edges: 1001 },
    })
    for (const id of ['', '  ', 'x'.repeat(129), 7, undefined])
      expect(refusal({ nodes: [{ id: 'a' }, { ...(id === undefined ? {} : { id }) }] })).toMatchObject({
        code: 'ERR_DIAGRAM_NODE',
        facts: { node: 1 },
      })
    expect(refusal({ nodes: nodes('a', ' a') })).toMatchObject({ code: 'ERR_DIAGRAM_NODE', facts: { node: 1, id: 'a' } })
    expect(refusal({ nodes: nodes('gateway'), edges: edges(['gateway', 'gatewy']) })).toMatchObject({
      code: 'ERR_DIAGRAM_EDGE',
      facts: { edge: 0, id: 'gatewy', nearest: ['gateway'] },
    })
    expect(done(page(), { nodes: many.slice(0, 1), edges: loops.slice(0, 1000), routing: 'straight' }).result.edges).toHaveLength(
      1000,
    )
  })

  it('[DIAG-16] [DIAG-12] [DIAG-13] straight edges have no waypoints, parallel edges have separate label positions, and loops have three waypoints', () => {
    const call = { nodes: nodes('a', 'b'), edges: edges(['a', 'b'], ['b', 'a'], ['a', 'b'], ['b', 'b']) }
    const routed = done(page(), call)
    const connectors = routed.result.edges.map((id) => valuesOf(routed.body).get(id) as JsonObject)
    expect(connectors.map((value) => value['labelPosition'])).toEqual([undefined, 0.35, 0.65, undefined])
    expect(connectors[3]).toMatchObject({ startAnchor: 'right', endAnchor: 'bottom' })
    expect(connectors[3]?.['waypoints']).toHaveLength(3)
    const straight = done(page(), { ...call, routing: 'straight' })
    for (const id of straight.result.edges) {
      const value = valuesOf(straight.body).get(id)
      expect(value).not.toHaveProperty('routingMode')
      expect(value).not.toHaveProperty('waypoints')
    }
  })
})

describe('a diagram beside existing shapes', () => {
  it('[AG-106] shapes named by nodes stay unchanged, and other nodes and all edges avoid every shape of the page', () => {
    const given = page(rectangle('s1', 0, 0), rectangle('s2', 600, 0), rectangle('between', 300, 0))
    const {
      body: edited,
      result,
      fixes,
    } = done(given, {
      nodes: [{ id: 'one', shapeId: 's1', label: 'New' }, { id: 'two', shapeId: 's2' }, { id: 'three' }],
      edges: edges(['one', 'two'], ['two', 'three']),
    })
    expect(shapesOf(edited).slice(0, 3)).toEqual(shapesOf(given))
    expect(result.nodes).toMatchObject({ one: 's1', two: 's2' })
    expect(shapesOf(edited)).toHaveLength(6)
    expect(result.layout).toMatchObject({ overlaps: 0, throughNodes: 0 })
    expect(valuesOf(edited).get(result.edges[0] as string)).toMatchObject({ startShapeId: 's1', endShapeId: 's2' })
    expect(fixes).toMatchObject([{ action: 'dropped_invalid', field: 'label', node: 0 }])
  })

  it('[AG-106] a node with a place is put there, with a warning that names a shape it covers', () => {
    const given = page(rectangle('s1', 0, 0), rectangle('s2', 600, 0))
    const {
      body: edited,
      result,
      warnings,
    } = done(given, {
      nodes: [
        { id: 'on', at: { x: 20, y: 10 } },
        { id: 'off', at: { x: 300, y: 400 } },
      ],
      edges: edges(['on', 'off']),
    })
    const values = valuesOf(edited)
    expect(values.get(result.nodes['on'] as string)).toMatchObject({ x: 20, y: 10 })
    expect(values.get(result.nodes['off'] as string)).toMatchObject({ x: 300, y: 400 })
    expect(warnings).toMatchObject([{ node: 0, field: 'at', reason: expect.stringContaining('"s1"') }])
    expect(warnings).toHaveLength(1)
    expect(result.layout.overlaps).toBe(1)
  })

  it('[AG-106] [CANVAS-10] an edge to a rotated shape ends at the anchor on the facing side', () => {
    const given = page(rectangle('turned', 0, 0, { rotation: 90 }), rectangle('other', 600, 0))
    const { body: edited, result } = done(given, {
      nodes: [
        { id: 'a', shapeId: 'turned' },
        { id: 'b', shapeId: 'other' },
      ],
      edges: edges(['a', 'b']),
    })
    expect(valuesOf(edited).get(result.edges[0] as string)).toMatchObject({
      startAnchor: 'top',
      x: 40,
      y: 0,
      endAnchor: 'left',
      x2: 550,
      y2: 0,
    })
  })

  it('[AG-107] near places the diagram beside a shape, within 200 of it, where there is room', () => {
    const given = page(rectangle('s1', 0, 0), rectangle('far', 0, 5000))
    const { result } = done(given, { nodes: nodes('a'), near: 's1' })
    expect(result.bounds.x).toBeGreaterThanOrEqual(50)
    expect(result.bounds.x).toBeLessThanOrEqual(250)
    expect(Math.abs(result.bounds.y)).toBeLessThan(200)
  })

  it('[AG-107] without room near a shape, a warning says where the diagram is placed instead', () => {
    const wall = rectangle('wall', 0, 0, { width: 3000, height: 3000 })
    const { result, warnings } = done(page(rectangle('s1', 0, 0), wall), { nodes: nodes('a'), near: 's1' })
    const { x, y } = result.bounds
    expect(warnings).toEqual([{ reason: expect.stringContaining(`x ${x}, y ${y}`), field: 'near' }])
    expect([x, y]).toEqual([-1500, 1620])
    expect(done(page(rectangle('s1', 0, 0)), { nodes: nodes('a'), near: 's1' }).warnings).toEqual([])
  })

  it('[AG-107] near a shape that the diagram has an edge to, that edge is straight', () => {
    const given = page(rectangle('s1', 0, 0, { height: 90 }))
    const call = {
      nodes: [{ id: 's1', shapeId: 's1' }, ...nodes('a', 'b')],
      edges: [
        { from: 's1', to: 'a' },
        { from: 'a', to: 'b' },
      ],
    }
    const { result, body: edited } = done(given, { ...call, near: 's1' })
    const connector = valuesOf(edited).get(result.edges[0] as string) as JsonObject
    expect([connector['y'], connector['y2'], connector['waypoints']]).toEqual([0, 0, []])
  })

  it('[AG-106] [AG-107] a node that names a missing shape or a connector is refused', () => {
    const given = page(
      rectangle('s1', 0, 0),
      { id: 'k', type: 'connector', x: 0, y: 0 },
      { id: 'g', type: 'group', childIds: [] },
    )
    const coded = (call: Call) => refusal(call, given).code
    expect(coded({ nodes: [{ id: 'a', shapeId: 'none' }] })).toBe('ERR_SHAPE_NOT_FOUND')
    expect(coded({ nodes: [{ id: 'a', shapeId: 'k' }] })).toBe('ERR_CONNECTOR_END')
    expect(coded({ nodes: nodes('a'), near: 'none' })).toBe('ERR_SHAPE_NOT_FOUND')
    expect(
      coded({
        nodes: [
          { id: 'a', shapeId: 's1' },
          { id: 'b', shapeId: 's1' },
        ],
      }),
    ).toBe('ERR_DIAGRAM_NODE')
    expect(coded({ nodes: nodes('a'), pageId: 'nowhere' })).toBe('ERR_PAGE_NOT_FOUND')
  })

  it('[AG-108] the counts in the answer of generate_diagram cover the whole page', () => {
    const given = page(
      ...[
        rectangle('s1', 0, 0),
        rectangle('s2', 50, 0, { label: 'a label that needs more room than there is in this box of a hundred' }),
      ],
      { id: 'k', type: 'connector', x: -200, y: 10, x2: 200, y2: 10 },
    )
    const { result } = done(given, { nodes: nodes('a') })
    expect(result.layout).toEqual({
      ...{ name: 'grid', overlaps: 1, throughNodes: 2, crossings: 0, bends: 0, labelOverflow: 1 },
      ...{ width: 400, height: 272 },
    })
  })
})

describe('counts of a diagram', () => {
  it('[AG-108] [AG-109] the counts of a diagram equal those of the lint: frames and hidden shapes are no overlap', () => {
    const joint = (id: string, more: JsonObject = {}) => ({
      ...{ id, type: 'connector', x: -200, y: 10, x2: 200, y2: 10, startShapeId: 'gone', startAnchor: 'right', ...more },
    })
    const given = page(
      rectangle('frame', 0, 0, { width: 600, height: 400 }),
      rectangle('s1', -50, 0),
      rectangle('s2', 20, 30),
      rectangle('hidden', 0, 0, { visible: false, label: 'needs more room than there is in this box of a hundred' }),
      joint('k'),
      joint('unseen', { visible: false, x: 0, y: -100, x2: 0, y2: 100 }),
    )
    const { body: edited, result } = done(given, { nodes: nodes('a', 'b'), edges: edges(['a', 'b']) })
    const { lint } = lintPage(edited.canvas.pages[0] as CanvasPage)
    const counted = (kind: string) => lint.filter((entry) => entry.kind === kind).length
    expect(result.layout).toMatchObject({ overlaps: 1, throughNodes: 2, crossings: 0, labelOverflow: 0 })
    expect([counted('overlap'), counted('through-node'), counted('crossing'), counted('text-overflow')]).toEqual([1, 2, 0, 0])
  })
})

describe('a diagram laid out before its write', () => {
  const call: Partial<GenerateDiagram> & Pick<GenerateDiagram, 'nodes'> = {
    nodes: [{ id: 'a', shapeId: 's1' }, { id: 'b' }],
    edges: edges(['a', 'b']),
  }
  const laidOut = (given: DocumentBody) => {
    const drawn = drawDiagram(given, { pageId: 'c', ...call })
    if (isRefusal(drawn)) throw new Error(drawn.code)
    return drawn
  }

  it('[AG-106] the layout is outdated when the shape of a node moved or another one came into its area', () => {
    const given = page(rectangle('s1', 0, 0), rectangle('s2', 4000, 0))
    const drawn = laidOut(given)
    const { left, top } = drawn.layout.bounds
    for (const later of [
      page(rectangle('s1', 1, 0), rectangle('s2', 4000, 0)),
      page(rectangle('s1', 0, 0), rectangle('s2', left + 20, top + 20)),
    ])
      expect(isOutdated(run(later, { ...call, drawn }))).toBe(true)
  })

  it('[AG-106] the layout is used when a shape moved elsewhere, and equals what the edit would draw', () => {
    const given = page(rectangle('s1', 0, 0), rectangle('s2', 4000, 0))
    const drawn = laidOut(given)
    const later = page(rectangle('s1', 0, 0), rectangle('s2', 4000, 900))
    expect(isRefusal(run(later, { ...call, drawn }))).toBe(false)
    expect(done(given, { ...call, drawn })).toEqual(done(given, call))
  })

  it('[AG-106] [CONC-8] with fit, an outdated layout is fitted to the page: shapes of the page do not move, and the drawing covers none', () => {
    const given = page(rectangle('s1', 0, 0), rectangle('s2', 4000, 0))
    const more = { ...call, nodes: [...call.nodes, { id: 'c' }], edges: edges(['a', 'b'], ['b', 'c'], ['c', 'a']) }
    const drawn = drawDiagram(given, { pageId: 'c', ...more })
    if (isRefusal(drawn)) throw new Error(drawn.code)
    const b = drawn.layout.centres[1] as Point
    for (const later of [
      page(rectangle('s1', -700, 340.5), rectangle('s2', 4000, 0)),
      page(rectangle('s1', 0, 0), rectangle('s2', b.x + 20, b.y - 10)),
      page(rectangle('s1', b.x, b.y), rectangle('s2', 4000, 0)),
    ]) {
      expect(isOutdated(run(later, { ...more, drawn, fit: false }))).toBe(true)
      const { body: edited, result, warnings } = done(later, { ...more, drawn, fit: true })
      expect(result.layout).toMatchObject({ overlaps: 0, throughNodes: 0 })
      expect(warnings).toHaveLength(1)
      expect(shapesOf(edited).slice(0, 2)).toEqual(shapesOf(later))
      const [s1, connector] = ['s1', result.edges[0] as string].map((id) => valuesOf(edited).get(id))
      expect(Math.abs(Number(connector?.['x']) - Number(s1?.['x']))).toBeLessThanOrEqual(50)
      expect(Math.abs(Number(connector?.['y']) - Number(s1?.['y']))).toBeLessThanOrEqual(40)
    }
  })

  it('[AG-107] with fit, a layout near a shape that has moved follows it as a whole', () => {
    const given = page(rectangle('s1', 0, 0))
    const more = { nodes: nodes('a', 'b'), edges: edges(['a', 'b']), near: 's1' }
    const drawn = drawDiagram(given, { pageId: 'c', ...more })
    if (isRefusal(drawn)) throw new Error(drawn.code)
    const later = page(rectangle('s1', 3000, 500))
    const fitted = done(later, { ...more, drawn, fit: true })
    expect(fitted.result).toEqual(done(later, more).result)
  })
})
