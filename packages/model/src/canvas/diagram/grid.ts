import { cellsOf, evenGaps } from './cells.ts'
import type { DiagramEdge, DiagramNode } from './diagram.ts'
import type { Drawn } from './drawn.ts'
import type { Effort } from './effort.ts'
import { routeEdges } from './route-edges.ts'
import { drawInGaps } from './route-in-gaps.ts'

/** Five lanes fit between two stubs; the second one is tried when the edges do not fit. [DIAG-6, DIAG-15] */
const GAPS = [88, 136]
/** Edges for each node above which the first gap is not tried. */
const DENSE = 1.5
/** More of them are never found in time. */
const MOST_EDGES = 200
/** The part of all steps that finding the best way for each edge may take. */
const SHARE = 0.3

/**
 * Nodes in about as many rows as columns in input order, row by row or, for LR, column by column; edges around them on the best way there is for each.
 * There are fewer crossings then. More edges than have room, or than can be routed one by one in time, take the gaps, which grow with them.
 * [DIAG-8, DIAG-15, DIAG-17]
 */
export function drawGrid(
  nodes: readonly DiagramNode[],
  edges: readonly DiagramEdge[],
  direction: 'TB' | 'LR',
  effort: Effort,
): Drawn {
  const steps = effort.share(SHARE)
  if (edges.length <= MOST_EDGES)
    for (const gap of edges.length > DENSE * nodes.length ? GAPS.slice(1) : GAPS) {
      const { centres } = cellsOf(nodes, edges, direction, evenGaps(nodes.length, direction, gap, edges))
      const routes = routeEdges(edges, { nodes, centres, obstacles: [], taken: [] }, steps, { strict: true })
      if (routes !== null) return { centres, routes: [...routes] }
    }
  return drawInGaps(nodes, edges, direction, effort)
}
