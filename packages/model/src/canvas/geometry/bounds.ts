/** A place on a page, in its units; y grows downwards. */
export interface Point {
  readonly x: number
  readonly y: number
}

/** An upright rectangle by its sides. */
export interface Bounds {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

/** The smallest rectangle around points; `null` for none. */
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

/** The smallest rectangle around two rectangles; `null` stands for a missing one. */
export function unite(a: Bounds | null, b: Bounds | null): Bounds | null {
  if (a === null || b === null) return a ?? b
  return {
    left: Math.min(a.left, b.left),
    top: Math.min(a.top, b.top),
    right: Math.max(a.right, b.right),
    bottom: Math.max(a.bottom, b.bottom),
  }
}

/** Returns the rectangle with this centre and size. */
export function boundsAround({ x, y }: Point, width: number, height: number): Bounds {
  return { left: x - width / 2, top: y - height / 2, right: x + width / 2, bottom: y + height / 2 }
}

/** Returns the centre of a rectangle. Adds halves, because the sum of the largest numbers would be Infinity. */
export function centreOfBounds({ left, top, right, bottom }: Bounds): Point {
  return { x: left / 2 + right / 2, y: top / 2 + bottom / 2 }
}

/** The rectangle grown by `by` on every side; a negative number shrinks it. */
export function grown({ left, top, right, bottom }: Bounds, by: number): Bounds {
  return { left: left - by, top: top - by, right: right + by, bottom: bottom + by }
}

export function moved({ left, top, right, bottom }: Bounds, dx: number, dy: number): Bounds {
  return { left: left + dx, top: top + dy, right: right + dx, bottom: bottom + dy }
}

/** Whether two rectangles share some area; touching sides share none. */
export function overlaps(a: Bounds, b: Bounds): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

/** Whether `inner` lies in `outer`; sides may touch. */
export function encloses(outer: Bounds, inner: Bounds): boolean {
  return outer.left <= inner.left && outer.right >= inner.right && outer.top <= inner.top && outer.bottom >= inner.bottom
}

/** Whether a point lies in a rectangle or on its sides. */
export function holds({ left, top, right, bottom }: Bounds, { x, y }: Point): boolean {
  return left <= x && x <= right && top <= y && y <= bottom
}

/** Turns `point` around `centre`, clockwise as SVG turns. */
export function rotated(point: Point, centre: Point, degrees: number): Point {
  if (degrees === 0) return point
  const [cos, sin] = turnOf(degrees)
  const [dx, dy] = [point.x - centre.x, point.y - centre.y]
  return { x: centre.x + dx * cos - dy * sin, y: centre.y + dx * sin + dy * cos }
}

/** The cosine and sine of an angle; exact for right angles, so that straight sides stay straight. */
function turnOf(degrees: number): readonly [cos: number, sin: number] {
  const quarters = (((degrees / 90) % 4) + 4) % 4
  if (Number.isInteger(quarters)) return rightAngles[quarters] ?? [1, 0]
  const angle = (degrees * Math.PI) / 180
  return [Math.cos(angle), Math.sin(angle)]
}

const rightAngles: readonly (readonly [cos: number, sin: number])[] = [
  [1, 0],
  [0, 1],
  [-1, 0],
  [0, -1],
]

/** The upright rectangle around a rectangle that is turned around `centre`. */
export function boundsOfTurned({ left, top, right, bottom }: Bounds, centre: Point, degrees: number): Bounds {
  const corners = [left, right].flatMap((x) => [top, bottom].map((y) => rotated({ x, y }, centre, degrees)))
  return boundsOf(corners) as Bounds
}
