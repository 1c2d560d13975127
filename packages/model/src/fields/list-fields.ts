import type { DocumentBody, Fields } from '../body.ts'
import { isJsonObject, type JsonObject, memberOf, omitMembers } from '../json.ts'

/** A field as tools show it. */
export interface FieldEntry {
  readonly name: string
  readonly value: string
}

/** All fields in display order. [FIELD-1] */
export function listFields(body: DocumentBody): readonly FieldEntry[] {
  if (body.fields?.kind !== 'fields') return []
  const { items, order } = body.fields
  return order.map((name) => ({ name, value: fieldValue(items.get(name) ?? {}) }))
}

/** The library of a body, empty where it has none that can be read. What else stood in it is carried. [BODY-3] */
export function fieldLibrary(body: DocumentBody): Fields {
  const given = body.fields
  if (given?.kind === 'fields') return given
  const none: Fields = { kind: 'fields', items: new Map(), order: [], members: {} }
  if (given === undefined || !isJsonObject(given.value)) return none
  return { ...none, members: omitMembers(given.value, 'fields', 'order'), memberOrder: Object.keys(given.value) }
}

/** An entry's value as text; the relay does not check what editors store. */
export function fieldValue(entry: JsonObject): string {
  const value = memberOf(entry, 'value')
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}
