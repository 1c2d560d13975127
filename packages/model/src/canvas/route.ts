import { reachOfLoops } from './diagram/loop.ts'
import type { Bounds, Point } from './geometry/bounds.ts'
import { directWay } from './geometry/connector-line.ts'
import { boundsOfBox, type ShapeBox } from './geometry/shape-box.ts'

/** Where a route begins or ends. */
export interface RouteEnd {
  /** The anchor, or where a free end lies. */
  readonly point: Point
  /** The direction in which the anchor is left, as a unit vector along an axis; `null` for the centre of a shape and for a free end. */
  readonly direction: Point | null
  /** The shape that the end is attached to; `null` for a free end. */
  readonly shapeId: string | null
  readonly anchor: string
  readonly box: ShapeBox | null
}

/** A connector that stays as it is. */
interface OtherLine {
  /** Its way, ends included. */
  readonly points: readonly Point[]
  readonly start: Pick<RouteEnd, 'shapeId' | 'anchor'>
  readonly end: Pick<RouteEnd, 'shapeId' | 'anchor'>
}

export interface RouteRequest {
  /** The connector. */
  readonly id: string
  readonly start: RouteEnd
  readonly end: RouteEnd
}

/** What lies around the routes. */
export interface RouteScene {
  /** The bounds of every shape with a size, by id; groups are no obstacles, their members are. */
  readonly obstacles: ReadonlyMap<string, Bounds>
  /** The members, at any depth, of each group that a route ends at: a route may pass these. */
  readonly membersOf: ReadonlyMap<string, ReadonlySet<string>>
  readonly lines: readonly OtherLine[]
}

/**
 * Finds orthogonal ways for connectors: for each request its interior points, without those in the middle of a straight stretch; `null` where there is
 * no way around the obstacles. Pure and deterministic. [DIAG-14]
 */
export type Router = (requests: readonly RouteRequest[], scene: RouteScene) => readonly (readonly Point[] | null)[]

/** The corners of the loop that is `turn`-th at a shape, from 0, outside of the shape as it lies on the page. [DIAG-13] */
export function loopCorners(box: ShapeBox, start: Point, end: Point, turn: number): readonly Point[] {
  const bounds = boundsOfBox(box)
  const out = reachOfLoops(turn + 1)
  const [right, bottom] = [bounds.right + out, bounds.bottom + out]
  return [
    { x: right, y: start.y },
    { x: right, y: bottom },
    { x: end.x, y: bottom },
  ]
}

/** The way with the fewest corners, whatever lies in between. [CANVAS-22] */
export function directRoute({ start, end }: RouteRequest): readonly Point[] {
  if (start.box !== null && start.shapeId === end.shapeId) return loopCorners(start.box, start.point, end.point, 0)
  return directWay(start.point, end.point, axisOf(start.direction), axisOf(end.direction))
}

/** A router that looks at no obstacle. */
export const directRouter: Router = (requests) => requests.map(directRoute)

function axisOf(direction: Point | null): 'sideways' | 'upright' | null {
  if (direction === null) return null
  return direction.x === 0 ? 'upright' : 'sideways'
}
