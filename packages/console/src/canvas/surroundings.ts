import type { JsonObject } from '@docrelay/model/json'
import { type PageGeometry, pageGeometry } from '@docrelay/model/canvas/page-geometry'
import { kindOf } from '@docrelay/model/canvas/shape-kinds'
import { childrenOf, stringOf } from '@docrelay/model/canvas/stored-shape'

/**
 * Returns the part of a page that a move of these shapes needs: the shapes, their connectors with the shapes at the other ends, and all groups with their
 * members. A drag looks only at this part, however large the page is.
 */
export function surroundings(ids: Iterable<string>, { shapes }: PageGeometry): PageGeometry {
  const near = new Set<string>()
  const add = (id: string | undefined) => {
    if (id !== undefined && shapes.has(id)) near.add(id)
  }
  for (const id of ids) add(id)
  const groups = [...shapes].filter(([, value]) => kindOf(value).form === 'group')
  for (const [id, value] of groups) {
    add(id)
    for (const child of childrenOf(value)) add(child)
  }
  for (const [id, value] of shapes) {
    if (kindOf(value).form !== 'line') continue
    const ends = [stringOf(value, 'startShapeId'), stringOf(value, 'endShapeId')]
    if (!near.has(id) && !ends.some((end) => end !== undefined && near.has(end))) continue
    add(id)
  }
  const lines = [...near].filter((id) => kindOf(shapes.get(id) as JsonObject).form === 'line')
  for (const id of lines) {
    const value = shapes.get(id) as JsonObject
    add(stringOf(value, 'startShapeId'))
    add(stringOf(value, 'endShapeId'))
  }
  return pageGeometry(new Map([...near].map((id) => [id, shapes.get(id) as JsonObject])))
}
