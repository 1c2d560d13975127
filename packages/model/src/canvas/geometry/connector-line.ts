import { anchorPoint, edgePoint, isRowAnchor, sideOf } from './anchors.ts'
import type { Point } from './bounds.ts'
import { between } from './segment.ts'
import type { ShapeBox } from './shape-box.ts'

/** One end of a connector as it is stored. */
export interface ConnectorEnd {
  /** The stored point: where a free end lies, or an end whose shape is not on the page. */
  readonly stored: Point
  /** The id of the shape that the end is attached to; `null` for a free end. */
  readonly shapeId: string | null
  readonly anchor: string
}

/** The members of a connector that decide its way. */
export interface ConnectorCourse {
  readonly start: ConnectorEnd
  readonly end: ConnectorEnd
  readonly routing: 'straight' | 'orthogonal' | 'curved'
  /** The points between the two ends of the connector. */
  readonly waypoints: readonly Point[]
}

/** The way of a connector over its page. */
export interface ConnectorLine {
  /** Both ends and the points between them; a curve goes smoothly through them. */
  readonly points: readonly Point[]
  /** The tangents of a curve's pieces: two control points for each piece; `null` where the pieces are straight. */
  readonly controls: readonly (readonly [Point, Point])[] | null
  /** The way as a polyline: `points` themselves, or points along the curve. */
  readonly outline: readonly Point[]
}

/** The shapes with a size that a connector may be attached to, groups included, by id. */
export type ShapeBoxes = ReadonlyMap<string, ShapeBox>

/** The part of `ShapeBoxes` that a connector needs. */
export type BoxLookup = Pick<ShapeBoxes, 'get'>

/**
 * Returns the way of a connector as it is drawn, and as tools judge it. An orthogonal connector without waypoints gets the fewest corners that fit its
 * anchors. [CANVAS-25]
 */
export function connectorLine(course: ConnectorCourse, shapes: BoxLookup): ConnectorLine {
  const { start, end, waypoints } = course
  const from = endPoint(start, waypoints[0] ?? middleOf(end, shapes), shapes)
  const to = endPoint(end, waypoints.at(-1) ?? middleOf(start, shapes), shapes)
  const corners =
    course.routing === 'orthogonal' && waypoints.length === 0
      ? directWay(from, to, facing(start.anchor), facing(end.anchor))
      : waypoints
  const points = [from, ...corners, to]
  return course.routing === 'curved' ? curve(points) : { points, controls: null, outline: points }
}

function middleOf(end: ConnectorEnd, shapes: BoxLookup): Point {
  return (end.shapeId === null ? undefined : shapes.get(end.shapeId))?.centre ?? end.stored
}

/** The point where an end touches its shape. For `center` that is where the way to `towards` leaves the shape. */
function endPoint(end: ConnectorEnd, towards: Point, shapes: BoxLookup): Point {
  const box = end.shapeId === null ? undefined : shapes.get(end.shapeId)
  if (box === undefined) return end.stored
  if (end.anchor === 'center') return edgePoint(box, towards)
  // The point of a row anchor is stored by the editor that knows the rows of the shape.
  return sideOf(end.anchor) === null || isRowAnchor(end.anchor) ? end.stored : anchorPoint(box, end.anchor)
}

type Axis = 'sideways' | 'upright'

/** The corners of a way in right angles with these axes at its ends. A `null` axis becomes that of the other end; two `null` axes, the longer one. */
export function directWay(from: Point, to: Point, start: Axis | null, end: Axis | null): readonly Point[] {
  if (from.x === to.x || from.y === to.y) return []
  const leaves = start ?? end ?? (Math.abs(to.x - from.x) >= Math.abs(to.y - from.y) ? 'sideways' : 'upright')
  const arrives = end ?? leaves
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

function facing(anchor: string): Axis | null {
  const side = sideOf(anchor)
  if (side === null) return null
  return side === 'left' || side === 'right' ? 'sideways' : 'upright'
}

const stepsOfOutline = 8

/** A smooth way through all points: cubic pieces, whose tangent at a point is parallel to the line between the neighbours of that point. */
function curve(straight: readonly Point[]): ConnectorLine {
  const points = straight.length === 2 ? bowed(straight[0] as Point, straight[1] as Point) : straight
  const controls: [Point, Point][] = []
  const outline: Point[] = [points[0] as Point]
  for (let i = 1; i < points.length; i++) {
    const [a, b] = [points[i - 1] as Point, points[i] as Point]
    const before = points[i - 2] ?? a
    const after = points[i + 1] ?? b
    const c1 = { x: a.x + (b.x - before.x) / 6, y: a.y + (b.y - before.y) / 6 }
    const c2 = { x: b.x - (after.x - a.x) / 6, y: b.y - (after.y - a.y) / 6 }
    controls.push([c1, c2])
    for (let step = 1; step <= stepsOfOutline; step++) outline.push(cubic(a, c1, c2, b, step / stepsOfOutline))
  }
  return { points, controls, outline }
}

/** Adds a point between two points, a little to the side, so that the way is visibly curved. */
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
