import { type Point, rotated } from './bounds.ts'
import { between } from './segment.ts'
import type { ShapeBox } from './shape-box.ts'

export type Side = 'top' | 'right' | 'bottom' | 'left'

/** The anchors of every shape with a size. At `center`, a connector ends at the edge of the shape, on the way to its other end. [CANVAS-10] */
export const commonAnchors = ['center', 'top', 'right', 'bottom', 'left'] as const

const rowAnchor = /^attr-(?:0|[1-9]\d{0,5})-(left|right|top|bottom)$/

/** Whether an anchor is on a row of a typed shape, such as `attr-2-left`. Only the editor that draws the rows knows its point. [CANVAS-10] */
export function isRowAnchor(anchor: string): boolean {
  return rowAnchor.test(anchor)
}

/** Whether some shape may have an anchor of this name. [CANVAS-10] */
export function isAnchor(name: string): boolean {
  return (commonAnchors as readonly string[]).includes(name) || isRowAnchor(name)
}

/** The side that an anchor is on; `null` for the centre and for a name that is no anchor. */
export function sideOf(anchor: string): Side | null {
  if (anchor === 'top' || anchor === 'right' || anchor === 'bottom' || anchor === 'left') return anchor
  return (rowAnchor.exec(anchor)?.[1] as Side | undefined) ?? null
}

const outward: { readonly [S in Side]: Point } = {
  top: { x: 0, y: -1 },
  right: { x: 1, y: 0 },
  bottom: { x: 0, y: 1 },
  left: { x: -1, y: 0 },
}

/** The point of an anchor: the centre, or the middle of its side, which is on the curve of an ellipse. A row anchor gets the middle of its side. */
export function anchorPoint({ centre, width, height, rotation }: ShapeBox, anchor: string): Point {
  const side = sideOf(anchor)
  if (side === null) return centre
  const { x, y } = outward[side]
  return rotated({ x: centre.x + (x * width) / 2, y: centre.y + (y * height) / 2 }, centre, rotation)
}

/**
 * The direction in which a connector leaves an anchor, as a unit vector along an axis; on a turned shape, along the nearest axis. `null` for the centre.
 */
export function anchorDirection(box: ShapeBox, anchor: string): Point | null {
  const side = sideOf(anchor)
  return side === null ? null : outward[turnedBy(side, quartersOf(box))]
}

/** The side of a box that faces a side of the page. When a box is turned by 90 degrees, its left side faces the top of the page. */
export function sideTowards(box: ShapeBox, side: Side): Side {
  return turnedBy(side, 4 - quartersOf(box))
}

/** The rotation of a box in right angles, clockwise, rounded: 0 to 4. */
function quartersOf({ rotation }: ShapeBox): number {
  return Math.round((((rotation % 360) + 360) % 360) / 90)
}

function turnedBy(side: Side, quarters: number): Side {
  return sidesInTurn[(sidesInTurn.indexOf(side) + quarters) % 4] as Side
}

const sidesInTurn: readonly Side[] = ['top', 'right', 'bottom', 'left']

/** The point where the way from the centre of a box to `towards` leaves the box; the centre itself when `towards` lies inside. */
export function edgePoint(box: ShapeBox, towards: Point): Point {
  const { centre, rotation } = box
  const upright = rotated(towards, centre, -rotation)
  const [dx, dy] = [upright.x - centre.x, upright.y - centre.y]
  const [halfWidth, halfHeight] = [box.width / 2, box.height / 2]
  const reach =
    box.outline === 'ellipse'
      ? Math.hypot(dx / (halfWidth || 1), dy / (halfHeight || 1))
      : Math.max(Math.abs(dx) / (halfWidth || 1), Math.abs(dy) / (halfHeight || 1))
  return reach <= 1 ? centre : rotated(between(centre, upright, 1 / reach), centre, rotation)
}

/** The sides of two shapes that face each other on the axis on which their centres are further apart, the horizontal one on a tie. [CANVAS-22, DIAG-11] */
export function facingSides(from: Point, to: Point): { readonly start: Side; readonly end: Side } {
  const [dx, dy] = [to.x - from.x, to.y - from.y]
  if (Math.abs(dx) >= Math.abs(dy)) return dx >= 0 ? { start: 'right', end: 'left' } : { start: 'left', end: 'right' }
  return dy >= 0 ? { start: 'bottom', end: 'top' } : { start: 'top', end: 'bottom' }
}
