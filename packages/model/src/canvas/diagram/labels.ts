import { type Bounds, boundsAround, overlaps, type Point } from '../geometry/bounds.ts'
import { alongPolyline } from '../geometry/polyline.ts'
import { at } from './at.ts'
import type { DiagramEdge } from './diagram.ts'
import type { Effort } from './effort.ts'

/**
 * Returns the fixed position of the label of each edge, as a share of the edge's way. Edges between the same two nodes, in either direction, get different
 * positions in turn. `null` is the middle, which is not stored. [DIAG-12, DIAG-18]
 */
export function fixedPositions(edges: readonly DiagramEdge[]): readonly (number | null)[] {
  const seen = new Map<string, number>()
  return edges.map(({ from, to }) => {
    const pair = from < to ? `${from} ${to}` : `${to} ${from}`
    const turn = seen.get(pair) ?? 0
    seen.set(pair, turn + 1)
    return TURNS[turn % TURNS.length] ?? null
  })
}

const TURNS: readonly (number | null)[] = [null, 0.35, 0.65, 0.25, 0.75]

/**
 * Returns the positions of all labels. A label has its fixed position unless it would lie on a box there. Then it takes the position nearest to the middle
 * at which it lies on no box, or keeps the fixed one if there is none. [DIAG-12]
 */
export function labelPositions(
  edges: readonly DiagramEdge[],
  routes: readonly (readonly Point[])[],
  boxes: readonly Bounds[],
  effort: Effort,
): readonly (number | null)[] {
  const fixed = fixedPositions(edges)
  return edges.map(({ label }, edge) => {
    const position = at(fixed, edge)
    if (label === null) return position
    const isClear = (share: number) => {
      const around = boundsAround(alongPolyline(at(routes, edge), share), label.width, label.height)
      effort.spend(boxes.length)
      return !boxes.some((box) => overlaps(box, around))
    }
    if (isClear(position ?? 0.5)) return position
    const other = OTHERS.find(isClear)
    return other === undefined ? position : other === 0.5 ? null : other
  })
}

/** Positions for labels that cannot have their fixed position, the nearest to the middle first. */
const OTHERS = [0.5, 0.42, 0.58, 0.35, 0.65, 0.3, 0.7, 0.25, 0.75, 0.2, 0.8, 0.15, 0.85]
