import { anchorDirection, anchorPoint, facingSides } from '../geometry/anchors.ts'
import { type Bounds, boundsAround, type Point } from '../geometry/bounds.ts'
import { directWay } from '../geometry/connector-line.ts'
import { simplified } from '../geometry/polyline.ts'
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
  /** Boxes of other shapes than the nodes. */
  readonly obstacles: readonly Bounds[]
  readonly taken: readonly TakenRoute[]
}

interface HowToRoute {
  readonly strict: boolean
  /** With straight routing only the ends are drawn, so an edge without a clear way keeps its facing sides. */
  readonly endsOnly?: boolean
  readonly maxPoints?: number | undefined
}

/**
 * Routes edges between nodes that have their places, from the sides that face each other. An edge without a clear way tries its other sides; when none
 * has a clear way, it takes the way with the fewest corners. With `strict`, returns `null` unless every edge has a way that keeps all distances.
 * [DIAG-11, DIAG-14]
 */
export function routeEdges(
  edges: readonly DiagramEdge[],
  { nodes, centres, obstacles, taken }: Placed,
  effort: Effort,
  { strict, endsOnly = false, maxPoints }: HowToRoute,
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
  const requestAt = (i: number): RouteRequest => {
    const { from, to, edge } = at(open, i)
    const { start, end } = at(sides, i)
    const { label } = at(edges, edge)
    const ends = { from: anchor(from, start), to: anchor(to, end) }
    return label === null ? ends : { ...ends, label: { ...label, share: at(positions, edge) ?? 0.5 } }
  }
  const others = [
    ...taken,
    ...[...loops].map(([edge, { points }]) => {
      const { from } = at(edges, edge)
      return { points, startAnchor: anchorName(at(nodes, from), 'right'), endAnchor: anchorName(at(nodes, from), 'bottom') }
    }),
  ]
  const found: (readonly Point[] | null)[] = open.map(() => null)
  const route = (wanted: readonly number[], maxVisits?: number): void => {
    const done = open.flatMap((_, i): readonly TakenRoute[] => {
      const [points, { from, to }] = [at(found, i), requestAt(i)]
      return points === null ? [] : [{ points, startAnchor: from.anchor, endAnchor: to.anchor }]
    })
    const ways = routeAll(wanted.map(requestAt), [...boxes, ...obstacles], [...others, ...done], {
      ...{ strict, maxPoints, ...(maxVisits !== undefined && { maxVisits }) },
      spend: (steps) => effort.spend(2 * steps),
    })
    wanted.forEach((i, k) => (found[i] = at(ways, k)))
  }
  route(open.map((_, i) => i))
  if (strict && found.includes(null)) return null
  const facing = [...sides]
  const leftOver = () => open.flatMap((_, i) => (at(found, i) === null ? [i] : []))
  for (let k = 0; !endsOnly && k < MOST_SIDES && leftOver().length > 0 && effort.spend(0); k++) {
    const wanted = leftOver()
    for (const i of wanted) {
      const { from, to } = at(open, i)
      sides[i] = at(otherSides(at(facing, i), at(centres, from), at(centres, to)), k)
    }
    route(wanted, MOST_VISITS_BESIDE)
  }
  const routes = edges.map((_, edge) => loops.get(edge)) as DrawnRoute[]
  open.forEach(({ edge }, i) => {
    const points = at(found, i)
    if (points === null) sides[i] = at(facing, i)
    const { start, end } = at(sides, i)
    const { from, to } = requestAt(i)
    const way =
      points === null ? { points: endsOnly ? [from.point, to.point] : elbow(from, to), isClear: false as const } : { points }
    routes[edge] = { startAnchor: start, endAnchor: end, ...way }
  })
  return routes
}

const MOST_SIDES = 15
/** The most points that a search from other sides looks at. An edge that is walled in must leave steps for the edges after it. */
const MOST_VISITS_BESIDE = 10_000

type Sides = ReturnType<typeof facingSides>

/** All other pairs of sides that an edge may use, the most direct ones first. */
function otherSides(facing: Sides, from: Point, to: Point): readonly Sides[] {
  const starts = inTurn(facing.start, from, to)
  const ends = inTurn(facing.end, to, from)
  return starts
    .flatMap((start, i) => ends.map((end, k) => ({ sides: { start, end }, rank: i + k })))
    .sort((a, b) => a.rank - b.rank)
    .slice(1)
    .map(({ sides }) => sides)
}

/** The sides of a node in the order of trial: the facing one, the two beside it (first the one nearer to the other node), the opposite one. */
function inTurn(facing: Side, own: Point, other: Point): readonly Side[] {
  if (facing === 'left' || facing === 'right') {
    const back = facing === 'left' ? 'right' : 'left'
    return other.y < own.y ? [facing, 'top', 'bottom', back] : [facing, 'bottom', 'top', back]
  }
  const back = facing === 'top' ? 'bottom' : 'top'
  return other.x < own.x ? [facing, 'left', 'right', back] : [facing, 'right', 'left', back]
}

/** The way with the fewest corners, whatever lies in between. [CANVAS-22] */
function elbow(from: RouteEnd, to: RouteEnd): readonly Point[] {
  const axis = ({ direction }: RouteEnd) => (direction === null ? null : direction.x === 0 ? 'upright' : 'sideways')
  const whole = (value: number, ...ends: readonly number[]) => (ends.includes(value) ? value : Math.round(value))
  const corners = directWay(from.point, to.point, axis(from), axis(to)).map(({ x, y }) => ({
    x: whole(x, from.point.x, to.point.x),
    y: whole(y, from.point.y, to.point.y),
  }))
  return simplified([from.point, ...corners, to.point])
}

/** The name of an anchor for the router, such as `s1 right`. */
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
