import type { Bounds, Point } from './bounds.ts'
import { between, distance, passesThrough } from './segment.ts'

export type Segment = readonly [Point, Point]

/** Returns the straight pieces of a polyline, in order; no piece for a single point. */
export function segmentsOf(points: readonly Point[]): readonly Segment[] {
  return points.slice(1).map((point, i) => [points[i] as Point, point])
}

export function lengthOf(points: readonly Point[]): number {
  return segmentsOf(points).reduce((total, [a, b]) => total + distance(a, b), 0)
}

/** The place at a share, 0 to 1, of a polyline's length; (0, 0) without points. */
export function alongPolyline(points: readonly Point[], share: number): Point {
  let left = lengthOf(points) * share
  for (const [a, b] of segmentsOf(points)) {
    const length = distance(a, b)
    if (left <= length && length > 0) return between(a, b, left / length)
    left -= length
  }
  return points.at(-1) ?? { x: 0, y: 0 }
}

/** Returns the same way without repeated points and without points in the middle of a straight stretch. [DIAG-14] */
export function simplified(points: readonly Point[]): readonly Point[] {
  const kept: Point[] = []
  for (const point of points) {
    const last = kept.at(-1)
    if (last !== undefined && last.x === point.x && last.y === point.y) continue
    const before = kept.at(-2)
    if (before !== undefined && last !== undefined && isOnTheWay(before, last, point)) kept.pop()
    kept.push(point)
  }
  return kept
}

/** Whether the way from `a` over `b` to `c` is straight and does not turn back. */
function isOnTheWay(a: Point, b: Point, c: Point): boolean {
  const [dx, dy, ex, ey] = [b.x - a.x, b.y - a.y, c.x - b.x, c.y - b.y]
  return dx * ey === dy * ex && dx * ex + dy * ey > 0
}

/** Whether every piece is parallel to an axis. [DIAG-14] */
export function isOrthogonal(points: readonly Point[]): boolean {
  return segmentsOf(points).every(([a, b]) => a.x === b.x || a.y === b.y)
}

/** Whether a way comes nearer to a box than `clearance`. */
export function polylinePassesThrough(points: readonly Point[], box: Bounds, clearance = 0): boolean {
  return segmentsOf(points).some(([a, b]) => passesThrough(a, b, box, clearance))
}
