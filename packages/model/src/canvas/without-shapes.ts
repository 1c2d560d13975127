import { type Json, type JsonObject, memberOf, setMember } from '../json.ts'
import type { ShapeValues } from './page-geometry.ts'
import { kindOf } from './shape-kinds.ts'
import { childrenOf, stringOf } from './stored-shape.ts'

/**
 * Finds what the deletion of these shapes changes. `gone` has the shapes themselves, the connectors that end at a gone shape, and the groups that are left
 * without members. `kept` has the groups that stay and lose members, with their new lists of members. Each list is written once, however many members
 * go. [CANVAS-24]
 */
export function withoutShapes(
  ids: readonly string[],
  shapes: ShapeValues,
): { readonly gone: ReadonlySet<string>; readonly kept: ShapeValues } {
  const deleted = new Set(ids)
  const groupsOf = groupsByMember(shapes)
  const gone = goneWith(deleted, shapes, groupsOf)
  const kept = new Map<string, JsonObject>()
  for (const group of new Set([...gone].flatMap((id) => groupsOf.get(id) ?? [])))
    if (!gone.has(group)) kept.set(group, withoutMembers(group, gone, deleted, shapes))
  return { gone, kept }
}

function goneWith(deleted: ReadonlySet<string>, shapes: ShapeValues, groupsOf: Lists): ReadonlySet<string> {
  const gone = new Set(deleted)
  const open = [...deleted]
  const add = (id: string) => {
    if (gone.has(id)) return
    gone.add(id)
    open.push(id)
  }
  const connectorsOf = connectorsByEnd(shapes)
  // How many shapes each group would still hold, and which groups hold a shape. A group also counts the members that it takes over from a deleted group.
  const left = new Map<string, number>()
  const holders = new Map<string, string[]>()
  for (const [id, value] of shapes) {
    if (deleted.has(id) || kindOf(value).form !== 'group') continue
    const members = [...heldBy(id, deleted, shapes)].filter((member) => shapes.has(member))
    left.set(id, members.length)
    for (const member of members) listIn(holders, member, id)
  }
  for (const id of deleted) for (const group of groupsOf.get(id) ?? []) if (left.get(group) === 0) add(group)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const connector of connectorsOf.get(next) ?? []) add(connector)
    for (const group of holders.get(next) ?? []) {
      const others = (left.get(group) as number) - 1
      left.set(group, others)
      if (others === 0) add(group)
    }
  }
  return gone
}

/**
 * Returns the members of a group when each deleted group in it is replaced by its own members, at any depth. Other deleted shapes are still in the result; the
 * group itself is not.
 */
function heldBy(group: string, deleted: ReadonlySet<string>, shapes: ShapeValues): ReadonlySet<string> {
  const held = new Set<string>()
  const opened = new Set<string>()
  const open = childrenOf(shapes.get(group)).toReversed()
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const inner = deleted.has(id) ? childrenOf(shapes.get(id)) : []
    if (inner.length === 0) held.add(id)
    else if (!opened.has(id)) {
      opened.add(id)
      for (const child of inner.toReversed()) open.push(child)
    }
  }
  held.delete(group)
  return held
}

/** Removes gone shapes from the list of members of a group. The members of a deleted group take its place, unless the list has them already. */
function withoutMembers(group: string, gone: ReadonlySet<string>, deleted: ReadonlySet<string>, shapes: ShapeValues): JsonObject {
  const value = shapes.get(group) as JsonObject
  const taken = new Set([group, ...childrenOf(value)])
  const childIds = (memberOf(value, 'childIds') as readonly Json[]).flatMap((child): readonly Json[] => {
    if (typeof child !== 'string' || !gone.has(child)) return [child]
    if (!deleted.has(child)) return []
    const heirs = [...heldBy(child, deleted, shapes)].filter((heir) => !gone.has(heir) && !taken.has(heir))
    for (const heir of heirs) taken.add(heir)
    return heirs
  })
  return setMember(value, 'childIds', childIds)
}

type Lists = ReadonlyMap<string, readonly string[]>

function connectorsByEnd(shapes: ShapeValues): Lists {
  const pairs = [...shapes].flatMap(([id, value]) =>
    kindOf(value).form === 'line'
      ? [stringOf(value, 'startShapeId'), stringOf(value, 'endShapeId')].flatMap((end) =>
          end === undefined ? [] : [{ end, id }],
        )
      : [],
  )
  return listedBy(pairs.map(({ end, id }) => [end, id]))
}

function groupsByMember(shapes: ShapeValues): Lists {
  return listedBy(
    [...shapes].flatMap(([id, value]) => [...new Set(childrenOf(value))].flatMap((child) => (child === id ? [] : [[child, id]]))),
  )
}

function listedBy(pairs: readonly (readonly string[])[]): Lists {
  const lists = new Map<string, string[]>()
  for (const [key = '', id = ''] of pairs) listIn(lists, key, id)
  return lists
}

function listIn(lists: Map<string, string[]>, key: string, id: string): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [id])
  else list.push(id)
}
