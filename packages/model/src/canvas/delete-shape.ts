import type { Shape } from '../body.ts'
import { groupMembers, stackShapes } from '../body-order.ts'
import { type Edit, isRefusal } from '../edit.ts'
import { notPermutation } from '../pages.ts'
import { findCanvasPage } from './find-page.ts'
import { pageGeometry, shapeValues } from './page-geometry.ts'
import type { Printed } from '../prose/block-names.ts'
import { findShape, shapeIds } from './named-shapes.ts'
import { shapesInOrder } from './read-back.ts'
import type { Router } from './route.ts'
import { settleConnectors } from './settle-connectors.ts'
import { withoutShapes } from './without-shapes.ts'
import { withShapes, withValues, writtenTo } from './write-page.ts'

export interface DeleteShape extends Printed {
  readonly pageId: string
  readonly id: string
}

export interface ShapeDeleted {
  readonly deleted: readonly string[]
  /** Connectors that were routed again, since a group at one of their ends lost a member. [CANVAS-21] */
  readonly rerouted?: readonly string[]
}

/** Deletes a shape with the connectors that end at it and the groups that it leaves empty. [TOOL-delete_shape, CANVAS-24] */
export function deleteShape(route: Router): Edit<DeleteShape, ShapeDeleted> {
  return (body, { pageId, naming, ...args }, environment) => {
    const page = findCanvasPage(body, pageId)
    if (isRefusal(page)) return page
    const shapes = shapeValues(page)
    const named = findShape({ body, page, shapes, naming, seen: environment.seen }, args.id)
    if (isRefusal(named)) return named
    const { id } = named
    const { gone, kept } = withoutShapes([id], shapes)
    const inOrder = shapesInOrder(page)
    const left = inOrder.filter((shape) => !gone.has(shape.id))
    const others = inOrder.map((shape) => shape.id).filter((other) => other !== id && gone.has(other))
    // A group is as large as its members, so a connector at a group that lost a member may end at another point now.
    const after = new Map(left.map((shape) => [shape.id, kept.get(shape.id) ?? shape.value]))
    const settled = settleConnectors({ before: pageGeometry(shapes), after, written: new Map() }, route)
    const { rerouted } = settled
    return writtenTo({
      page,
      body: withShapes(body, page, withValues(left, settled.shapes, environment.nowMs)),
      result: { deleted: [id, ...others], ...(rerouted.length === 0 ? {} : { rerouted }) },
      warnings: settled.warnings,
      selection: [],
    })
  }
}

export interface ReorderShapes {
  readonly pageId: string
  /** Every shape of the page that is in no group, bottom first. */
  readonly order: readonly string[]
}

/**
 * Sets the z-order of the shapes of a page that are in no group. Members stay directly above their groups. Refuses an order that does not name each of
 * these shapes exactly once. [TOOL-reorder_shapes]
 */
export const reorderShapes: Edit<ReorderShapes & Printed, ReorderShapes & { readonly ok: true }> = (
  body,
  { pageId, naming, ...args },
  { seen },
) => {
  const page = findCanvasPage(body, pageId)
  if (isRefusal(page)) return page
  const values = shapeValues(page)
  const order = shapeIds({ body, page, shapes: values, naming, seen }, args.order, 'order')
  if (isRefusal(order)) return order
  const members = groupMembers(values)
  const byId = new Map(page.shapes.map((shape) => [shape.id, shape]))
  const outside = shapesInOrder(page).filter(({ id }) => !members.has(id))
  const refusal = notPermutation(
    order,
    outside.map(({ id }) => id),
  )
  if (refusal !== null) return refusal
  const shapes = stackShapes(order, values).map((id) => byId.get(id) as Shape)
  return writtenTo({ page, body: withShapes(body, page, shapes), result: { pageId, order, ok: true }, selection: [...order] })
}
