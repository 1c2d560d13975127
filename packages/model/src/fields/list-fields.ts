import type { DocumentBody, Fields } from '../body.ts'
import { isJsonObject, type JsonObject, memberOf, omitMembers } from '../json.ts'

/** A field as tools show it. */
export interface FieldEntry {
  readonly name: string
  readonly value: string
}

/** Returns all fields of a document in display order. [FIELD-1] */
export function listFields(body: DocumentBody): readonly FieldEntry[] {
  if (body.fields?.kind !== 'fields') return []
  const { items, order } = body.fields
  return order.map((name) => ({ name, value: fieldValue(items.get(name) ?? {}) }))
}

/** Returns the fields of a body; empty when the stored value cannot be read as fields. Other members of that value are kept. [BODY-3] */
export function fieldLibrary(body: DocumentBody): Fields {
  const given = body.fields
  if (given?.kind === 'fields') return given
  const none: Fields = { kind: 'fields', items: new Map(), order: [], members: {} }
  if (given === undefined || !isJsonObject(given.value)) return none
  return { ...none, members: omitMembers(given.value, 'fields', 'order'), memberOrder: Object.keys(given.value) }
}

/** Returns the value of a stored field as text, and `''` for a value of another type, since editors may store anything. */
export function fieldValue(entry: JsonObject): string {
  const value = memberOf(entry, 'value')
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}
