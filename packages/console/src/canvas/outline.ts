import type { JsonObject } from '@docrelay/model/json'
import { kindOf } from '@docrelay/model/canvas/shape-kinds'
import { stringOf } from '@docrelay/model/canvas/stored-shape'

/** A shape of a page in words. */
export interface OutlineEntry {
  readonly id: string
  /** The shapes that its connectors lead to. */
  readonly targets: readonly string[]
}

/**
 * The shapes of a page in the given order. A connector between two shapes has no entry of its own: the entry of the first shape names the
 * second one. A connector with a free end has an entry.
 */
export function outlineOf(order: readonly string[], shapes: ReadonlyMap<string, JsonObject>): readonly OutlineEntry[] {
  const targets = new Map<string, string[]>()
  const listed = order.filter((id) => {
    const value = shapes.get(id)
    if (value === undefined) return false
    if (kindOf(value).form !== 'line') return true
    const [from, to] = [stringOf(value, 'startShapeId'), stringOf(value, 'endShapeId')]
    if (from === undefined || to === undefined || !shapes.has(from) || !shapes.has(to)) return true
    targets.set(from, [...(targets.get(from) ?? []), to])
    return false
  })
  return listed.map((id) => ({ id, targets: targets.get(id) ?? [] }))
}
