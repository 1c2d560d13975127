import { describe, expect, it } from 'vitest'
import type { Point } from '../geometry/bounds.ts'
import { countsOf } from './certificate.ts'
import type { DiagramLayout, DiagramRequest } from './diagram.ts'
import { limitHere, threadTime } from '../../testing/thread-time.ts'
import { polylinePassesThrough } from '../geometry/polyline.ts'
import { LayoutStopped } from './effort.ts'
import { layoutDiagram } from './layout.ts'
import { faultsOf, labelFaultsOf, linesUnderLabels } from './testing/inspect.ts'
import { requestOf } from './testing/request.ts'

type Pairs = readonly (readonly [number, number])[]

function crossingsOf(request: DiagramRequest): number {
  return countsOf([], linesOf(layoutDiagram(request))).crossings
}

function linesOf(layout: DiagramLayout) {
  return layout.edges.map(({ start, waypoints, end }) => ({
    points: [start, ...(waypoints ?? []), end],
    startId: null,
    endId: null,
  }))
}

function labelled(request: DiagramRequest, label: { width: number; height: number }): DiagramRequest {
  return { ...request, edges: request.edges.map((edge) => ({ ...edge, label })) }
}

/** Two fixed nodes, one above the other, with a labelled edge between them whose middle is at (100, y). */
function oneAboveTheOther(label: { width: number; height: number }, y: number): DiagramRequest {
  const request = labelled(requestOf(2, [[0, 1]]), label)
  const places = [40, 2 * y - 40].map((height) => ({ x: 100, y: height }))
  return { ...request, nodes: request.nodes.map((node, i) => ({ ...node, at: places[i] as Point })) }
}

const anchorsOf = (layout: DiagramLayout) => layout.edges.map(({ startAnchor, endAnchor }) => `${startAnchor} ${endAnchor}`)

const chain = (count: number): Pairs => Array.from({ length: count - 1 }, (_, i) => [i, i + 1])
const star = (leaves: number): Pairs => Array.from({ length: leaves }, (_, i) => [0, i + 1])
const binaryTree = (depth: number): Pairs => Array.from({ length: 2 ** (depth + 1) - 2 }, (_, i) => [Math.floor(i / 2), i + 1])
const diamond: Pairs = [
  [0, 1],
  [0, 2],
  [1, 3],
  [2, 3],
]

describe('a layered layout', () => {
  it.each([
    ['a chain of 30', chain(30)],
    ...Array.from({ length: 20 }, (_, i) => [`a star of ${i + 1}`, star(i + 1)] as [string, Pairs]),
    ['a star of 20 inwards', star(20).map(([a, b]) => [b, a] as const)],
    ['a binary tree of depth 4', binaryTree(4)],
    ['a diamond', diamond],
    ['three diamonds in a row', [0, 3, 6].flatMap((first) => diamond.map(([a, b]) => [first + a, first + b] as const))],
  ] as [string, Pairs][])('[DIAG-7] %s has no crossings in either direction', (_, edges) => {
    const count = 1 + Math.max(...edges.flat())
    expect(crossingsOf(requestOf(count, edges))).toBe(0)
    expect(crossingsOf(requestOf(count, edges, { direction: 'LR' }))).toBe(0)
  })

  it('[DIAG-7] edges of a graph without a cycle all point along the direction', () => {
    const edges: Pairs = [...binaryTree(3), [0, 9], [2, 7], [1, 14]]
    const down = layoutDiagram(requestOf(15, edges))
    for (const [from, to] of edges) expect(down.centres[to]?.y).toBeGreaterThan(down.centres[from]?.y as number)
    const right = layoutDiagram(requestOf(15, edges, { direction: 'LR' }))
    for (const [from, to] of edges) expect(right.centres[to]?.x).toBeGreaterThan(right.centres[from]?.x as number)
  })

  it('[DIAG-11] forward edges go from bottom to top, and an edge that closes a cycle from right to right', () => {
    const edges: Pairs = [
      [0, 1],
      [1, 2],
      [2, 0],
    ]
    expect(anchorsOf(layoutDiagram(requestOf(3, edges)))).toEqual(['bottom top', 'bottom top', 'right right'])
    expect(anchorsOf(layoutDiagram(requestOf(3, edges, { direction: 'LR' })))).toEqual([
      'right left',
      'right left',
      'bottom bottom',
    ])
  })

  it('[DIAG-12] edges between the same two nodes have their own paths and label positions', () => {
    const request = requestOf(2, [
      [0, 1],
      [0, 1],
      [1, 0],
      [0, 1],
      [0, 1],
      [0, 1],
    ])
    const layout = layoutDiagram(request)
    expect(layout.edges.map((edge) => edge.labelPosition)).toEqual([null, 0.35, 0.65, 0.25, 0.75, null])
    const paths = layout.edges.map(({ start, waypoints, end }) => JSON.stringify([start, waypoints, end]))
    expect(new Set(paths).size).toBe(6)
  })

  it('[DIAG-12] labels of up to five edges between the same two nodes have the fixed positions, and cover neither each other nor the nodes', () => {
    for (const direction of ['TB', 'LR'] as const)
      for (const count of [2, 3, 4, 5])
        for (const width of [30, 60, 120]) {
          const pairs: Pairs = Array.from({ length: count }, () => [0, 1])
          const request = labelled(requestOf(3, [...pairs, [1, 2], [2, 1]], { direction }), { width, height: 16 })
          const layout = layoutDiagram(request)
          const positions = [null, 0.35, 0.65, 0.25, 0.75].slice(0, count)
          expect(layout.edges.map(({ labelPosition }) => labelPosition)).toEqual([...positions, null, 0.35])
          expect(faultsOf(request, layout)).toEqual([])
          expect(labelFaultsOf(request, layout), `${count} ${direction} ${width}`).toEqual([])
        }
  })

  it.each([
    ['a star', star(8)],
    ['a binary tree', binaryTree(3)],
    ['a diamond', diamond],
    ['a star inwards', star(8).map(([a, b]) => [b, a] as const)],
  ] as [string, Pairs][])('[DIAG-12] no other edge passes under a label in the middle of an edge of %s', (_, edges) => {
    const count = 1 + Math.max(...edges.flat())
    for (const direction of ['TB', 'LR'] as const) {
      const request = labelled(requestOf(count, edges, { direction }), { width: 60, height: 16 })
      const layout = layoutDiagram(request)
      expect(layout.edges.every(({ labelPosition }) => labelPosition === null)).toBe(true)
      expect([...labelFaultsOf(request, layout), ...linesUnderLabels(request, layout)], direction).toEqual([])
    }
  })

  it('[DIAG-12] a label stays in the middle when an edge that was there before passes under it', () => {
    const taken = { points: [0, 900].map((x) => ({ x, y: 150 })), startAnchor: ' a', endAnchor: ' b' }
    const layout = layoutDiagram({ ...oneAboveTheOther({ width: 40, height: 16 }, 150), taken: [taken] })
    expect(layout.edges[0]).toMatchObject({ waypoints: [], labelPosition: null })
  })

  it('[DIAG-12] a label that would lie on a node at its fixed position takes another one', () => {
    const request = oneAboveTheOther({ width: 150, height: 16 }, 150)
    const wall = { left: 130, top: 140, right: 190, bottom: 160 }
    const layout = layoutDiagram({ ...request, obstacles: [wall] })
    expect(layout.edges[0]).toMatchObject({ waypoints: [], labelPosition: 0.35 })
  })

  it('[DIAG-13] loops leave right and return at the bottom, each 12 further out than the loop before', () => {
    const layout = layoutDiagram(
      requestOf(1, [
        [0, 0],
        [0, 0],
      ]),
    )
    const { x, y } = layout.centres[0] as Point
    expect(anchorsOf(layout)).toEqual(['right bottom', 'right bottom'])
    expect(layout.edges.map((edge) => edge.waypoints)).toEqual(
      [20, 32].map((out) => [
        { x: x + 80 + out, y },
        { x: x + 80 + out, y: y + 36 + out },
        { x, y: y + 36 + out },
      ]),
    )
  })

  it('[DIAG-16] straight edges have no waypoints', () => {
    const layout = layoutDiagram(requestOf(4, diamond, { routing: 'straight' }))
    expect(layout.edges.map((edge) => edge.waypoints)).toEqual([null, null, null, null])
  })

  it('[DIAG-9] unconnected parts are placed beside each other in the order of their first nodes', () => {
    const { centres } = layoutDiagram(
      requestOf(6, [
        [0, 1],
        [2, 3],
        [4, 5],
      ] as Pairs),
    )
    expect(centres.map(({ x }) => x)).toEqual([120, 120, 360, 360, 600, 600])
    expect(centres.map(({ y }) => y)).toEqual([76, 228, 76, 228, 76, 228])
  })
})

describe('a grid', () => {
  it('[DIAG-8] a grid has as many columns as the square root of its nodes, filled by rows, or by columns for LR', () => {
    const rows = layoutDiagram(requestOf(5, [], { layout: 'grid' })).centres
    expect(rows.map(({ x, y }) => [x > 300, x > 500, y > 200])).toEqual([
      [false, false, false],
      [true, false, false],
      [true, true, false],
      [false, false, true],
      [true, false, true],
    ])
    const columns = layoutDiagram(requestOf(5, [], { layout: 'grid', direction: 'LR' })).centres
    expect(columns.map(({ x, y }) => [x > 300, x > 500, y > 200])).toEqual([
      [false, false, false],
      [false, false, true],
      [true, false, false],
      [true, false, true],
      [true, true, false],
    ])
  })

  it('[DIAG-11] edges of a grid use the facing sides as anchors', () => {
    const layout = layoutDiagram(
      requestOf(
        4,
        [
          [0, 1],
          [3, 2],
          [0, 2],
          [3, 1],
        ],
        { layout: 'grid' },
      ),
    )
    expect(anchorsOf(layout)).toEqual(['right left', 'left right', 'bottom top', 'top bottom'])
  })
})

describe('placing a layout', () => {
  it('[DIAG-10] a layout is placed at (40, 40) on an empty page, else at the left edge 120 below the content', () => {
    const { left, top } = layoutDiagram(requestOf(4, diamond)).bounds
    expect([left, top]).toEqual([40, 40])
    const obstacles = [
      { left: 300, top: 0, right: 400, bottom: 90 },
      { left: -20, top: 50, right: 10, bottom: 70 },
    ]
    const below = layoutDiagram(requestOf(4, diamond, { obstacles })).bounds
    expect([below.left, below.top]).toEqual([-20, 210])
  })

  it('[AG-107] a layout near a shape is placed to its right, or below it when there is no room', () => {
    const near = { left: 100, top: 100, right: 260, bottom: 172 }
    const right = layoutDiagram(requestOf(2, chain(2), { near, obstacles: [near] })).bounds
    expect([right.left, right.top]).toEqual([340, 100])
    const wall = { left: 300, top: -900, right: 900, bottom: 900 }
    const below = layoutDiagram(requestOf(2, chain(2), { near, obstacles: [near, wall] })).bounds
    expect([below.left, below.top]).toEqual([100, 252])
  })

  it('[AG-106] nodes with a given place keep it, and other nodes and all edges are laid out around them', () => {
    const base = requestOf(4, [
      [0, 1],
      [1, 2],
      [2, 3],
      [0, 3],
    ])
    const places: readonly (Point | null)[] = [{ x: 500, y: 500 }, null, null, { x: 900, y: 640 }]
    const request = { ...base, nodes: base.nodes.map((node, i) => ({ ...node, at: places[i] ?? null })) }
    const layout = layoutDiagram(request)
    expect([layout.centres[0], layout.centres[3]]).toEqual([places[0], places[3]])
    expect(faultsOf(request, layout)).toEqual([])
  })
})

describe('stopping a layout', () => {
  it('[DIAG-17] a stopped layout ends at once', () => {
    const edges: Pairs = Array.from({ length: 1000 }, (_, i) => [i % 500, (i * 7 + 3) % 500])
    expect(() => layoutDiagram(requestOf(500, edges), () => true)).toThrow(LayoutStopped)
  })
})

describe('the time of a layout', () => {
  const hub: Pairs = [...chain(500), ...star(499).slice(1)]
  const dense: Pairs = Array.from({ length: 31 * 31 }, (_, i) => [i % 31, 31 + Math.floor(i / 31)])

  it.each([
    ['two layers with an edge between each two of their nodes', 62, dense],
    ['a chain with an edge from its first node to each other node', 500, hub],
  ] as [string, number, Pairs][])('[DIAG-17] the layout of %s ends within 6 s of processor time', (_, count, edges) => {
    const took = threadTime()
    layoutDiagram(requestOf(count, edges))
    const used = took()
    // A quiet machine takes about 1 s for this layout.
    expect(used).toBeLessThan(limitHere(used, 6_000))
  })
})

describe('edges without a clear way', () => {
  const wall = (left: number, top: number, right: number, bottom: number) => ({ left, top, right, bottom })
  const between = (obstacles: DiagramRequest['obstacles'], more: Partial<DiagramRequest> = {}) => {
    const request = requestOf(2, [[0, 1]], { obstacles, ...more })
    const places = [0, 700].map((x) => ({ x, y: x / 7 }))
    return layoutDiagram({ ...request, nodes: request.nodes.map((node, i) => ({ ...node, at: places[i] as Point })) })
  }
  const wayOf = ({ edges: [edge] }: DiagramLayout) => [edge?.start, ...(edge?.waypoints ?? []), edge?.end] as Point[]

  it('[DIAG-14] an edge whose facing side is blocked takes another side', () => {
    const beside = wall(82, -300, 120, 300)
    const layout = between([beside])
    expect(layout.edges[0]).not.toHaveProperty('isClear')
    expect(anchorsOf(layout)[0]).not.toMatch(/^right/)
    expect(polylinePassesThrough(wayOf(layout), beside)).toBe(false)
  })

  it('[DIAG-14] [CANVAS-22] an edge without a clear way from any side takes a way in right angles, and is marked as not clear', () => {
    const around = [wall(82, -60, 120, 60), wall(-120, -60, -82, 60), wall(-120, -80, 120, -38), wall(-120, 38, 120, 80)]
    const layout = between(around)
    expect(layout.edges[0]).toMatchObject({ isClear: false, startAnchor: 'right', endAnchor: 'left' })
    const way = wayOf(layout)
    for (const [i, { x, y }] of way.slice(1).entries()) expect(x === way[i]?.x || y === way[i]?.y).toBe(true)
    expect(between(around, { routing: 'straight' }).edges[0]).toEqual({
      ...{ startAnchor: 'right', endAnchor: 'left', start: { x: 80, y: 0 }, end: { x: 620, y: 100 } },
      ...{ waypoints: null, labelPosition: null },
    })
  })
})

describe('a large grid', () => {
  it('[DIAG-14] a large grid routes its edges through the gaps between rows and columns', () => {
    const edges: Pairs = Array.from({ length: 400 }, (_, i) => [(i * 7) % 150, (i * 31 + 5) % 150])
    const request = requestOf(150, edges, { layout: 'grid' })
    expect(faultsOf(request, layoutDiagram(request))).toEqual([])
  })
})
