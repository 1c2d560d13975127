/** A point on a page. */
export interface Place {
  readonly x: number
  readonly y: number
}

/** The result of any layout: boxes by their centres, edges as polylines from end to end. */
export interface Drawing {
  readonly boxes: readonly Box[]
  readonly lines: readonly Line[]
}

export interface Box extends Place {
  readonly width: number
  readonly height: number
}

/** An edge; `from` and `to` are indexes in `boxes`. */
export interface Line {
  readonly from: number
  readonly to: number
  readonly points: readonly Place[]
}

/** Removes repeated points of a polyline, and points on the straight line between their neighbours. */
export function withoutIdlePoints(points: readonly Place[]): Place[] {
  const kept: Place[] = []
  for (const point of points) {
    const last = kept.at(-1)
    if (last !== undefined && Math.hypot(point.x - last.x, point.y - last.y) < 0.01) continue
    const before = kept.at(-2)
    if (last !== undefined && before !== undefined && onTheWay(before, last, point)) kept.pop()
    kept.push(point)
  }
  return kept
}

function onTheWay(a: Place, b: Place, c: Place): boolean {
  const cross = (b.x - a.x) * (c.y - b.y) - (b.y - a.y) * (c.x - b.x)
  const dot = (b.x - a.x) * (c.x - b.x) + (b.y - a.y) * (c.y - b.y)
  return Math.abs(cross) < 0.01 * Math.hypot(b.x - a.x, b.y - a.y) * Math.hypot(c.x - b.x, c.y - b.y) + 1e-9 && dot > 0
}
