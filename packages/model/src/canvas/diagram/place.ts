import { type Bounds, grown, overlaps, type Point, unite } from '../geometry/bounds.ts'

/** x and y of a drawing on an empty page, and the distance of a drawing from the content above it. [DIAG-10] */
const ORIGIN = 40
const OFFSET = 120
/** The least and the greatest distance of a drawing from the shape beside which it is placed. [AG-107] */
const BESIDE = 80
const FARTHEST = 200
/** The distance that a drawing beside a shape keeps from all other shapes: 80, or 30 where there is no room for 80. */
const ROOMS = [80, 30]

export interface Room {
  readonly width: number
  readonly height: number
}

/** Tools write coordinates from -LIMIT to LIMIT. [CANVAS-4] */
const LIMIT = 1_000_000

/**
 * The left upper corner for a new drawing: below everything that is on the page. When the coordinates end before there is room, the corner is right
 * of everything, else above, else left. On a page without room on any side the corner is at the lower end of the coordinates, and the drawing may cover
 * what is there. [DIAG-10, CANVAS-4]
 */
export function cornerOutside(page: readonly Bounds[], { width, height }: Room): Point & { readonly isBelow: boolean } {
  const bounds = page.reduce<Bounds | null>(unite, null)
  if (bounds === null) return { x: ORIGIN, y: ORIGIN, isBelow: true }
  const x = within(Math.floor(bounds.left), width)
  const y = within(Math.floor(bounds.top), height)
  const below = Math.max(Math.ceil(bounds.bottom) + OFFSET, -LIMIT)
  if (below + height <= LIMIT) return { x, y: below, isBelow: true }
  const right = Math.max(Math.ceil(bounds.right) + OFFSET, -LIMIT)
  if (right + width <= LIMIT) return { x: right, y, isBelow: false }
  const above = Math.min(Math.floor(bounds.top) - OFFSET, LIMIT) - Math.ceil(height)
  if (above >= -LIMIT) return { x, y: above, isBelow: false }
  const left = Math.min(Math.floor(bounds.left) - OFFSET, LIMIT) - Math.ceil(width)
  if (left >= -LIMIT) return { x: left, y, isBelow: false }
  return { x, y: within(below, height), isBelow: false }
}

/** Moves `from` as little as needed, so that `from` and `from + size` lie within the coordinates. */
function within(from: number, size: number): number {
  return Math.max(Math.min(from, Math.floor(LIMIT - size)), -LIMIT)
}

function isWithin({ x, y }: Point, { width, height }: Room): boolean {
  return x >= -LIMIT && y >= -LIMIT && x + width <= LIMIT && y + height <= LIMIT
}

/** Which corner is taken when several corners are at the same distance. */
export interface Wish {
  /** Corners whose x, or whose y, is worth trying. */
  readonly lines: readonly Point[]
  cost(corner: Point): number
}

const NO_WISH: Wish = { lines: [], cost: () => 0 }

/** Whether a drawing stands at most 200 from the shape beside which it was placed; corners are rounded. [AG-107] */
export function isBeside(near: Bounds, drawing: Bounds): boolean {
  return overlaps(grown(near, FARTHEST + 1), drawing)
}

/** Returns a corner right of a shape, else below it, where nothing is covered; `null` when there is no room within 200. [AG-107] */
export function cornerBeside(near: Bounds, room: Room, page: readonly Bounds[], wish: Wish = NO_WISH): Point | null {
  const isAlong = (from: number, size: number, low: number, high: number) => from <= high && from + size >= low
  const tops = [
    ...[near.top, (near.top + near.bottom - room.height) / 2, near.bottom - room.height],
    ...wish.lines.map(({ y }) => y).filter((y) => isAlong(y, room.height, near.top, near.bottom)),
  ]
  const lefts = [
    ...[near.left, (near.left + near.right - room.width) / 2, near.right - room.width],
    ...wish.lines.map(({ x }) => x).filter((x) => isAlong(x, room.width, near.left, near.right)),
  ]
  const away = Array.from({ length: (FARTHEST - BESIDE) / 20 + 1 }, (_, k) => BESIDE + 20 * k)
  const rows = [
    ...away.map((gap) => tops.map((y) => rounded({ x: near.right + gap, y }))),
    ...away.map((gap) => lefts.map((x) => rounded({ x, y: near.bottom + gap }))),
  ]
  for (const around of ROOMS)
    for (const corners of rows) {
      const free = corners.filter((corner) => isFree(corner, room, page, around))
      if (free.length > 0) return free.reduce((best, corner) => (wish.cost(corner) < wish.cost(best) ? corner : best))
    }
  return null
}

/** Returns the corner of least cost among the free corners beside `boxes` and the corner of `cornerOutside`. [AG-106] */
export function cheapestCorner(
  boxes: readonly Bounds[],
  room: Room,
  page: readonly Bounds[],
  cost: (corner: Point) => number,
): Point {
  const { x, y } = cornerOutside(page, room)
  let best: Point = { x, y }
  let least = cost(best)
  for (const { left, top, right, bottom } of boxes) {
    const xs = [left, Math.round((left + right - room.width) / 2), right - room.width]
    const ys = [top, Math.round((top + bottom - room.height) / 2), bottom - room.height]
    const corners = [
      ...xs.flatMap((x) => [bottom + BESIDE, top - BESIDE - room.height].map((y) => ({ x, y }))),
      ...ys.flatMap((y) => [right + BESIDE, left - BESIDE - room.width].map((x) => ({ x, y }))),
    ].map(rounded)
    for (const corner of corners) {
      const own = cost(corner)
      if (own < least && isFree(corner, room, page, BESIDE)) [best, least] = [corner, own]
    }
  }
  return best
}

function rounded({ x, y }: Point): Point {
  return { x: Math.round(x), y: Math.round(y) }
}

function isFree(corner: Point, room: Room, page: readonly Bounds[], around: number): boolean {
  const [{ x, y }, { width, height }] = [corner, room]
  if (!isWithin(corner, room)) return false
  const wanted = grown({ left: x, top: y, right: x + width, bottom: y + height }, around)
  return page.every((box) => !overlaps(wanted, box))
}
