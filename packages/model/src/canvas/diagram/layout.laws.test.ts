import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { layoutDiagram } from './layout.ts'
import { faultsOf, sharedStretches } from './testing/inspect.ts'
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

/** Graphs with as many edges as there may be, between few nodes or many. */
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

  it('[DIAG-4] the same request gives the same layout, and beside existing shapes the same one moved', () => {
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
