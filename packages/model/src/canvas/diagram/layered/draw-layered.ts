import { type Bounds, boundsAround, boundsOf, type Point, unite } from '../../geometry/bounds.ts'
import { at } from '../at.ts'
import type { DiagramEdge, DiagramNode, Side } from '../diagram.ts'
import type { Drawn } from '../drawn.ts'
import type { Effort } from '../effort.ts'
import { fixedPositions } from '../labels.ts'
import { reachOfLoops } from '../loop.ts'
import { packed, partsOf } from '../parts.ts'
import { loopsOf } from '../route-edges.ts'
import { drawPart } from './draw-part.ts'
import type { PartBox } from './part.ts'

type Direction = 'TB' | 'LR'

/** The anchors of forward edges and of edges that lead back, by direction. [DIAG-11] */
const anchors: { readonly [D in Direction]: readonly [forward: readonly [Side, Side], back: readonly [Side, Side]] } = {
  TB: [
    ['bottom', 'top'],
    ['right', 'right'],
  ],
  LR: [
    ['right', 'left'],
    ['bottom', 'bottom'],
  ],
}

/** Draws every connected part in layers along the direction, and packs the parts. [DIAG-7, DIAG-9] */
export function drawLayered(
  nodes: readonly DiagramNode[],
  edges: readonly DiagramEdge[],
  direction: Direction,
  effort: Effort,
): Drawn {
  const partOf = partsOf(nodes.length, edges)
  const members: number[][] = []
  partOf.forEach((part, node) => {
    const own = (members[part] ??= [])
    own.push(node)
  })
  const edgesOf: number[][] = members.map(() => [])
  edges.forEach(({ from }, edge) => at(edgesOf, at(partOf, from)).push(edge))
  const drawn: Drawn = { centres: [], routes: [] }
  const whole = { nodes, edges, direction, labels: fixedPositions(edges) }
  const bounds = members.map((own, part) => drawOne(own, at(edgesOf, part), whole, drawn, effort))
  packed(bounds).forEach(({ dx, dy }, part) => {
    const move = ({ x, y }: Point): Point => ({ x: x + dx, y: y + dy })
    for (const node of at(members, part)) drawn.centres[node] = move(at(drawn.centres, node))
    for (const edge of at(edgesOf, part)) {
      const route = at(drawn.routes, edge)
      drawn.routes[edge] = { ...route, points: route.points.map(move) }
    }
  })
  return drawn
}

interface Whole {
  readonly nodes: readonly DiagramNode[]
  readonly edges: readonly DiagramEdge[]
  readonly direction: Direction
  /** By edge, the position of its label; `null` is the middle. */
  readonly labels: readonly (number | null)[]
}

/** Draws the connected part with these nodes and edges into `drawn`. Returns the box around it. */
function drawOne(
  own: readonly number[],
  ownEdges: readonly number[],
  { nodes, edges, direction, labels }: Whole,
  drawn: Drawn,
  effort: Effort,
): Bounds {
  const place = new Map(own.map((node, i) => [node, i]))
  const [isLoop, isNone] = [(edge: number) => at(edges, edge).from === at(edges, edge).to, (edge: number) => !isLoop(edge)]
  const others = ownEdges.filter(isNone)
  const loopCount = new Int32Array(own.length)
  for (const edge of ownEdges.filter(isLoop)) {
    const i = place.get(at(edges, edge).from) as number
    loopCount[i] = at(loopCount, i) + 1
  }
  const turn = ({ x, y }: Point): Point => (direction === 'LR' ? { x: y, y: x } : { x, y })
  const boxes = own.map((node, i): PartBox => {
    const { width, height } = at(nodes, node)
    const [halfWidth, halfHeight] = direction === 'LR' ? [height / 2, width / 2] : [width / 2, height / 2]
    const reach = reachOfLoops(at(loopCount, i))
    return { left: halfWidth, right: halfWidth + reach, up: halfHeight, down: halfHeight + reach, halfWidth, halfHeight }
  })
  const partEdges = others.map((edge) => {
    const { from, to, label } = at(edges, edge)
    const { width, height } = label ?? { width: 0, height: 0 }
    const [labelAcross, labelAlong] = direction === 'LR' ? [height, width] : [width, height]
    return {
      from: place.get(from) as number,
      to: place.get(to) as number,
      labelAcross,
      labelAlong,
      labelAt: at(labels, edge) ?? 0.5,
    }
  })
  const part = drawPart({ boxes, edges: partEdges }, effort)
  let bounds: Bounds | null = null
  own.forEach((node, i) => {
    const { width, height } = at(nodes, node)
    drawn.centres[node] = turn(at(part.centres, i))
    bounds = unite(bounds, boundsAround(at(drawn.centres, node), width, height))
  })
  others.forEach((edge, i) => {
    const [startAnchor, endAnchor] = anchors[direction][at(part.back, i) ? 1 : 0]
    drawn.routes[edge] = { startAnchor, endAnchor, points: at(part.routes, i).map(turn) }
  })
  const loops = ownEdges.filter(isLoop)
  const routes = loopsOf(
    loops.map((edge) => at(edges, edge)),
    nodes,
    drawn.centres,
  )
  loops.forEach((edge, i) => {
    const route = routes.get(i)
    if (route !== undefined) drawn.routes[edge] = route
  })
  for (const edge of ownEdges) bounds = unite(bounds, boundsOf(at(drawn.routes, edge).points))
  return bounds as unknown as Bounds
}
