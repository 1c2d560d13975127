import { type Drawing, type Place, withoutIdlePoints } from './drawing.ts'

/** A label of an edge: its room, and its place as a share of the edge's length. */
export interface EdgeLabel {
  readonly width: number
  readonly height: number
  readonly position: number
}

/** How often labels of edges cover something. Computed without any code of the layouts. */
export interface LabelCounts {
  readonly labels: number
  /** Labels that are not at the position that the rule gives them. [DIAG-12] */
  readonly moved: number
  /** Labels that lie on a box. */
  readonly onBoxes: number
  /** Labels that lie on another label. */
  readonly onLabels: number
  /** Labels that lie on a line of another edge. */
  readonly onLines: number
  /** Labels that lie on the last 10 units of their own edge, where its arrow is. */
  readonly onArrows: number
}

/** Positions of the labels of edges between the same two nodes, in turn. [DIAG-12] */
const POSITIONS = [0.5, 0.35, 0.65, 0.25, 0.75]
const ARROW = 10
/** Coordinates that overlap by less than this touch. */
const NEAR = 0.5

export function countLabels({ boxes, lines }: Drawing, labels: readonly (EdgeLabel | null)[]): LabelCounts {
  const ways = lines.map(({ points }) => withoutIdlePoints(points))
  const turns = new Map<string, number>()
  const placed = labels.map((label, i) => {
    const line = lines[i]
    if (line === undefined) return null
    const pair = [line.from, line.to].sort((a, b) => a - b).join(' ')
    const turn = turns.get(pair) ?? 0
    turns.set(pair, turn + 1)
    if (label === null) return null
    const middle = placeAt(ways[i] as Place[], label.position)
    return { rect: rectAround(middle, label.width, label.height), moved: label.position !== POSITIONS[turn % POSITIONS.length] }
  })
  const rects = boxes.map((box) => rectAround(box, box.width, box.height))
  const pieces = ways.map((points) => points.slice(1).map((b, k) => rectOf(points[k] as Place, b)))
  const found = { labels: 0, moved: 0, onBoxes: 0, onLabels: 0, onLines: 0, onArrows: 0 }
  placed.forEach((label, i) => {
    if (label === null) return
    const meets = (rect: Rect) => overlap(rect, label.rect)
    const end = (ways[i] as Place[]).at(-1) as Place
    found.labels++
    if (label.moved) found.moved++
    if (rects.some(meets)) found.onBoxes++
    if (placed.some((other, k) => k !== i && other !== null && meets(other.rect))) found.onLabels++
    if (pieces.some((own, k) => k !== i && own.some(meets))) found.onLines++
    if (meets(rectAround(end, 2 * ARROW, 2 * ARROW))) found.onArrows++
  })
  return found
}

interface Rect {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

function rectAround({ x, y }: Place, width: number, height: number): Rect {
  return { left: x - width / 2, top: y - height / 2, right: x + width / 2, bottom: y + height / 2 }
}

/** A piece of a line, as wide as the line is drawn. */
function rectOf(a: Place, b: Place): Rect {
  return {
    left: Math.min(a.x, b.x) - 1,
    top: Math.min(a.y, b.y) - 1,
    right: Math.max(a.x, b.x) + 1,
    bottom: Math.max(a.y, b.y) + 1,
  }
}

function overlap(a: Rect, b: Rect): boolean {
  return a.left < b.right - NEAR && b.left < a.right - NEAR && a.top < b.bottom - NEAR && b.top < a.bottom - NEAR
}

function placeAt(points: readonly Place[], share: number): Place {
  const lengths = points.slice(1).map((b, k) => Math.hypot(b.x - (points[k] as Place).x, b.y - (points[k] as Place).y))
  let left = share * lengths.reduce((sum, length) => sum + length, 0)
  for (const [k, length] of lengths.entries()) {
    const [a, b] = [points[k] as Place, points[k + 1] as Place]
    if (left <= length) return { x: a.x + ((b.x - a.x) * left) / length, y: a.y + ((b.y - a.y) * left) / length }
    left -= length
  }
  return points.at(-1) as Place
}
