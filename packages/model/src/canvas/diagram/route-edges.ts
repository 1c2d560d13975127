import { anchorDirection, anchorPoint, facingSides } from '../geometry/anchors.ts'
import { type Bounds, boundsAround, type Point } from '../geometry/bounds.ts'
import { uprightBox } from '../geometry/shape-box.ts'
import type { RouteEnd, RouteRequest, TakenRoute } from '../router/care.ts'
import { routeAll } from '../router/router.ts'
import { at } from './at.ts'
import type { DiagramEdge, DiagramNode, Side } from './diagram.ts'
import type { DrawnRoute } from './drawn.ts'
import type { Effort } from './effort.ts'
import { fixedPositions } from './labels.ts'
import { loopRoute } from './loop.ts'

export interface Placed {
  readonly nodes: readonly DiagramNode[]
  readonly centres: readonly Point[]
  /** Boxes that are no nodes. */
  readonly obstacles: readonly Bounds[]
  readonly taken: readonly TakenRoute[]
}

/**
 * Routes edges between nodes that have their places, with the facing sides as anchors. With `strict` the answer is `null` unless every edge has a way
 * that keeps all distances; else an edge without a clear way is a direct line. [DIAG-11, DIAG-14]
 */
export function routeEdges(
  edges: readonly DiagramEdge[],
  { nodes, centres, obstacles, taken }: Placed,
  strict: boolean,
  effort: Effort,
  maxPoints?: number,
): readonly DrawnRoute[] | null {
  const boxes = nodes.map(({ width, height }, node) => boundsAround(at(centres, node), width, height))
  const anchor = (node: number, side: Side): RouteEnd => {
    const box = uprightBox(at(boxes, node))
    return { point: anchorPoint(box, side), direction: anchorDirection(box, side), anchor: anchorName(at(nodes, node), side) }
  }
  const loops = loopsOf(edges, nodes, centres)
  const open = edges.flatMap(({ from, to }, edge) => (from === to ? [] : [{ from, to, edge }]))
  const sides = open.map(({ from, to }) => facingSides(at(centres, from), at(centres, to)))
  const positions = fixedPositions(edges)
  const requests = open.map(({ from, to, edge }, i): RouteRequest => {
    const { start, end } = at(sides, i)
    const { label } = at(edges, edge)
    const ends = { from: anchor(from, start), to: anchor(to, end) }
    return label === null ? ends : { ...ends, label: { ...label, share: at(positions, edge) ?? 0.5 } }
  })
  const others = [
    ...taken,
    ...[...loops].map(([edge, { points }]) => {
      const { from } = at(edges, edge)
      return { points, startAnchor: anchorName(at(nodes, from), 'right'), endAnchor: anchorName(at(nodes, from), 'bottom') }
    }),
  ]
  const found = routeAll(requests, [...boxes, ...obstacles], others, {
    ...{ strict, maxPoints },
    spend: (steps) => effort.spend(2 * steps),
  })
  if (strict && found.includes(null)) return null
  const routes = edges.map((_, edge) => loops.get(edge)) as DrawnRoute[]
  open.forEach(({ edge }, i) => {
    const { from, to } = at(requests, i)
    const { start, end } = at(sides, i)
    routes[edge] = { startAnchor: start, endAnchor: end, points: found[i] ?? [from.point, to.point] }
  })
  return routes
}

/** The name of an anchor for the router. */
export function anchorName({ name }: DiagramNode, side: Side): string {
  return `${name} ${side}`
}

/** The routes of edges from a node to itself, by edge. */
export function loopsOf(
  edges: readonly DiagramEdge[],
  nodes: readonly DiagramNode[],
  centres: readonly Point[],
): ReadonlyMap<number, DrawnRoute> {
  const turns = new Map<number, number>()
  const routes = new Map<number, DrawnRoute>()
  edges.forEach(({ from, to }, edge) => {
    if (from !== to) return
    const turn = turns.get(from) ?? 0
    turns.set(from, turn + 1)
    routes.set(edge, loopRoute(at(centres, from), at(nodes, from), turn))
  })
  return routes
}
