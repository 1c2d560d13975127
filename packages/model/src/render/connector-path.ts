import type { ArrowStyle, BoxDrawable, ConnectorDrawable, ConnectorEnd, TextDrawable } from './drawable.ts'
import { between, distance, type Point, rotated } from './geometry.ts'
import { element, formatNumber } from './svg-text.ts'

/** A connector as it is drawn. */
export interface ConnectorPath {
  /** The `d` of the path. */
  readonly d: string
  /** The path as a polyline, for bounds and the place of the label. */
  readonly outline: readonly Point[]
  readonly startArrow: string
  readonly endArrow: string
}

type Attachable = BoxDrawable | TextDrawable

/** Lays a connector out between the shapes it is attached to; a free end, or one whose shape is not there, is where it was stored. [CANVAS-25] */
export function connectorPath(connector: ConnectorDrawable, shapes: ReadonlyMap<string, Attachable>): ConnectorPath {
  const { start, end, waypoints } = connector
  const towardsStart = waypoints[0] ?? anchorCentre(end, shapes)
  const towardsEnd = waypoints.at(-1) ?? anchorCentre(start, shapes)
  const from = endPoint(start, towardsStart, shapes)
  const to = endPoint(end, towardsEnd, shapes)
  const corners =
    connector.routing === 'orthogonal' && waypoints.length === 0 ? elbow(from, to, start.anchor, end.anchor) : waypoints
  const points = [from, ...corners, to]
  if (connector.routing === 'curved') return curved(connector, points)
  return {
    d: points.map((point, i) => `${i === 0 ? 'M' : 'L'}${at(point)}`).join(' '),
    outline: points,
    startArrow: arrow(connector, start.arrow, from, directionFrom(points)),
    endArrow: arrow(connector, end.arrow, to, directionFrom(points.toReversed())),
  }
}

function anchorCentre(end: ConnectorEnd, shapes: ReadonlyMap<string, Attachable>): Point {
  return (end.shapeId === null ? undefined : shapes.get(end.shapeId))?.centre ?? end.stored
}

/** Where an end touches its shape: the middle of a named side, or for `center` the edge on the way to `towards`. */
function endPoint(end: ConnectorEnd, towards: Point, shapes: ReadonlyMap<string, Attachable>): Point {
  const shape = end.shapeId === null ? undefined : shapes.get(end.shapeId)
  if (shape === undefined) return end.stored
  const { centre, width, height, rotation } = shape
  const turned = (dx: number, dy: number) => rotated({ x: centre.x + dx, y: centre.y + dy }, centre, rotation)
  switch (end.anchor) {
    case 'top':
      return turned(0, -height / 2)
    case 'bottom':
      return turned(0, height / 2)
    case 'left':
      return turned(-width / 2, 0)
    case 'right':
      return turned(width / 2, 0)
    case 'center':
      return rotated(edgeTowards(shape, rotated(towards, centre, -rotation)), centre, rotation)
    default:
      // Anchors on a row of a typed shape: the editor that knows the rows has stored the place.
      return end.stored
  }
}

/** Where the way from the centre of an upright shape to a point leaves the shape; the centre itself for a point inside. */
function edgeTowards(shape: Attachable, towards: Point): Point {
  const { centre } = shape
  const [dx, dy] = [towards.x - centre.x, towards.y - centre.y]
  const [halfWidth, halfHeight] = [shape.width / 2, shape.height / 2]
  const isEllipse = shape.kind === 'box' && shape.outline === 'ellipse'
  const reach = isEllipse
    ? Math.hypot(dx / (halfWidth || 1), dy / (halfHeight || 1))
    : Math.max(Math.abs(dx) / (halfWidth || 1), Math.abs(dy) / (halfHeight || 1))
  return reach <= 1 ? centre : between(centre, towards, 1 / reach)
}

/** The corners of a way in right angles, leaving and arriving as the anchors face; `center` faces along the longer axis. */
function elbow(from: Point, to: Point, startAnchor: string, endAnchor: string): readonly Point[] {
  if (from.x === to.x || from.y === to.y) return []
  const along = Math.abs(to.x - from.x) >= Math.abs(to.y - from.y) ? 'sideways' : 'upright'
  const leaves = facing(startAnchor) ?? facing(endAnchor) ?? along
  const arrives = facing(endAnchor) ?? leaves
  if (leaves !== arrives) return [leaves === 'sideways' ? { x: to.x, y: from.y } : { x: from.x, y: to.y }]
  if (leaves === 'sideways') {
    const x = (from.x + to.x) / 2
    return [
      { x, y: from.y },
      { x, y: to.y },
    ]
  }
  const y = (from.y + to.y) / 2
  return [
    { x: from.x, y },
    { x: to.x, y },
  ]
}

function facing(anchor: string): 'sideways' | 'upright' | null {
  if (anchor === 'left' || anchor === 'right') return 'sideways'
  return anchor === 'top' || anchor === 'bottom' ? 'upright' : null
}

const STEPS_OF_OUTLINE = 8

/** A smooth way through all points, as cubic pieces whose tangents are those of the neighbours. */
function curved(connector: ConnectorDrawable, points: readonly Point[]): ConnectorPath {
  const through = points.length === 2 ? bowed(points[0] as Point, points[1] as Point) : points
  const pieces: string[] = [`M${at(through[0] as Point)}`]
  const outline: Point[] = [through[0] as Point]
  for (let i = 1; i < through.length; i++) {
    const [a, b] = [through[i - 1] as Point, through[i] as Point]
    const before = through[i - 2] ?? a
    const after = through[i + 1] ?? b
    const c1 = { x: a.x + (b.x - before.x) / 6, y: a.y + (b.y - before.y) / 6 }
    const c2 = { x: b.x - (after.x - a.x) / 6, y: b.y - (after.y - a.y) / 6 }
    pieces.push(`C${at(c1)} ${at(c2)} ${at(b)}`)
    for (let step = 1; step <= STEPS_OF_OUTLINE; step++) outline.push(cubic(a, c1, c2, b, step / STEPS_OF_OUTLINE))
  }
  return {
    d: pieces.join(' '),
    outline,
    startArrow: arrow(connector, connector.start.arrow, outline[0] as Point, directionFrom(outline)),
    endArrow: arrow(connector, connector.end.arrow, outline.at(-1) as Point, directionFrom(outline.toReversed())),
  }
}

/** Two points and one between them, a little aside, so that the way is seen to be curved. */
function bowed(a: Point, b: Point): readonly Point[] {
  const middle = between(a, b, 0.5)
  const bow = 0.15
  return [a, { x: middle.x + (b.y - a.y) * bow, y: middle.y - (b.x - a.x) * bow }, b]
}

function cubic(a: Point, c1: Point, c2: Point, b: Point, t: number): Point {
  const [p, q] = [between(a, c1, t), between(c1, c2, t)]
  const r = between(c2, b, t)
  return between(between(p, q, t), between(q, r, t), t)
}

/** The unit vector from the first point of a way to the first one that differs from it; `null` for a way without length. */
function directionFrom(points: readonly Point[]): Point | null {
  const [first] = points
  const next = points.find((point) => first !== undefined && distance(first, point) > 1e-6)
  if (first === undefined || next === undefined) return null
  const length = distance(first, next)
  return { x: (next.x - first.x) / length, y: (next.y - first.y) / length }
}

/** An arrow head whose tip is at `tip`; `inward` leads from the tip back along the line. */
function arrow({ stroke, strokeWidth }: ConnectorDrawable, style: ArrowStyle, tip: Point, inward: Point | null): string {
  if (style === 'none' || inward === null) return ''
  const length = 8 + strokeWidth * 2
  const half = length * 0.45
  const base = { x: tip.x + inward.x * length, y: tip.y + inward.y * length }
  const left = { x: base.x - inward.y * half, y: base.y + inward.x * half }
  const right = { x: base.x + inward.y * half, y: base.y - inward.x * half }
  if (style === 'open') {
    return element('path', { d: `M${at(left)} L${at(tip)} L${at(right)}`, fill: 'none', stroke, 'stroke-width': strokeWidth })
  }
  if (style === 'triangle') return element('path', { d: `M${at(tip)} L${at(left)} L${at(right)} Z`, fill: stroke })
  const far = { x: tip.x + inward.x * length * 2, y: tip.y + inward.y * length * 2 }
  return element('path', { d: `M${at(tip)} L${at(left)} L${at(far)} L${at(right)} Z`, fill: stroke })
}

function at({ x, y }: Point): string {
  return `${formatNumber(x)} ${formatNumber(y)}`
}
