import { isJsonObject, type Json, type JsonObject, memberOf, setMember } from '../json.ts'
import type { Point } from './geometry/bounds.ts'
import { kindOf } from './shape-kinds.ts'
import { centreOf, endOf, finite, numberOf } from './stored-shape.ts'

/** A stored shape that lies elsewhere by (`dx`, `dy`), its waypoints with it. What has no place of its own, such as a group, gets none. [CANVAS-20] */
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

/** Which ends of a line stay where they are, since they follow their shapes. */
interface HeldEnds {
  readonly start: boolean
  readonly end: boolean
}

/** A line that is carried along by (`dx`, `dy`) but for the ends that are held: those go where their shapes go. [CANVAS-14, CANVAS-20] */
export function shiftedLine(value: JsonObject, dx: number, dy: number, held: HeldEnds): JsonObject {
  const [start, end] = [centreOf(value), endOf(value)]
  let moved = shifted(value, dx, dy)
  if (held.start) moved = withPoint(moved, 'x', 'y', start)
  // An end that is not stored is where the line begins.
  if (held.end) moved = withPoint(moved, 'x2', 'y2', end)
  return moved
}

function withPoint(value: JsonObject, x: 'x' | 'x2', y: 'y' | 'y2', point: Point): JsonObject {
  return setMember(setMember(value, x, point.x), y, point.y)
}
