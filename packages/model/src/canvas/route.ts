import { reachOfLoops } from './diagram/loop.ts'
import type { Bounds, Point } from './geometry/bounds.ts'
import { directWay } from './geometry/connector-line.ts'
import { boundsOfBox, type ShapeBox } from './geometry/shape-box.ts'

/** Where a route begins or ends. */
export interface RouteEnd {
  /** The point of the anchor, or of the free end. */
  readonly point: Point
  /** The direction in which the anchor is left, as a unit vector along an axis; `null` for the centre of a shape and for a free end. */
  readonly direction: Point | null
  /** The shape that the end is attached to; `null` for a free end. */
  readonly shapeId: string | null
  readonly anchor: string
  readonly box: ShapeBox | null
}

/** A connector or line that is not routed in this call. Routes keep away from it where they can. */
interface OtherLine {
  /** The points of the line, ends included. */
  readonly points: readonly Point[]
  readonly start: Pick<RouteEnd, 'shapeId' | 'anchor'>
  readonly end: Pick<RouteEnd, 'shapeId' | 'anchor'>
}

export interface RouteRequest {
  /** The id of the connector. */
  readonly id: string
  readonly start: RouteEnd
  readonly end: RouteEnd
}

/** The obstacles, groups and other lines around the routes of a call. */
export interface RouteScene {
  /** The bounds of every shape with a size, by id; a group is no obstacle, but its members are. */
  readonly obstacles: ReadonlyMap<string, Bounds>
  /** For each group that a route ends at, the ids of its members at any depth. A route stays outside such a group. */
  readonly membersOf: ReadonlyMap<string, ReadonlySet<string>>
  readonly lines: readonly OtherLine[]
}

/**
 * Finds orthogonal ways for connectors. Returns for each request the interior points of its way, which are its corners; `null` when no way around the
 * obstacles was found. Deterministic: the same calls in the same order give the same ways. [DIAG-14]
 */
export type Router = (requests: readonly RouteRequest[], scene: RouteScene) => readonly (readonly Point[] | null)[]

/** Returns the three corners of a loop at a shape, outside the shape as it is turned. `turn` counts the loops of the shape from 0. [DIAG-13] */
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

/** Returns the way with the fewest corners, whatever shapes lie in between. [CANVAS-22] */
export function directRoute({ start, end }: RouteRequest): readonly Point[] {
  if (start.box !== null && start.shapeId === end.shapeId) return loopCorners(start.box, start.point, end.point, 0)
  return directWay(start.point, end.point, axisOf(start.direction), axisOf(end.direction))
}

/** A router that ignores all obstacles. */
export const directRouter: Router = (requests) => requests.map(directRoute)

function axisOf(direction: Point | null): 'sideways' | 'upright' | null {
  if (direction === null) return null
  return direction.x === 0 ? 'upright' : 'sideways'
}
