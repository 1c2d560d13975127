import type { CanvasPage, Shape } from '../body.ts'
import { kindOf } from '../canvas/shape-kinds.ts'
import { childrenOf, labelOf, stringOf } from '../canvas/stored-shape.ts'
import { equalJson, type JsonObject, memberOf, omitMembers, setMember } from '../json.ts'
import { quote } from '../quote.ts'
import type { ShapeChange } from './change-set.ts'
import type { Kept } from './undo-list.ts'

/*
 * A connector ends at shapes, and a group contains shapes. An undo does not bring a connector, its end or a group back when somebody has removed these
 * shapes since the call. [CANVAS-9, CANVAS-24]
 */

type Ids = { has(id: string): boolean }

const sides = ['start', 'end'] as const
type Side = (typeof sides)[number]

/** The members that describe an end of a connector. The waypoints lead to both ends, so they are in both lists. */
const endMembers: { readonly [S in Side]: readonly string[] } = {
  start: ['startShapeId', 'startAnchor', 'x', 'y', 'waypoints'],
  end: ['endShapeId', 'endAnchor', 'x2', 'y2', 'waypoints'],
}

/** Marks the changes of connectors that ended at a missing shape before the call, and of groups without members. No tool makes these, only editors. */
export function withLooseMarked(changes: readonly ShapeChange[], before: CanvasPage): readonly ShapeChange[] {
  const values = new Map(before.shapes.map(({ id, value }) => [id, value]))
  return changes.map((change) => {
    const value = values.get(change.id)
    return value !== undefined && isLoose(change.id, value, values) ? { ...change, isLoose: true } : change
  })
}

/** The shapes of a page after an undo, without connectors and groups that the undo would bring back although their shapes are gone. [AG-70] */
export function withoutLoose(
  undone: readonly Shape[],
  given: readonly Shape[],
  entries: ReadonlyMap<string, ShapeChange>,
  kept: Kept[],
): readonly Shape[] {
  const present = new Map(given.map((shape) => [shape.id, shape]))
  const ids = new Set(undone.map(({ id }) => id))
  const settled = new Map<string, Shape | null>()
  const told = new Set(kept.map(({ id }) => id))
  let open = undone.filter((shape) => shape !== present.get(shape.id) && entries.get(shape.id)?.isLoose !== true)
  for (let isSettled = false; !isSettled; ) {
    isSettled = true
    open = open.filter((shape) => {
      if (!isLoose(shape.id, shape.value, ids)) return true
      const now = present.get(shape.id)
      const value = now === undefined ? null : withEndsOf(shape.value, now.value, ids)
      // On the page before the undo, the connector ends at the missing shape already, or the group has no member. The undo does not change that.
      if (value === shape.value) return true
      // `kept` lists the shape already when somebody has also moved it in the order of shapes.
      if (!told.has(shape.id))
        kept.push({ id: shape.id, text: quote(labelOf(shape.value) ?? ''), ...(value === null && { isGone: true }) })
      settled.set(
        shape.id,
        now === undefined || value === null ? null : equalJson(value, now.value) ? now : { id: shape.id, value },
      )
      if (value === null) {
        ids.delete(shape.id)
        isSettled = false
      }
      return false
    })
  }
  if (settled.size === 0) return undone
  return undone.flatMap((shape) => (settled.has(shape.id) ? (settled.get(shape.id) ?? []) : [shape]))
}

function isLoose(id: string, value: JsonObject, ids: Ids): boolean {
  const { form } = kindOf(value)
  if (form === 'line') return sides.some((side) => isLost(value, side, ids))
  return form === 'group' && !childrenOf(value).some((child) => child !== id && ids.has(child))
}

function isLost(value: JsonObject, side: Side, ids: Ids): boolean {
  const shapeId = stringOf(value, `${side}ShapeId`) ?? ''
  return shapeId !== '' && !ids.has(shapeId)
}

/**
 * Returns the connector as an undo makes it, except for each end at a shape that is gone. Such an end stays as it is on the page now, or becomes a free end
 * when its present shape is gone too.
 */
function withEndsOf(value: JsonObject, now: JsonObject, ids: Ids): JsonObject {
  let result = value
  for (const side of sides) {
    const name = `${side}ShapeId`
    if (!isLost(value, side, ids) || equalJson(memberOf(value, name), memberOf(now, name))) continue
    for (const member of endMembers[side]) {
      const present = memberOf(now, member)
      result = present === undefined ? omitMembers(result, member) : setMember(result, member, present)
    }
    if (isLost(result, side, ids)) result = setMember(result, name, null)
  }
  return result
}
