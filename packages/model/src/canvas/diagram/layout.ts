import { type Bounds, boundsAround, boundsOf, grown, overlaps, type Point } from '../geometry/bounds.ts'
import { polylinePassesThrough } from '../geometry/polyline.ts'
import { at } from './at.ts'
import type { DiagramEdge, DiagramLayout, DiagramRequest } from './diagram.ts'
import { boundsOfDrawn, type Drawn, movedBy } from './drawn.ts'
import { Effort } from './effort.ts'
import { drawGrid } from './grid.ts'
import { labelPositions } from './labels.ts'
import { drawLayered } from './layered/draw-layered.ts'
import { cheapestCorner, cornerBeside, cornerOutside, isBeside } from './place.ts'
import { anchorName, routeEdges } from './route-edges.ts'

/** The steps that one layout may spend; they take less than 1 s on one core. */
const STEPS = 20_000_000
/** The share of the remaining steps that is set aside for labels. Placing labels asks whether to stop, but goes on when these steps are used up. */
const FOR_LABELS = 0.1
/** The least distance between a placed node and the shapes around it. [DIAG-14] */
const CLEARANCE = 15

/**
 * Places the nodes of a diagram and routes its edges. The same request gives the same layout. Calls `shouldStop` now and then, and throws `LayoutStopped`
 * when that returns true. [DIAG-3 to DIAG-18, AG-106, AG-107]
 */
export function layoutDiagram(request: DiagramRequest, shouldStop: () => boolean = () => false): DiagramLayout {
  const effort = new Effort(STEPS, shouldStop)
  const drawn = hasFixed(request) ? aroundFixed(request, effort) : atCorner(request, draw(request, request.edges, effort))
  return finished(request, drawn, effort.share(FOR_LABELS))
}

/** The steps that `refitted` may spend: less than 0.1 s, because the document waits for it. */
const STEPS_TO_FIT = 1_000_000
const POINTS_TO_FIT = 10_000

/**
 * Fits a layout to a page that has changed since the layout was made. Without fixed nodes, the whole drawing moves to a free place. With fixed nodes, the
 * other nodes keep their places when these are still free, and only edges that end at a fixed node are routed again. [AG-106, AG-107]
 */
export function refitted(request: DiagramRequest, layout: DiagramLayout): DiagramLayout {
  const effort = new Effort(STEPS_TO_FIT, () => false)
  const old: Drawn = {
    centres: [...layout.centres],
    routes: layout.edges.map(({ startAnchor, endAnchor, start, waypoints, end, isClear }) => {
      return { startAnchor, endAnchor, points: [start, ...(waypoints ?? []), end], ...(isClear === false && { isClear }) }
    }),
  }
  const labels = effort.share(FOR_LABELS)
  if (!hasFixed(request)) return finished(request, atCorner(request, old), labels)
  const parts = partsOf(request)
  const drawn = {
    centres: parts.free.map((node) => at(old.centres, node)),
    routes: parts.own.map((edge) => at(old.routes, edge)),
  }
  const placed = parts.free.length === 0 ? null : keptOrMoved(request, parts, drawn, layout.isNear)
  return finished(request, withRest(request, parts, placed, effort, POINTS_TO_FIT), labels)
}

/**
 * Keeps the placed nodes and the edges between these nodes where they are if their place is free and as near to `near` as before. Otherwise moves the nodes
 * and edges beside `near` or below everything. [AG-107]
 */
function keptOrMoved(request: DiagramRequest, { free }: Parts, drawn: Drawn, isNear: boolean): PlacedDrawing {
  const nodes = free.map((node) => at(request.nodes, node))
  const bounds = boundsOfDrawn(drawn, nodes)
  const walls = [...fixedBoxes(request), ...request.obstacles]
  const inside = walls.filter((wall) => overlaps(wall, grown(bounds, CLEARANCE)))
  const isCovered = inside.some(
    (wall) =>
      nodes.some(({ width, height }, i) => overlaps(grown(boundsAround(at(drawn.centres, i), width, height), CLEARANCE), wall)) ||
      drawn.routes.some(({ points }) => polylinePassesThrough(points, wall)),
  )
  const isLeft = isNear && request.near !== null && !isBeside(request.near, bounds)
  if (!isCovered && !isLeft) return { ...drawn, isNear }
  return atCorner({ ...request, nodes, obstacles: walls }, drawn)
}

function hasFixed({ nodes }: DiagramRequest): boolean {
  return nodes.some((node) => node.at !== null)
}

/** Makes the layout of a drawing: adds the positions of labels, and leaves waypoints out with straight routing. */
function finished(request: DiagramRequest, drawn: PlacedDrawing, effort: Effort): DiagramLayout {
  const boxes = [
    ...request.obstacles,
    ...request.nodes.map(({ width, height }, node) => boundsAround(at(drawn.centres, node), width, height)),
  ]
  const shown = drawn.routes.map(({ points }) =>
    request.routing === 'straight' ? [at(points, 0), at(points, points.length - 1)] : points,
  )
  const labels = labelPositions(request.edges, shown, boxes, effort)
  return {
    centres: drawn.centres,
    edges: drawn.routes.map(({ startAnchor, endAnchor, points, isClear }, edge) => ({
      startAnchor,
      endAnchor,
      start: at(points, 0),
      end: at(points, points.length - 1),
      waypoints: request.routing === 'straight' ? null : points.slice(1, -1),
      ...(isClear === false && request.routing !== 'straight' && { isClear }),
      labelPosition: at(labels, edge),
    })),
    bounds: boundsOfDrawn(drawn, request.nodes),
    isNear: drawn.isNear,
  }
}

interface PlacedDrawing extends Drawn {
  readonly isNear: boolean
}

/** Moves a drawing without fixed nodes as a whole: beside `near` if there is room, else outside of everything on the page. */
function atCorner(request: Pick<DiagramRequest, 'nodes' | 'obstacles' | 'taken' | 'near'>, drawn: Drawn): PlacedDrawing {
  const bounds = boundsOfDrawn(drawn, request.nodes)
  const room = { width: bounds.right - bounds.left, height: bounds.bottom - bounds.top }
  const page = pageOf(request)
  const beside = request.near === null ? null : cornerBeside(request.near, room, page)
  const { x, y } = beside ?? cornerOutside(page, room)
  return { ...movedBy(drawn, x - bounds.left, y - bounds.top), isNear: request.near === null || beside !== null }
}

function draw(
  { nodes, layout, direction }: Pick<DiagramRequest, 'nodes' | 'layout' | 'direction'>,
  edges: readonly DiagramEdge[],
  effort: Effort,
): Drawn {
  return layout === 'grid' ? drawGrid(nodes, edges, direction, effort) : drawLayered(nodes, edges, direction, effort)
}

function pageOf({ obstacles, taken }: Pick<DiagramRequest, 'obstacles' | 'taken'>): readonly Bounds[] {
  return [...obstacles, ...taken.flatMap(({ points }) => boundsOf(points) ?? [])]
}

/**
 * Lays out the nodes that are not fixed as a drawing of their own, places this drawing close to the fixed nodes at the other ends of its edges, and routes
 * the other edges around everything. [AG-106]
 */
function aroundFixed(request: DiagramRequest, effort: Effort): PlacedDrawing {
  const parts = partsOf(request)
  return withRest(request, parts, parts.free.length === 0 ? null : placedFree(request, parts, effort), effort)
}

/** Indexes of the nodes that are not fixed (`free`), of the edges between two of these (`own`), and of all other edges (`rest`). */
interface Parts {
  readonly free: readonly number[]
  readonly own: readonly number[]
  readonly rest: readonly number[]
}

function partsOf({ nodes, edges }: DiagramRequest): Parts {
  const isFree = ({ from, to }: DiagramEdge) => at(nodes, from).at === null && at(nodes, to).at === null
  return {
    free: nodes.flatMap((node, i) => (node.at === null ? [i] : [])),
    own: edges.flatMap((edge, i) => (isFree(edge) ? [i] : [])),
    rest: edges.flatMap((edge, i) => (isFree(edge) ? [] : [i])),
  }
}

/** Joins fixed and placed nodes into one drawing, and routes the other edges around them. */
function withRest(
  request: DiagramRequest,
  { free, own, rest }: Parts,
  placed: PlacedDrawing | null,
  effort: Effort,
  maxPoints?: number,
): PlacedDrawing {
  const { nodes, edges, obstacles, taken, routing } = request
  const centres = nodes.map((node) => node.at ?? { x: 0, y: 0 })
  const routes: Drawn['routes'] = []
  if (placed !== null) {
    free.forEach((node, i) => (centres[node] = at(placed.centres, i)))
    own.forEach((edge, i) => (routes[edge] = at(placed.routes, i)))
  }
  const others = own.map((edge) => {
    const [{ from, to }, { startAnchor, endAnchor, points }] = [at(edges, edge), at(routes, edge)]
    return { points, startAnchor: anchorName(at(nodes, from), startAnchor), endAnchor: anchorName(at(nodes, to), endAnchor) }
  })
  const found = routeEdges(
    rest.map((edge) => at(edges, edge)),
    { nodes, centres, obstacles, taken: [...taken, ...others] },
    effort,
    { strict: false, maxPoints, endsOnly: routing === 'straight' },
  )
  rest.forEach((edge, i) => (routes[edge] = at(found ?? [], i)))
  return { centres, routes, isNear: placed?.isNear ?? true }
}

function fixedBoxes({ nodes }: DiagramRequest): readonly Bounds[] {
  return nodes.flatMap(({ at: centre, width, height }) => (centre === null ? [] : [boundsAround(centre, width, height)]))
}

function placedFree(request: DiagramRequest, { free, own, rest }: Parts, effort: Effort): PlacedDrawing {
  const { nodes, edges, near } = request
  const place = new Map(free.map((node, i) => [node, i]))
  const numberOf = (node: number) => place.get(node) as number
  const inner = own.map((i) => {
    const { from, to, label } = at(edges, i)
    return { from: numberOf(from), to: numberOf(to), label }
  })
  const nodesOfIt = free.map((node) => at(nodes, node))
  const layout = inner.length > 0 ? request.layout : 'grid'
  const drawn = draw({ ...request, layout, nodes: nodesOfIt }, inner, effort)
  const bounds = boundsOfDrawn(drawn, nodesOfIt)
  const room = { width: bounds.right - bounds.left, height: bounds.bottom - bounds.top }
  const fixed = fixedBoxes(request)
  const page = [...fixed, ...pageOf(request)]
  /** Corners for the drawing: with the x, or with the y, of such a corner one edge to a fixed node is straight. */
  const straightLines = (): readonly Point[] =>
    rest.flatMap((edge) => {
      const { from, to } = at(edges, edge)
      const [one, other] = [at(nodes, from).at, at(nodes, to).at]
      const centre = one ?? other
      if (centre === null || (one !== null && other !== null)) return []
      const own = at(drawn.centres, numberOf(one === null ? from : to))
      return [{ x: centre.x - own.x + bounds.left, y: centre.y - own.y + bounds.top }]
    })
  /** The total length of the edges to fixed nodes, measured along the axes, when the drawing stands at a corner. */
  const cost = (corner: Point): number => {
    let sum = 0
    for (const edge of rest) {
      const { from, to } = at(edges, edge)
      const ends = [from, to].map((node) => {
        const centre = at(nodes, node).at
        if (centre !== null) return centre
        const { x, y } = at(drawn.centres, numberOf(node))
        return { x: x + corner.x - bounds.left, y: y + corner.y - bounds.top }
      })
      const [a, b] = [at(ends, 0), at(ends, 1)]
      sum += Math.abs(a.x - b.x) + Math.abs(a.y - b.y)
    }
    return sum
  }
  const beside = near === null ? null : cornerBeside(near, room, page, { lines: straightLines(), cost })
  const { x, y } = beside ?? cheapestCorner(fixed, room, page, cost)
  return { ...movedBy(drawn, x - bounds.left, y - bounds.top), isNear: near === null || beside !== null }
}
