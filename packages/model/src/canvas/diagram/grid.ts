import type { Point } from '../geometry/bounds.ts'
import { at } from './at.ts'
import type { DiagramEdge, DiagramNode } from './diagram.ts'
import type { Drawn } from './drawn.ts'
import type { Effort } from './effort.ts'
import { reachOfLoops } from './loop.ts'
import { routeEdges } from './route-edges.ts'
import { routeInGaps } from './route-in-gaps.ts'

/** Five lanes fit between two stubs; tried next when the edges do not fit. [DIAG-6, DIAG-15] */
const GAPS = [88, 136, 232, 424]
/** The nodes of a grid in their cells. */
export interface Cells {
  readonly centres: Point[]
  /** By node its column and row. */
  readonly places: readonly (readonly [column: number, row: number])[]
  /** Where the gap behind each column and row begins. */
  readonly columnEnds: readonly number[]
  readonly rowEnds: readonly number[]
}

/** Edges for each node above which the first gap is not tried. */
const DENSE = 1.5
/** Up to here every edge has to keep all distances. [DIAG-15] */
const STRICT_NODES = 100
const STRICT_EDGES = 200

/**
 * Nodes in about as many rows as columns in input order, row by row or, for LR, column by column; edges around them. The gaps grow until all edges
 * have room; for large grids, and for more edges than can be routed one by one in time, edges only keep off the nodes. [DIAG-8, DIAG-15, DIAG-17]
 */
export function drawGrid(
  nodes: readonly DiagramNode[],
  edges: readonly DiagramEdge[],
  direction: 'TB' | 'LR',
  effort: Effort,
): Drawn {
  const isSmall = nodes.length <= STRICT_NODES && edges.length <= STRICT_EDGES
  if (isSmall)
    for (const gap of edges.length > DENSE * nodes.length ? GAPS.slice(1) : GAPS) {
      const { centres } = cellsOf(nodes, edges, direction, gap)
      const routes = routeEdges(edges, { nodes, centres, obstacles: [], taken: [] }, true, effort)
      if (routes !== null) return { centres, routes: [...routes] }
    }
  const cells = cellsOf(nodes, edges, direction, at(GAPS, 0))
  return { centres: cells.centres, routes: routeInGaps(nodes, edges, cells) }
}

function cellsOf(nodes: readonly DiagramNode[], edges: readonly DiagramEdge[], direction: 'TB' | 'LR', gap: number): Cells {
  const columns = Math.ceil(Math.sqrt(nodes.length))
  const rows = Math.ceil(nodes.length / columns)
  const cellOf = (node: number): readonly [number, number] =>
    direction === 'LR' ? [Math.floor(node / rows), node % rows] : [node % columns, Math.floor(node / columns)]
  const loops = new Int32Array(nodes.length)
  for (const { from, to } of edges) if (from === to) loops[from] = at(loops, from) + 1
  const [widths, heights] = [new Int32Array(columns), new Int32Array(rows)]
  const reaches = [new Int32Array(columns), new Int32Array(rows)] as const
  nodes.forEach(({ width, height }, node) => {
    const [column, row] = cellOf(node)
    const reach = reachOfLoops(at(loops, node))
    widths[column] = Math.max(at(widths, column), width)
    heights[row] = Math.max(at(heights, row), height)
    reaches[0][column] = Math.max(at(reaches[0], column), reach)
    reaches[1][row] = Math.max(at(reaches[1], row), reach)
  })
  const across = linesOf(widths, reaches[0], gap)
  const down = linesOf(heights, reaches[1], gap)
  const places = nodes.map((_, node) => cellOf(node))
  const centres = places.map(([column, row]) => ({ x: at(across.middles, column), y: at(down.middles, row) }))
  return { centres, places, columnEnds: across.ends, rowEnds: down.ends }
}

/** Where the middle of each row or column is, and where the gap behind it begins. */
function linesOf(sizes: Int32Array, reaches: Int32Array, gap: number): { middles: number[]; ends: number[] } {
  let edge = 0
  const [middles, ends]: [number[], number[]] = [[], []]
  sizes.forEach((size, i) => {
    middles.push(edge + size / 2)
    edge += size + at(reaches, i)
    ends.push(edge)
    edge += gap
  })
  return { middles, ends }
}
