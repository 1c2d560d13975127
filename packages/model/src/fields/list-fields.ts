import type { DocumentBody, Fields } from '../body.ts'
import { type Json, memberOf, omitMembers } from '../json.ts'

/** A field as tools show it. */
export interface FieldEntry {
  readonly name: string
  readonly value: string
}

/** All fields in display order. [FIELD-1] */
export function listFields(body: DocumentBody): readonly FieldEntry[] {
  if (body.fields?.kind !== 'fields') return []
  const { items, order } = body.fields
  return order.map((name) => ({ name, value: shownValue(memberOf(items.get(name) ?? {}, 'value')) }))
}

/** The library of a body, empty where it has none that can be read. What else stood in it is carried. [BODY-3] */
export function fieldLibrary(body: DocumentBody): Fields {
  const given = body.fields
  if (given?.kind === 'fields') return given
  const value = given?.value
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  const carried = isObject ? (value as { readonly [name: string]: Json }) : {}
  const base: Fields = { kind: 'fields', items: new Map(), order: [], members: omitMembers(carried, 'fields', 'order') }
  return isObject ? { ...base, memberOrder: Object.keys(carried) } : base
}

/** An entry's value as text; the relay does not check what editors store. */
function shownValue(value: Json | undefined): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}
