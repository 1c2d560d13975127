import { isJsonObject, type Json, type JsonObject, memberOf, setMember } from '../json.ts'
import type { Point } from './geometry/bounds.ts'
import { kindOf } from './shape-kinds.ts'
import { centreOf, endOf, finite, numberOf } from './stored-shape.ts'

/** Moves a stored shape by (`dx`, `dy`), with its waypoints. Without x and y, a box or line moves from (0, 0), and a group stays without. [CANVAS-20] */
export function shifted(value: JsonObject, dx: number, dy: number): JsonObject {
  const { form } = kindOf(value)
  const placed = form === 'group' ? value : { x: 0, y: 0, ...value }
  const moved = shiftedNames(placed, dx, dy)
  const waypoints = memberOf(moved, 'waypoints')
  if (form !== 'line' || !Array.isArray(waypoints)) return moved
  return setMember(
    moved,
    'waypoints',
    (waypoints as readonly Json[]).map((point) => (isJsonObject(point) ? shiftedNames(point, dx, dy) : point)),
  )
}

function shiftedNames(value: JsonObject, dx: number, dy: number): JsonObject {
  let moved = value
  for (const [name, by] of [['x', dx] as const, ['x2', dx] as const, ['y', dy] as const, ['y2', dy] as const]) {
    const stored = numberOf(moved, name)
    if (stored !== undefined && by !== 0) moved = setMember(moved, name, finite(stored + by))
  }
  return moved
}

/** The ends of a line that stay when the line moves, since an attached end follows its shape. */
interface HeldEnds {
  readonly start: boolean
  readonly end: boolean
}

/** Moves a line by (`dx`, `dy`), except its held ends. These go to their shapes later, in `settleConnectors`. [CANVAS-14, CANVAS-20] */
export function shiftedLine(value: JsonObject, dx: number, dy: number, held: HeldEnds): JsonObject {
  const [start, end] = [centreOf(value), endOf(value)]
  let moved = shifted(value, dx, dy)
  const newEnd = held.end ? end : endOf(moved)
  if (held.start) moved = withPoint(moved, 'x', 'y', start)
  // A line without a stored end point ends at its start, so the end point is stored whenever an end is held.
  if (held.start || held.end) moved = withPoint(moved, 'x2', 'y2', newEnd)
  return moved
}

function withPoint(value: JsonObject, x: 'x' | 'x2', y: 'y' | 'y2', point: Point): JsonObject {
  return setMember(setMember(value, x, point.x), y, point.y)
}
