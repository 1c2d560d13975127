import { isJsonObject, type Json, type JsonObject, memberOf, setMember } from '../json.ts'
import { kindOf } from './shape-kinds.ts'
import { finite, numberOf } from './stored-shape.ts'

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
