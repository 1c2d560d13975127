import { isJsonObject, type Json, type JsonObject, omitMembers } from '../json.ts'
import { type Stamp, stampOfText } from '../stamps/stamp.ts'
import { kindOf } from './shape-kinds.ts'
import { stringOf } from './stored-shape.ts'

const stamps = new WeakMap<JsonObject, Stamp>()

/** Returns the stamp of a stored shape. It stands for the content of the shape, not for its place or its provenance. [AG-5] */
export function shapeStamp(value: JsonObject): Stamp {
  let stamp = stamps.get(value)
  if (stamp === undefined) stamps.set(value, (stamp = stampOfText(sortedJson(said(value)))))
  return stamp
}

/** Returns the members that a stamp stands for. The waypoints and attached ends of a connector are left out, since moving a box changes them. */
function said(value: JsonObject): JsonObject {
  const placed = omitMembers(value, 'id', 'provenance', 'x', 'y')
  if (kindOf(value).form !== 'line') return placed
  const isAttached = (stringOf(value, 'endShapeId') ?? '') !== ''
  return omitMembers(placed, 'waypoints', ...(isAttached ? ['x2', 'y2'] : []))
}

/** Writes compact JSON with the members of every object sorted by name. */
function sortedJson(value: Json): string {
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(sortedJson).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${sortedJson(member)}`).join(',')}}`
}
