import type { JsonObject } from '@docrelay/model/json'
import { stackShapes } from '@docrelay/model/body-order'
import { pageGeometry } from '@docrelay/model/canvas/page-geometry'
import type { PageChanges, PageNow } from '../page-edits.ts'

export type WithId = JsonObject & { readonly id: string }

/** A page of these shapes, bottom first. */
export function pageOf(...shapes: readonly WithId[]): PageNow {
  return pageNow(
    new Map(shapes.map((shape) => [shape.id, shape])),
    shapes.map(({ id }) => id),
  )
}

/** The page after these changes. */
export function afterChanges(page: PageNow, { values, order = page.order }: PageChanges): PageNow {
  const shapes = new Map(page.shapes)
  for (const [id, value] of values) {
    if (value === null) shapes.delete(id)
    else shapes.set(id, value)
  }
  return pageNow(shapes, order)
}

function pageNow(shapes: ReadonlyMap<string, JsonObject>, order: readonly string[]): PageNow {
  return { ...pageGeometry(shapes), order: stackShapes(order, shapes) }
}

export function box(id: string, x: number, y: number, more: JsonObject = {}): WithId {
  return { id, type: 'rectangle', x, y, width: 100, height: 80, ...more }
}

export function connector(id: string, from: string, to: string, more: JsonObject = {}): WithId {
  const ends = { startShapeId: from, endShapeId: to, startAnchor: 'right', endAnchor: 'left' }
  return { id, type: 'connector', x: 0, y: 0, x2: 0, y2: 0, ...ends, ...more }
}
