import { type Bounds, grown, type Point } from './bounds.ts'

/**
 * Whether the way from `a` to `b` comes nearer to a box than `clearance`: whether it enters the inside of the box grown by `clearance` on every side. A way
 * along a side of the grown box does not enter it. [DIAG-14]
 */
export function passesThrough(a: Point, b: Point, box: Bounds, clearance = 0): boolean {
  const { left, top, right, bottom } = grown(box, clearance)
  const across = stretchInside(a.x, b.x, left, right)
  const down = stretchInside(a.y, b.y, top, bottom)
  if (across === null || down === null) return false
  const [enters, leaves] = [Math.max(across[0], down[0]), Math.min(across[1], down[1])]
  // When `a` and `b` are the same point, that point is inside, since both stretches exist.
  return enters < leaves || (a.x === b.x && a.y === b.y)
}

/** The part of the way from `from` to `to` that lies between two limits, as shares from 0 to 1; `null` when no part does. */
function stretchInside(from: number, to: number, least: number, most: number): readonly [number, number] | null {
  if (least >= most) return null
  const length = to - from
  if (length === 0) return least < from && from < most ? [0, 1] : null
  const [a, b] = [(least - from) / length, (most - from) / length]
  const [enters, leaves] = [Math.max(0, Math.min(a, b)), Math.min(1, Math.max(a, b))]
  return enters < leaves ? [enters, leaves] : null
}

/** Twice the area of a triangle, with a sign that says on which side of the way from `a` to `b` the point lies. */
function sideOfLine(a: Point, b: Point, point: Point): number {
  return (b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x)
}

/** Whether two segments cross in a point that is an end of neither. Segments that only touch, or lie along each other, do not. */
export function cross(a: Point, b: Point, c: Point, d: Point): boolean {
  const isSplit = (from: Point, to: Point, one: Point, other: Point) =>
    Math.sign(sideOfLine(from, to, one)) * Math.sign(sideOfLine(from, to, other)) < 0
  return isSplit(a, b, c, d) && isSplit(c, d, a, b)
}

/** The length of the stretch that two segments on one line share; 0 when they only touch or are on different lines. [DIAG-15] */
export function sharedLength(a: Point, b: Point, c: Point, d: Point): number {
  const length = distance(a, b)
  if (length === 0 || sideOfLine(a, b, c) !== 0 || sideOfLine(a, b, d) !== 0) return 0
  const along = (point: Point) => ((point.x - a.x) * (b.x - a.x) + (point.y - a.y) * (b.y - a.y)) / length
  const [from, to] = [along(c), along(d)]
  return Math.max(0, Math.min(length, Math.max(from, to)) - Math.max(0, Math.min(from, to)))
}

export function distance(a: Point, b: Point): number {
  return Math.hypot(b.x - a.x, b.y - a.y)
}

/** The place on the way from `a` to `b`, 0 to 1. */
export function between(a: Point, b: Point, share: number): Point {
  return { x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share }
}
