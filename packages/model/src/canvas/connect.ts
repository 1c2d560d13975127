import { type Edit, type Fix, isRefusal, type Refusal } from '../edit.ts'
import type { JsonObject } from '../json.ts'
import { addShape } from './add-shapes.ts'
import { findCanvasPage } from './find-page.ts'
import { facingSides, isAnchor, type Side, sideTowards } from './geometry/anchors.ts'
import { pageGeometry, shapeValues } from './page-geometry.ts'
import type { Printed } from '../prose/block-names.ts'
import { findShape } from './named-shapes.ts'
import type { Router } from './route.ts'
import { centreOf } from './stored-shape.ts'
import { connectorEndFlaw, hasAnchor } from './write-page.ts'

export interface Connect extends Printed {
  readonly pageId: string
  readonly fromId: string
  readonly toId: string
  readonly fromAnchor?: string | undefined
  readonly toAnchor?: string | undefined
  readonly label?: string | undefined
  readonly routing?: 'orthogonal' | 'straight' | undefined
}

/**
 * Adds a connector between two shapes of a page, or a loop at one shape. Without anchors it attaches to the sides that face each other. An anchor that the
 * shape does not have is replaced by that side, with a fix. [TOOL-connect, CANVAS-22]
 */
export function connect(route: Router): Edit<Connect, { readonly id: string }> {
  const addConnector = addShape(route)
  return (body, { pageId, naming, fromAnchor, toAnchor, label, routing = 'orthogonal', ...args }, environment) => {
    const page = findCanvasPage(body, pageId)
    if (isRefusal(page)) return page
    const { shapes, boxes } = pageGeometry(shapeValues(page))
    const endAt = (end: 'fromId' | 'toId'): string | Refusal => {
      const shape = findShape({ body, page, shapes, naming, seen: environment.seen }, args[end], end)
      return isRefusal(shape) ? shape : (connectorEndFlaw(end, shape.id, shapes) ?? shape.id)
    }
    const fromId = endAt('fromId')
    if (typeof fromId !== 'string') return fromId
    const toId = endAt('toId')
    if (typeof toId !== 'string') return toId
    const centre = (id: string) => boxes.get(id)?.centre ?? centreOf(shapes.get(id) as JsonObject)
    const facing = fromId === toId ? ({ start: 'right', end: 'bottom' } as const) : facingSides(centre(fromId), centre(toId))
    const sideAt = (id: string, side: Side) => {
      const box = boxes.get(id)
      return box === undefined ? side : sideTowards(box, side)
    }
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
      startAnchor: anchorOf('fromAnchor', fromAnchor, fromId, sideAt(fromId, facing.start)),
      endAnchor: anchorOf('toAnchor', toAnchor, toId, sideAt(toId, facing.end)),
      ...(label === undefined ? {} : { text: label }),
      ...(routing === 'straight' ? {} : { routingMode: routing }),
    }
    const added = addConnector(body, { pageId, shape, naming }, environment)
    return isRefusal(added) ? added : { ...added, fixes: [...fixes, ...added.fixes] }
  }
}
