import type { CanvasPage, Shape } from '../body.ts'
import { pageGeometry, type PageGeometry, shapeValues } from '../canvas/page-geometry.ts'
import { kindOf } from '../canvas/shape-kinds.ts'
import { labelOf } from '../canvas/stored-shape.ts'
import { equalJson, type Json, type JsonObject } from '../json.ts'
import { isPrintable } from '../prose/block-names.ts'
import type { MemberChange, ShapeChange } from './change-set.ts'
import { endsHash } from './connector-ends.ts'
import { listChanges } from './sequence.ts'
import { shapeHashes } from './shape-hashes.ts'
import type { Removed, Tally } from './tally.ts'

/** Returns the members of an object that were changed, removed or added. */
export function memberChanges(
  before: Iterable<readonly [string, Json]>,
  after: ReadonlyMap<string, Json>,
): readonly MemberChange[] {
  const old = new Map(before)
  const changed = [...old].flatMap(([name, value]): readonly MemberChange[] => {
    const now = after.get(name)
    if (now === undefined) return [{ name, before: value }]
    return equalJson(value, now) ? [] : [{ name, before: value, after: now }]
  })
  const added = [...after].flatMap(([name, value]) => (old.has(name) ? [] : [{ name, after: value }]))
  return [...changed, ...added]
}

export function objectChanges(before: JsonObject, after: JsonObject): readonly MemberChange[] {
  return before === after ? [] : memberChanges(Object.entries(before), new Map(Object.entries(after)))
}

/** A removed shape in the form in which answers list it. */
export function removedShape(id: string, value: JsonObject): Removed {
  return { id, name: isPrintable(id) ? id : null, text: labelOf(value) ?? '', kind: 'shape' }
}

/** Compares the shapes of a page. */
export function shapeChanges(before: CanvasPage, after: CanvasPage, tally: Tally): readonly ShapeChange[] {
  if (before.shapes === after.shapes) return []
  const places = new Map(after.shapes.map(({ id }, index) => [id, index]))
  const pairs = before.shapes
    .flatMap(({ id }, index) => (places.has(id) ? [{ before: index, after: places.get(id) as number }] : []))
    .sort((a, b) => a.after - b.after)
  const lengths = { before: before.shapes.length, after: after.shapes.length }
  const { created, left } = listChanges(lengths, pairs, (index) => (after.shapes[index] as Shape).id)
  const changes: ShapeChange[] = []
  const hashOf = shapeHashes()
  const endsOf = endsBefore(before)
  const moved = new Set<string>()
  for (const { before: index, after: now, from, now: beside } of left) {
    const shape = before.shapes[index] as Shape
    if (now < 0) {
      tally.removed(removedShape(shape.id, shape.value))
      changes.push({ id: shape.id, before: shape.value, from, ...endsOf(shape.value) })
      continue
    }
    moved.add(shape.id)
    tally.changed()
    const stored = (after.shapes[now] as Shape).value
    const members = objectChanges(shape.value, stored)
    changes.push({
      id: shape.id,
      after: hashOf(stored),
      from,
      ...(beside && { now: beside }),
      ...(members.length > 0 && { members, ...endsOf(shape.value) }),
    })
  }
  for (const pair of pairs) {
    const [old, now] = [before.shapes[pair.before], after.shapes[pair.after]] as [Shape, Shape]
    const members = moved.has(now.id) ? [] : objectChanges(old.value, now.value)
    if (members.length === 0) continue
    tally.changed()
    changes.push({ id: now.id, after: hashOf(now.value), members, ...endsOf(old.value) })
  }
  for (const index of created) {
    const shape = after.shapes[index] as Shape
    tally.created(shape.id)
    changes.push({ id: shape.id, after: hashOf(shape.value) })
  }
  return changes
}

/** Returns a function that hashes where the shapes at the ends of a connector were. The first connector makes it measure the page. */
function endsBefore(page: CanvasPage): (value: JsonObject) => Pick<ShapeChange, 'ends'> {
  let geometry: PageGeometry | undefined
  return (value) => {
    if (kindOf(value).form !== 'line') return {}
    const ends = endsHash(value, (geometry ??= pageGeometry(shapeValues(page))))
    return ends === null ? {} : { ends }
  }
}
