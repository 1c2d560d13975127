import { type Box, type Drawing, type Line, type Place, withoutIdlePoints } from './drawing.ts'

/** What is measured on a drawing. Computed without any code of the layouts. */
export interface Counts {
  /** Pairs of boxes that overlap. */
  readonly overlaps: number
  /** Pairs of an edge and a box that the edge passes through without ending there. */
  readonly throughNodes: number
  /** Pairs of edges that overlap anywhere except on a common trunk at an end that they share. */
  readonly collinear: number
  /** Places where two edges cross, counted for each pair of edges. */
  readonly crossings: number
  /** Number of corners of all edges. */
  readonly bends: number
  /** Total length of all edges. */
  readonly length: number
  /** Area of the bounding box of everything. */
  readonly area: number
}

/** Coordinates that differ by less than this count as equal, because other layouts return fractions. */
const NEAR = 0.5

export function count(drawing: Drawing): Counts {
  const lines = drawing.lines.map((line) => ({ ...line, points: withoutIdlePoints(line.points) }))
  const pairs = countPairs(lines)
  return {
    overlaps: countOverlaps(drawing.boxes),
    throughNodes: countThroughNodes(lines, drawing.boxes),
    collinear: pairs.collinear,
    crossings: pairs.crossings,
    bends: lines.reduce((sum, { points }) => sum + Math.max(0, points.length - 2), 0),
    length: lines.reduce((sum, { points }) => sum + lengthOf(points), 0),
    area: areaOf(drawing),
  }
}

/** Whether a drawing is good enough to be compared with: nothing overlaps anything else. */
export function isFair({ overlaps, throughNodes, collinear }: Counts): boolean {
  return overlaps === 0 && throughNodes === 0 && collinear === 0
}

/** The mean distance between the boxes that both drawings have, after moving one drawing so that their centres of gravity coincide. */
export function displacement(a: Drawing, b: Drawing): number {
  const count = a.boxes.length
  const mean = (drawing: Drawing, axis: 'x' | 'y') => drawing.boxes.reduce((sum, box) => sum + box[axis], 0) / count
  const [dx, dy] = [mean(b, 'x') - mean(a, 'x'), mean(b, 'y') - mean(a, 'y')]
  let sum = 0
  a.boxes.forEach((box, i) => {
    const other = b.boxes[i] as Box
    sum += Math.hypot(other.x - dx - box.x, other.y - dy - box.y)
  })
  return sum / count
}

function countOverlaps(boxes: readonly Box[]): number {
  let found = 0
  for (let i = 0; i < boxes.length; i++)
    for (let j = i + 1; j < boxes.length; j++) {
      const [a, b] = [boxes[i] as Box, boxes[j] as Box]
      const across = Math.abs(a.x - b.x) < (a.width + b.width) / 2 - NEAR
      if (across && Math.abs(a.y - b.y) < (a.height + b.height) / 2 - NEAR) found++
    }
  return found
}

function countThroughNodes(lines: readonly Line[], boxes: readonly Box[]): number {
  let found = 0
  for (const { from, to, points } of lines)
    boxes.forEach((box, i) => {
      if (i === from || i === to) return
      for (let k = 1; k < points.length; k++)
        if (entersBox(points[k - 1] as Place, points[k] as Place, box)) {
          found++
          return
        }
    })
  return found
}

/** Whether part of a straight piece is inside a box (clipped at the four sides). */
function entersBox(a: Place, b: Place, box: Box): boolean {
  let [first, last] = [0, 1]
  const sides = [
    [b.x - a.x, box.x - box.width / 2 + NEAR - a.x, box.x + box.width / 2 - NEAR - a.x],
    [b.y - a.y, box.y - box.height / 2 + NEAR - a.y, box.y + box.height / 2 - NEAR - a.y],
  ] as const
  for (const [step, low, high] of sides) {
    if (Math.abs(step) < 1e-9) {
      if (low > 0 || high < 0) return false
      continue
    }
    const [t1, t2] = [low / step, high / step]
    first = Math.max(first, Math.min(t1, t2))
    last = Math.min(last, Math.max(t1, t2))
  }
  return last > first
}

interface Piece {
  readonly line: number
  readonly a: Place
  readonly b: Place
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

function countPairs(lines: readonly Line[]): { collinear: number; crossings: number } {
  const pieces: Piece[] = lines.flatMap(({ points }, line) =>
    points.slice(1).map((b, i) => {
      const a = points[i] as Place
      return {
        line,
        a,
        b,
        left: Math.min(a.x, b.x),
        right: Math.max(a.x, b.x),
        top: Math.min(a.y, b.y),
        bottom: Math.max(a.y, b.y),
      }
    }),
  )
  pieces.sort((p, q) => p.left - q.left)
  let crossings = 0
  const overlaid = new Map<string, [number, number, [Piece, Piece][]]>()
  for (let i = 0; i < pieces.length; i++) {
    const p = pieces[i] as Piece
    for (let j = i + 1; j < pieces.length; j++) {
      const q = pieces[j] as Piece
      if (q.left > p.right + NEAR) break
      if (p.line === q.line || p.top > q.bottom + NEAR || q.top > p.bottom + NEAR) continue
      if (lieOnEachOther(p, q)) {
        const [low, high] = [Math.min(p.line, q.line), Math.max(p.line, q.line)]
        const entry = overlaid.get(`${low} ${high}`) ?? [low, high, []]
        entry[2].push([p, q])
        overlaid.set(`${low} ${high}`, entry)
      } else if (cross(p, q)) crossings++
    }
  }
  let collinear = 0
  for (const [low, high, found] of overlaid.values()) {
    const trunks = trunksOf(lines[low] as Line, lines[high] as Line)
    if (found.some((pair) => !isOnTrunk(pair, trunks))) collinear++
  }
  return { collinear, crossings }
}

/** Whether two pieces are on one line and overlap. */
function lieOnEachOther(p: Piece, q: Piece): boolean {
  const [dx, dy] = [p.b.x - p.a.x, p.b.y - p.a.y]
  const length = Math.hypot(dx, dy)
  const away = (point: Place) => Math.abs((point.x - p.a.x) * dy - (point.y - p.a.y) * dx) / length
  if (away(q.a) > NEAR || away(q.b) > NEAR) return false
  const along = (point: Place) => ((point.x - p.a.x) * dx + (point.y - p.a.y) * dy) / length
  const [low, high] = [Math.min(along(q.a), along(q.b)), Math.max(along(q.a), along(q.b))]
  return Math.min(high, length) - Math.max(low, 0) > NEAR
}

/** Whether each piece has its ends on both sides of the other. */
function cross(p: Piece, q: Piece): boolean {
  const side = (a: Place, b: Place, c: Place) => (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
  const [d1, d2] = [side(p.a, p.b, q.a), side(p.a, p.b, q.b)]
  const [d3, d4] = [side(q.a, q.b, p.a), side(q.a, q.b, p.b)]
  return d1 * d2 < -1e-6 && d3 * d4 < -1e-6
}

/** The common parts of two edges at the ends that they share, as points starting at the end. */
function trunksOf(e: Line, f: Line): Place[][] {
  const trunks: Place[][] = []
  for (const p of [e.points, e.points.toReversed()])
    for (const q of [f.points, f.points.toReversed()]) {
      const [start, other] = [p[0], q[0]]
      if (start !== undefined && other !== undefined && near(start, other)) trunks.push(commonStretch(p, q))
    }
  return trunks
}

function near(a: Place, b: Place): boolean {
  return Math.abs(a.x - b.x) < NEAR && Math.abs(a.y - b.y) < NEAR
}

function commonStretch(p: readonly Place[], q: readonly Place[]): Place[] {
  const stretch: Place[] = [p[0] as Place]
  for (let i = 1; i < Math.min(p.length, q.length); i++) {
    const [from, a, b] = [stretch.at(-1) as Place, p[i] as Place, q[i] as Place]
    const [la, lb] = [Math.hypot(a.x - from.x, a.y - from.y), Math.hypot(b.x - from.x, b.y - from.y)]
    const share = (a.x - from.x) * (b.x - from.x) + (a.y - from.y) * (b.y - from.y)
    if (share < la * lb * 0.9999) break
    stretch.push(la < lb ? a : b)
    if (!near(a, b)) break
  }
  return stretch
}

/** Whether the overlap of two pieces is part of a trunk. */
function isOnTrunk([p, q]: readonly [Piece, Piece], trunks: readonly (readonly Place[])[]): boolean {
  const left = Math.max(p.left, q.left)
  const right = Math.min(p.right, q.right)
  const top = Math.max(p.top, q.top)
  const bottom = Math.min(p.bottom, q.bottom)
  return trunks.some((trunk) =>
    trunk.some((b, i) => {
      const a = trunk[i - 1]
      if (a === undefined) return false
      return (
        Math.min(a.x, b.x) <= left + NEAR &&
        Math.max(a.x, b.x) >= right - NEAR &&
        Math.min(a.y, b.y) <= top + NEAR &&
        Math.max(a.y, b.y) >= bottom - NEAR
      )
    }),
  )
}

function lengthOf(points: readonly Place[]): number {
  return points.reduce((sum, point, i) => {
    const before = points[i - 1]
    return before === undefined ? 0 : sum + Math.hypot(point.x - before.x, point.y - before.y)
  }, 0)
}

function areaOf({ boxes, lines }: Drawing): number {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  const reach = (x: number, y: number) => {
    left = Math.min(left, x)
    top = Math.min(top, y)
    right = Math.max(right, x)
    bottom = Math.max(bottom, y)
  }
  for (const { x, y, width, height } of boxes) {
    reach(x - width / 2, y - height / 2)
    reach(x + width / 2, y + height / 2)
  }
  for (const { points } of lines) for (const { x, y } of points) reach(x, y)
  return Math.max(0, right - left) * Math.max(0, bottom - top)
}
