import type { Shape } from '../body.ts'
import { groupMembers, stackShapes } from '../body-order.ts'
import { type Edit, isRefusal } from '../edit.ts'
import { type Json, type JsonObject, memberOf, setMember } from '../json.ts'
import { notPermutation } from '../pages.ts'
import { findCanvasPage } from './find-page.ts'
import { type ShapeValues, shapeValues } from './page-geometry.ts'
import type { Printed } from '../prose/block-names.ts'
import { findShape, shapeIds } from './named-shapes.ts'
import { shapesInOrder } from './read-back.ts'
import { kindOf } from './shape-kinds.ts'
import { childrenOf, stringOf } from './stored-shape.ts'
import { withShapes, withValues, writtenTo } from './write-page.ts'

export interface DeleteShape extends Printed {
  readonly pageId: string
  readonly id: string
}

/** Deletes a shape with the connectors that end at it and the groups that it leaves empty. [TOOL-delete_shape, CANVAS-24] */
export const deleteShape: Edit<DeleteShape, { readonly deleted: readonly string[] }> = (
  body,
  { pageId, naming, ...args },
  environment,
) => {
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
  return writtenTo({
    page,
    body: withShapes(body, page, withValues(left, kept, environment.nowMs)),
    result: { deleted: [id, ...others] },
    selection: [],
  })
}

/**
 * What goes when these shapes are deleted: they, the connectors that end at them and the groups that they leave empty. `kept`: the groups that stay with
 * other members. [CANVAS-24]
 */
export function withoutShapes(
  ids: readonly string[],
  shapes: ShapeValues,
): { readonly gone: ReadonlySet<string>; readonly kept: ShapeValues } {
  const gone = new Set(ids)
  const connectorsOf = connectorsByEnd(shapes)
  const groupsOf = groupsByMember(shapes)
  const kept = new Map<string, JsonObject>()
  const open = [...ids]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const add = (other: string) => {
      if (gone.has(other)) return
      gone.add(other)
      open.push(other)
    }
    for (const connector of connectorsOf.get(next) ?? []) add(connector)
    // What a deleted group held is held by its group instead.
    const heirs = childrenOf(shapes.get(next)).filter((child) => child !== next && !gone.has(child))
    for (const group of groupsOf.get(next) ?? []) {
      const value = kept.get(group) ?? (shapes.get(group) as JsonObject)
      const present = new Set(childrenOf(value))
      const listed = memberOf(value, 'childIds') as readonly Json[]
      const childIds = listed.flatMap((child) => (child === next ? heirs.filter((heir) => !present.has(heir)) : [child]))
      kept.set(group, setMember(value, 'childIds', childIds))
      const isEmpty = !childIds.some(
        (child) => typeof child === 'string' && child !== group && shapes.has(child) && !gone.has(child),
      )
      if (isEmpty) add(group)
    }
  }
  return { gone, kept }
}

function connectorsByEnd(shapes: ShapeValues): ReadonlyMap<string, readonly string[]> {
  const pairs = [...shapes].flatMap(([id, value]) =>
    kindOf(value).form === 'line'
      ? [stringOf(value, 'startShapeId'), stringOf(value, 'endShapeId')].flatMap((end) =>
          end === undefined ? [] : [{ end, id }],
        )
      : [],
  )
  return listedBy(pairs.map(({ end, id }) => [end, id]))
}

function groupsByMember(shapes: ShapeValues): ReadonlyMap<string, readonly string[]> {
  return listedBy(
    [...shapes].flatMap(([id, value]) => [...new Set(childrenOf(value))].flatMap((child) => (child === id ? [] : [[child, id]]))),
  )
}

function listedBy(pairs: readonly (readonly string[])[]): ReadonlyMap<string, readonly string[]> {
  const lists = new Map<string, string[]>()
  for (const [key = '', id = ''] of pairs) {
    const list = lists.get(key)
    if (list === undefined) lists.set(key, [id])
    else list.push(id)
  }
  return lists
}

export interface ReorderShapes {
  readonly pageId: string
  /** Every shape of the page that is in no group, bottom first. */
  readonly order: readonly string[]
}

/** Puts the shapes of a page one above the other in this order; members stay with their groups. [TOOL-reorder_shapes] */
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
