import { type Json, type JsonObject, memberOf, setMember } from '../json.ts'
import type { ShapeValues } from './page-geometry.ts'
import { kindOf } from './shape-kinds.ts'
import { childrenOf, stringOf } from './stored-shape.ts'

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
