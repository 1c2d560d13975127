import type { Point } from '../geometry/bounds.ts'

/** Where a route begins or ends. */
export interface RouteEnd {
  readonly point: Point
  /** The unit vector along which a route leaves the shape; `null` for a free end, which a route may leave in any direction. */
  readonly direction: Point | null
  /** The name of the anchor. It is the same for all ends at one anchor of one shape, whose routes may share a trunk. A free end has its own name. */
  readonly anchor: string
}

export interface RouteRequest {
  readonly from: RouteEnd
  readonly to: RouteEnd
  /** The label of the route: its size, and the position of its middle as a share of the way. Later routes go around it where that is not far. */
  readonly label?: { readonly width: number; readonly height: number; readonly share: number }
}

/** A connector that is on the page already, by all its points. */
export interface TakenRoute {
  readonly points: readonly Point[]
  readonly startAnchor: string
  readonly endAnchor: string
}

/** The distances that a route keeps, in units of the page. */
export interface Care {
  readonly clearance: number
  readonly stub: number
  readonly lane: number
  /** Whether the route keeps away from other routes. */
  readonly mindsOthers: boolean
}

/** The distances to try: first those of the rules, then smaller ones. Even the smallest are better than a line through a shape. [DIAG-14, DIAG-15] */
export const cares: readonly Care[] = [
  { clearance: 15, stub: 20, lane: 12, mindsOthers: true },
  { clearance: 5, stub: 20, lane: 12, mindsOthers: true },
  { clearance: 5, stub: 8, lane: 6, mindsOthers: true },
  { clearance: 5, stub: 8, lane: 6, mindsOthers: false },
]

/** The far end of the first piece of a route, which leads straight away from the shape. */
export function stubOf({ point, direction }: RouteEnd, { stub }: Care): Point {
  return direction === null ? point : { x: point.x + direction.x * stub, y: point.y + direction.y * stub }
}
