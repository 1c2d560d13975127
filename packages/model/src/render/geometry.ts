export interface Point {
  readonly x: number
  readonly y: number
}

/** An upright rectangle by its corners. */
export interface Bounds {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

export function boundsOf(points: readonly Point[]): Bounds | null {
  let found: { left: number; top: number; right: number; bottom: number } | null = null
  for (const { x, y } of points) {
    if (found === null) found = { left: x, top: y, right: x, bottom: y }
    found.left = Math.min(found.left, x)
    found.top = Math.min(found.top, y)
    found.right = Math.max(found.right, x)
    found.bottom = Math.max(found.bottom, y)
  }
  return found
}

export function unite(a: Bounds | null, b: Bounds | null): Bounds | null {
  if (a === null || b === null) return a ?? b
  return {
    left: Math.min(a.left, b.left),
    top: Math.min(a.top, b.top),
    right: Math.max(a.right, b.right),
    bottom: Math.max(a.bottom, b.bottom),
  }
}

/** `point` turned around `centre`, clockwise as SVG turns. */
export function rotated(point: Point, centre: Point, degrees: number): Point {
  if (degrees === 0) return point
  const angle = (degrees * Math.PI) / 180
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
  const [dx, dy] = [point.x - centre.x, point.y - centre.y]
  return { x: centre.x + dx * cos - dy * sin, y: centre.y + dx * sin + dy * cos }
}

/** The upright rectangle around one that is turned around `centre`. */
export function boundsOfTurned({ left, top, right, bottom }: Bounds, centre: Point, degrees: number): Bounds {
  const corners = [left, right].flatMap((x) => [top, bottom].map((y) => rotated({ x, y }, centre, degrees)))
  return boundsOf(corners) as Bounds
}

export function distance(a: Point, b: Point): number {
  return Math.hypot(b.x - a.x, b.y - a.y)
}

/** The place on the way from `a` to `b`, 0 to 1. */
export function between(a: Point, b: Point, share: number): Point {
  return { x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share }
}

/** The place at a share of a polyline's length. */
export function alongPolyline(points: readonly Point[], share: number): Point {
  let total = 0
  for (let i = 1; i < points.length; i++) total += distance(points[i - 1] as Point, points[i] as Point)
  let left = total * share
  for (let i = 1; i < points.length; i++) {
    const [a, b] = [points[i - 1] as Point, points[i] as Point]
    const length = distance(a, b)
    if (left <= length && length > 0) return between(a, b, left / length)
    left -= length
  }
  return points.at(-1) ?? { x: 0, y: 0 }
}
