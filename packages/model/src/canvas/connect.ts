import { type Edit, type Fix, isRefusal, type Refusal } from '../edit.ts'
import type { JsonObject } from '../json.ts'
import { addShape } from './add-shapes.ts'
import { findCanvasPage } from './find-page.ts'
import { facingSides, isAnchor } from './geometry/anchors.ts'
import { pageGeometry, shapeValues } from './page-geometry.ts'
import { shapeNotFound } from './read-back.ts'
import type { Router } from './route.ts'
import { centreOf } from './stored-shape.ts'
import { connectorEndFlaw, hasAnchor } from './write-page.ts'

export interface Connect {
  readonly pageId: string
  readonly fromId: string
  readonly toId: string
  readonly fromAnchor?: string | undefined
  readonly toAnchor?: string | undefined
  readonly label?: string | undefined
  readonly routing?: 'orthogonal' | 'straight' | undefined
}

/** Connects two shapes of a page, or one with itself. [TOOL-connect, CANVAS-22] */
export function connect(route: Router): Edit<Connect, { readonly id: string }> {
  const addConnector = addShape(route)
  return (body, { pageId, fromId, toId, fromAnchor, toAnchor, label, routing = 'orthogonal' }, environment) => {
    const page = findCanvasPage(body, pageId)
    if (isRefusal(page)) return page
    const { shapes, boxes } = pageGeometry(shapeValues(page))
    for (const [end, shapeId] of [['fromId', fromId] as const, ['toId', toId] as const]) {
      const flaw: Refusal | null = shapes.has(shapeId)
        ? connectorEndFlaw(end, shapeId, shapes)
        : shapeNotFound(body, page, shapeId)
      if (flaw !== null) return flaw
    }
    const centre = (id: string) => boxes.get(id)?.centre ?? centreOf(shapes.get(id) as JsonObject)
    const facing = fromId === toId ? ({ start: 'right', end: 'bottom' } as const) : facingSides(centre(fromId), centre(toId))
    const fixes: Fix[] = []
    const anchorOf = (field: string, given: string | undefined, shapeId: string, fallback: string): string => {
      if (given === undefined) return fallback
      if (isAnchor(given) && hasAnchor(given, shapes.get(shapeId))) return given
      fixes.push({ action: 'dropped_invalid', field, reason: `the shape has no such anchor; ${fallback} was taken` })
      return fallback
    }
    const shape: JsonObject = {
      kind: 'connector',
      startShapeId: fromId,
      endShapeId: toId,
      startAnchor: anchorOf('fromAnchor', fromAnchor, fromId, facing.start),
      endAnchor: anchorOf('toAnchor', toAnchor, toId, facing.end),
      ...(label === undefined ? {} : { text: label }),
      ...(routing === 'straight' ? {} : { routingMode: routing }),
    }
    const added = addConnector(body, { pageId, shape }, environment)
    return isRefusal(added) ? added : { ...added, fixes: [...fixes, ...added.fixes] }
  }
}
