import { type Bounds, encloses, grown, holds, type Point, rotated } from '../canvas/geometry/bounds.ts'
import { segmentsOf } from '../canvas/geometry/polyline.ts'
import { between, distance } from '../canvas/geometry/segment.ts'
import type { ShapeBox } from '../canvas/geometry/shape-box.ts'
import { type DrawnShape, roomOf } from './draw-shape.ts'

/**
 * Whether a point of the page hits a shape as it is drawn: in a filled box, on the edge of a box without fill, near the way of a connector or on its label.
 * A point at most `reach` units of the page away from the shape hits it too. Pass a larger `reach` when the page is shown smaller, because
 * a pixel of the pointer then covers more of the page.
 */
export function isHit(drawn: DrawnShape, point: Point, reach: number): boolean {
  const near = reach + drawn.strokeWidth / 2
  if (!holds(grown(roomOf(drawn), near), point)) return false
  if (drawn.label !== null && holds(drawn.label.bounds, point)) return true
  if (drawn.way !== null) return distanceToWay(point, drawn.way) <= near
  if (drawn.box === null || !isInside(drawn.box, point, near)) return false
  return drawn.isFilled || !isInside(drawn.box, point, -near)
}

/** Whether the whole shape lies in a rectangle, such as one that a person draws to select shapes. */
export function isEnclosed(drawn: DrawnShape, area: Bounds): boolean {
  return encloses(area, drawn.bounds)
}

function isInside({ centre, width, height, rotation, outline }: ShapeBox, point: Point, around: number): boolean {
  const { x, y } = rotated(point, centre, -rotation)
  const [dx, dy] = [Math.abs(x - centre.x), Math.abs(y - centre.y)]
  const [halfWidth, halfHeight] = [width / 2 + around, height / 2 + around]
  if (halfWidth < 0 || halfHeight < 0) return false
  if (outline === 'rectangle') return dx <= halfWidth && dy <= halfHeight
  return Math.hypot(dx / (halfWidth || 1), dy / (halfHeight || 1)) <= 1
}

/** The distance of a point from the nearest point of a way; infinite for a way without points. */
export function distanceToWay(point: Point, way: readonly Point[]): number {
  let least = way.length === 1 ? distance(point, way[0] as Point) : Number.POSITIVE_INFINITY
  for (const [a, b] of segmentsOf(way)) least = Math.min(least, distance(point, nearestOn(a, b, point)))
  return least
}

function nearestOn(a: Point, b: Point, point: Point): Point {
  const [dx, dy] = [b.x - a.x, b.y - a.y]
  const square = dx * dx + dy * dy
  if (square === 0) return a
  const share = ((point.x - a.x) * dx + (point.y - a.y) * dy) / square
  return between(a, b, Math.min(Math.max(share, 0), 1))
}
