import { childrenOf } from './canvas/stored-shape.ts'
import { isJsonObject, type JsonObject } from './json.ts'

/**
 * Returns the ids of records in the order in which they are read. Of repeated ids only the first counts, and an id without
 * a record is left out. Records that `listed` does not name come last, sorted by `createdAt` (records without a number
 * after the others), then by id. [YDOC-4, BODY-4]
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
 * Returns the shapes of a page, bottom first, with the members of a group directly after it in the order of its
 * `childIds`. Only the group decides where its members are; the order of the page is ignored for members. [CANVAS-17, BODY-4]
 */
export function stackShapes(listed: readonly unknown[], shapes: ReadonlyMap<string, JsonObject>): readonly string[] {
  const members = groupMembers(shapes)
  const healed = healOrder(listed, shapes)
  if (members.size === 0) return healed
  const stack = new Set<string>()
  // No recursion: groups may be nested as deep as a body is long.
  const put = (root: string): void => {
    const ids = [root]
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      if (stack.has(id)) continue
      stack.add(id)
      const children = childrenOf(shapes.get(id))
      for (let i = children.length - 1; i >= 0; i--) {
        const child = children[i] as string
        if (shapes.has(child) && !stack.has(child)) ids.push(child)
      }
    }
  }
  for (const id of healed) if (!members.has(id)) put(id)
  // Groups that contain each other have no outermost group. They are added here, so that no shape is lost.
  if (stack.size < shapes.size)
    for (const id of byAge(
      [...members].filter((id) => !stack.has(id)),
      shapes,
    ))
      put(id)
  return [...stack]
}

/** Returns the ids of shapes that belong to a group and so are not in `shapeOrder`. [BODY-4] */
export function groupMembers(shapes: ReadonlyMap<string, JsonObject>): ReadonlySet<string> {
  const members = new Set<string>()
  for (const [id, shape] of shapes)
    for (const child of childrenOf(shape)) if (child !== id && shapes.has(child)) members.add(child)
  return members
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
