import { isJsonObject, type Json, type JsonObject, omitMembers } from '../json.ts'
import { type Stamp, stampOfText } from '../stamps/stamp.ts'
import { kindOf } from './shape-kinds.ts'
import { stringOf } from './stored-shape.ts'

const stamps = new WeakMap<JsonObject, Stamp>()

/** The stamp of a stored shape: what it says, and not where it lies or who wrote it. [AG-5] */
export function shapeStamp(value: JsonObject): Stamp {
  let stamp = stamps.get(value)
  if (stamp === undefined) stamps.set(value, (stamp = stampOfText(sortedJson(said(value)))))
  return stamp
}

/** Moving a box changes the way and the attached ends of its connectors, so these are no part of what a connector says. */
function said(value: JsonObject): JsonObject {
  const placed = omitMembers(value, 'id', 'provenance', 'x', 'y')
  if (kindOf(value).form !== 'line') return placed
  const isAttached = (stringOf(value, 'endShapeId') ?? '') !== ''
  return omitMembers(placed, 'waypoints', ...(isAttached ? ['x2', 'y2'] : []))
}

/** Compact JSON with the members of every object in the order of their names. */
function sortedJson(value: Json): string {
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(sortedJson).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${sortedJson(member)}`).join(',')}}`
}
