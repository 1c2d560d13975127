import type { JsonObject } from '@docrelay/model/json'
import { type Bounds, centreOfBounds } from '@docrelay/model/canvas/geometry/bounds'
import { boundsOfShape, type PageGeometry } from '@docrelay/model/canvas/page-geometry'
import { kindOf } from '@docrelay/model/canvas/shape-kinds'
import { stringOf } from '@docrelay/model/canvas/stored-shape'

interface Placed {
  readonly id: string
  readonly bounds: Bounds
}

/**
 * Returns the ids of the shapes of a page in the order in which a person would read them: row by row, from the start of each. A connector follows the shape
 * at which it begins. Shapes without a place, such as empty groups, come last.
 */
export function readingOrder(page: PageGeometry): readonly string[] {
  const boxes: Placed[] = []
  const lost: string[] = []
  const linesAt = new Map<string, string[]>()
  for (const [id, value] of page.shapes) {
    const start = startOf(value)
    const bounds = boundsOfShape(id, page)
    if (start !== null && page.shapes.has(start)) {
      const lines = linesAt.get(start)
      if (lines === undefined) linesAt.set(start, [id])
      else lines.push(id)
    } else if (bounds === null) lost.push(id)
    else boxes.push({ id, bounds })
  }
  const read = rowsOf(boxes).flatMap((row) => row.flatMap(({ id }) => [id, ...(linesAt.get(id) ?? [])]))
  // Adds the lines that begin at other lines, which are not in `read` yet.
  const known = new Set(read)
  const rest = [...page.shapes.keys()].filter((id) => !known.has(id) && !lost.includes(id))
  return [...read, ...rest, ...lost]
}

/** Groups shapes into rows. A shape is in a row when its middle is not below the first shape of that row. */
function rowsOf(shapes: readonly Placed[]): readonly (readonly Placed[])[] {
  const rows: Placed[][] = []
  let until = Number.NEGATIVE_INFINITY
  for (const shape of shapes.toSorted((a, b) => a.bounds.top - b.bounds.top || a.bounds.left - b.bounds.left)) {
    const middle = centreOfBounds(shape.bounds).y
    const row = rows.at(-1)
    if (row !== undefined && middle <= until) row.push(shape)
    else {
      rows.push([shape])
      until = shape.bounds.bottom
    }
  }
  return rows.map((row) => row.toSorted((a, b) => a.bounds.left - b.bounds.left || a.bounds.top - b.bounds.top))
}

function startOf(value: JsonObject): string | null {
  return kindOf(value).form === 'line' ? (stringOf(value, 'startShapeId') ?? null) : null
}
