import { anchorPoint, facingSides } from '../geometry/anchors.ts'
import { boundsAround, type Point } from '../geometry/bounds.ts'
import { simplified } from '../geometry/polyline.ts'
import { uprightBox } from '../geometry/shape-box.ts'
import { at } from './at.ts'
import type { DiagramEdge, DiagramNode } from './diagram.ts'
import type { DrawnRoute } from './drawn.ts'
import type { Cells } from './grid.ts'
import { loopsOf } from './route-edges.ts'

const STUB = 20
const LANE = 12
const LANES = 5

/**
 * Routes the edges of a large grid through the gaps between its rows and columns, in turn on one of their lanes: none passes through a node, but edges may
 * lie on each other. It costs next to nothing for each edge. [DIAG-14, DIAG-17]
 */
export function routeInGaps(nodes: readonly DiagramNode[], edges: readonly DiagramEdge[], cells: Cells): DrawnRoute[] {
  const { centres } = cells
  const loops = loopsOf(edges, nodes, centres)
  return edges.map(({ from, to }, edge) => {
    const loop = loops.get(edge)
    if (loop !== undefined) return loop
    const { start, end } = facingSides(at(centres, from), at(centres, to))
    const [first, last] = (
      [
        [from, start],
        [to, end],
      ] as const
    ).map(([node, side]) => {
      const { width, height } = at(nodes, node)
      return anchorPoint(uprightBox(boundsAround(at(centres, node), width, height)), side)
    }) as [Point, Point]
    const lane = STUB + (edge % LANES) * LANE
    const middle =
      start === 'left' || start === 'right'
        ? between(first, last, at(cells.places, from), at(cells.places, to), cells, lane)
        : between(
            turned(first),
            turned(last),
            swapped(at(cells.places, from)),
            swapped(at(cells.places, to)),
            transposed(cells),
            lane,
          ).map(turned)
    return { startAnchor: start, endAnchor: end, points: simplified([first, ...middle, last]) }
  })
}

type Place = readonly [column: number, row: number]
type Gaps = Pick<Cells, 'columnEnds' | 'rowEnds'>

/** The corners between two ends that face each other sideways. */
function between(first: Point, last: Point, from: Place, to: Place, { columnEnds, rowEnds }: Gaps, lane: number): Point[] {
  const [[fromColumn, fromRow], [toColumn, toRow]] = [from, to]
  const isNext = Math.abs(fromColumn - toColumn) === 1
  if (isNext && fromRow === toRow) return []
  /** The gap beside a column, on the side of the other end. */
  const gapX = (own: number, other: number) => at(columnEnds, own < other ? own : own - 1) + lane
  const x1 = gapX(fromColumn, toColumn)
  const x2 = gapX(toColumn, fromColumn)
  if (isNext) {
    return [
      { x: x1, y: first.y },
      { x: x1, y: last.y },
    ]
  }
  // Along the gap above or below the row of the end, on the side of the start; the last row has a free side below.
  const y = at(rowEnds, fromRow < toRow ? toRow - 1 : toRow) + lane
  return [
    { x: x1, y: first.y },
    { x: x1, y },
    { x: x2, y },
    { x: x2, y: last.y },
  ]
}

function turned({ x, y }: Point): Point {
  return { x: y, y: x }
}

function swapped([column, row]: Place): Place {
  return [row, column]
}

function transposed({ columnEnds, rowEnds }: Cells): Gaps {
  return { columnEnds: rowEnds, rowEnds: columnEnds }
}
