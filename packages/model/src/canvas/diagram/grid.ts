import { cellsOf, evenGaps } from './cells.ts'
import type { DiagramEdge, DiagramNode } from './diagram.ts'
import type { Drawn } from './drawn.ts'
import type { Effort } from './effort.ts'
import { routeEdges } from './route-edges.ts'
import { drawInGaps } from './route-in-gaps.ts'

/** The gaps to try: between two stubs, 88 has room for five lanes and 136 for nine. 136 is tried when the edges do not fit into 88. [DIAG-6, DIAG-15] */
const GAPS = [88, 136]
/** With more edges for each node than this, only the second of `GAPS` is tried. */
const DENSE = 1.5
/** With more edges than this, the layout does not search the best way of each edge, because the search would not end in time. */
const MOST_EDGES = 200
/** The share of all steps that the search for the best ways may take. */
const SHARE = 0.3

/**
 * Draws nodes in about as many rows as columns, in input order: row by row or, for LR, column by column. First it searches the best way for each edge,
 * which gives fewer crossings. When the edges have no room, or are too many to search in time, they run through gaps that grow with their number.
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
