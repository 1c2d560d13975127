import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { layoutDiagram } from './layout.ts'
import { faultsOf, labelFaultsOf, sharedStretches } from './testing/inspect.ts'
import { requestOf } from './testing/request.ts'

const size = fc
  .tuple(fc.integer({ min: 80, max: 240 }), fc.integer({ min: 36, max: 90 }))
  .map(([w, h]) => [2 * w, 2 * h] as const)

/** Graphs of any kind: with loops, edges back and forth, several edges between two nodes, and parts that do not touch. */
const graph = (most: number, mostEdges: number) =>
  fc
    .array(size, { minLength: 1, maxLength: most })
    .chain((nodes) =>
      fc.tuple(
        fc.constant(nodes),
        fc.array(fc.tuple(fc.nat(nodes.length - 1), fc.nat(nodes.length - 1)), { maxLength: mostEdges }),
        fc.constantFrom('TB' as const, 'LR' as const),
      ),
    )

/** Graphs with exactly `edges` edges, between few or many nodes. */
const dense = (most: number, edges: number) =>
  fc
    .oneof(fc.integer({ min: 1, max: most }), fc.constant(most))
    .chain((count) =>
      fc.tuple(
        fc.array(size, { minLength: count, maxLength: count }),
        fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { minLength: edges, maxLength: edges }),
      ),
    )

describe('layouts of random graphs', () => {
  it('[DIAG-6] nodes of layered layouts are at least 80 apart, and no edge comes nearer than 15 to a node it does not end at', () => {
    fc.assert(
      fc.property(graph(14, 30), ([nodes, edges, direction]) => {
        const request = requestOf(nodes, edges, { direction })
        expect(faultsOf(request, layoutDiagram(request))).toEqual([])
      }),
      { seed: 1, numRuns: 100 },
    )
  })

  it('[DIAG-15] edges of layered layouts keep their distance except on the common part at a shared end', () => {
    fc.assert(
      fc.property(graph(14, 30), ([nodes, edges, direction]) => {
        const request = requestOf(nodes, edges, { direction })
        expect(sharedStretches(request, layoutDiagram(request))).toEqual([])
      }),
      { seed: 2, numRuns: 100 },
    )
  })

  it.each([
    ['layered', 'TB'],
    ['layered', 'LR'],
    ['grid', 'TB'],
    ['grid', 'LR'],
  ] as const)('[DIAG-15] a dense %s layout of up to 100 nodes and 200 edges keeps all distances, %s', (layout, direction) => {
    fc.assert(
      fc.property(dense(100, 200), ([nodes, edges]) => {
        const request = requestOf(nodes, edges, { layout, direction })
        const drawn = layoutDiagram(request)
        expect(faultsOf(request, drawn)).toEqual([])
        expect(sharedStretches(request, drawn)).toEqual([])
      }),
      { seed: 3, numRuns: 5 },
    )
  })

  it('[DIAG-15] a large grid keeps all distances', () => {
    fc.assert(
      fc.property(dense(250, 500), fc.constantFrom('TB' as const, 'LR' as const), ([nodes, edges], direction) => {
        const request = requestOf(nodes, edges, { layout: 'grid', direction })
        const drawn = layoutDiagram(request)
        expect(faultsOf(request, drawn)).toEqual([])
        expect(sharedStretches(request, drawn)).toEqual([])
      }),
      { seed: 6, numRuns: 2 },
    )
  })

  it('[DIAG-8] edges of a grid keep all distances', () => {
    fc.assert(
      fc.property(graph(12, 16), ([nodes, edges, direction]) => {
        const request = requestOf(nodes, edges, { direction, layout: 'grid' })
        const layout = layoutDiagram(request)
        expect(faultsOf(request, layout)).toEqual([])
        expect(sharedStretches(request, layout)).toEqual([])
      }),
      { seed: 4, numRuns: 40 },
    )
  })

  it('[DIAG-12] labels of layered layouts have the fixed positions unless they would lie on a node, and edges keep their distance', () => {
    const label = fc.record({ width: fc.integer({ min: 5, max: 100 }).map((n) => 2 * n), height: fc.constantFrom(16, 30, 60) })
    fc.assert(
      fc.property(graph(10, 20), fc.array(label, { minLength: 20, maxLength: 20 }), ([nodes, edges, direction], labels) => {
        const base = requestOf(nodes, edges, { direction })
        const request = {
          ...base,
          edges: base.edges.map((edge, i) => ({ ...edge, label: edge.from === edge.to ? null : (labels[i] ?? null) })),
        }
        const layout = layoutDiagram(request)
        expect(faultsOf(request, layout)).toEqual([])
        expect(sharedStretches(request, layout)).toEqual([])
        const isClear = (fault: string) => !fault.includes('node')
        expect(labelFaultsOf(request, layout).every(isClear)).toBe(true)
        const turns = new Map<string, number>()
        const fixed = edges.map((ends) => {
          const pair = ends.toSorted((a, b) => a - b).join(' ')
          const turn = turns.get(pair) ?? 0
          turns.set(pair, turn + 1)
          return [null, 0.35, 0.65, 0.25, 0.75][turn % 5]
        })
        const moved = layout.edges.filter(({ labelPosition }, i) => labelPosition !== fixed[i]).length
        const atFixed = { ...layout, edges: layout.edges.map((edge, i) => ({ ...edge, labelPosition: fixed[i] ?? null })) }
        expect(moved).toBe(
          new Set(
            labelFaultsOf(request, atFixed)
              .filter((fault) => !isClear(fault))
              .map((fault) => fault.split(' covers')[0]),
          ).size,
        )
      }),
      { seed: 7, numRuns: 100 },
    )
  })

  it('[DIAG-4] the same request gives the same layout, and on a page with shapes the same layout at another place', () => {
    fc.assert(
      fc.property(graph(10, 16), ([nodes, edges, direction]) => {
        const request = requestOf(nodes, edges, { direction })
        const layout = layoutDiagram(request)
        expect(layoutDiagram(request)).toEqual(layout)
        const below = layoutDiagram({ ...request, obstacles: [{ left: -70, top: 10, right: 500, bottom: 300 }] })
        const [dx, dy] = [below.bounds.left - layout.bounds.left, below.bounds.top - layout.bounds.top]
        expect(below.centres).toEqual(layout.centres.map(({ x, y }) => ({ x: x + dx, y: y + dy })))
      }),
      { seed: 5, numRuns: 25 },
    )
  })
})
