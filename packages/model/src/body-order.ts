import { isJsonObject, type JsonObject } from './json.ts'

/**
 * The order in which records are read: the first of repeated ids, none without a record, and records that the order does not name at
 * the end by `createdAt` (those without a number last), then id. [YDOC-4, BODY-4]
 */
export function healOrder(listed: readonly unknown[], records: ReadonlyMap<string, JsonObject>): readonly string[] {
  const seen = new Set<string>()
  for (const id of listed) if (typeof id === 'string' && records.has(id)) seen.add(id)
  if (seen.size < records.size)
    for (const id of byAge(
      [...records.keys()].filter((id) => !seen.has(id)),
      records,
    ))
      seen.add(id)
  return [...seen]
}

/**
 * Shapes of a page, bottom first, with the members of a group directly after it in the order of its `childIds`; a group alone says where
 * its members are, so the order's word on them does not count. [CANVAS-17, BODY-4]
 */
export function stackShapes(listed: readonly unknown[], shapes: ReadonlyMap<string, JsonObject>): readonly string[] {
  const members = groupMembers(shapes)
  const healed = healOrder(listed, shapes)
  if (members.size === 0) return healed
  const stack = new Set<string>()
  // Without recursion: groups may lie in each other as deep as a body is long.
  const put = (root: string): void => {
    const ids = [root]
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      if (stack.has(id)) continue
      stack.add(id)
      const children = childIds(shapes.get(id))
      for (let i = children.length - 1; i >= 0; i--) {
        const child = children[i] as string
        if (shapes.has(child) && !stack.has(child)) ids.push(child)
      }
    }
  }
  for (const id of healed) if (!members.has(id)) put(id)
  // Groups that hold each other have no outermost one; they are shown rather than lost.
  if (stack.size < shapes.size)
    for (const id of byAge(
      [...members].filter((id) => !stack.has(id)),
      shapes,
    ))
      put(id)
  return [...stack]
}

/** Ids of shapes that belong to a group and so are not named by `shapeOrder`. [BODY-4] */
export function groupMembers(shapes: ReadonlyMap<string, JsonObject>): ReadonlySet<string> {
  const members = new Set<string>()
  for (const [id, shape] of shapes) for (const child of childIds(shape)) if (child !== id && shapes.has(child)) members.add(child)
  return members
}

const NONE: readonly string[] = []

function childIds(shape: JsonObject | undefined): readonly string[] {
  if (shape?.type !== 'group' || !Array.isArray(shape.childIds)) return NONE
  return (shape.childIds as readonly unknown[]).filter((id): id is string => typeof id === 'string')
}

function byAge(ids: readonly string[], records: ReadonlyMap<string, JsonObject>): readonly string[] {
  const created = (id: string): number => {
    const record = records.get(id)
    const at = isJsonObject(record) && Object.hasOwn(record, 'createdAt') ? record.createdAt : null
    return typeof at === 'number' ? at : Number.POSITIVE_INFINITY
  }
  return [...ids].sort((a, b) => {
    const [left, right] = [created(a), created(b)]
    if (left !== right) return left < right ? -1 : 1
    return a < b ? -1 : 1
  })
}
