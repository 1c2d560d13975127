import { courseOf, type PageGeometry } from '../canvas/page-geometry.ts'
import { kindOf } from '../canvas/shape-kinds.ts'
import type { Json, JsonObject } from '../json.ts'
import { jsonHash } from './shape-hashes.ts'

/** Hashes where the shapes at the ends of a connector lie. Returns `null` for a connector without attached ends, and for any other shape. [AG-66] */
export function endsHash(value: JsonObject, { boxes }: Pick<PageGeometry, 'boxes'>): number | null {
  if (kindOf(value).form !== 'line') return null
  const { start, end } = courseOf(value)
  if (start.shapeId === null && end.shapeId === null) return null
  const places = [start, end].map(({ shapeId }): Json => {
    const box = shapeId === null ? undefined : boxes.get(shapeId)
    if (box === undefined) return shapeId
    const { centre, width, height, rotation, outline } = box
    return [shapeId, centre.x, centre.y, width, height, rotation, outline]
  })
  return jsonHash(places)
}
