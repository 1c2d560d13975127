/** A JSON value as `JSON.parse` returns it. Values are never mutated: unchanged parts keep their identity. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** A JSON object, members in input order. May have own members named `__proto__` or `constructor`: copy with `setMember`, never with `o[k] = v`. */
export type JsonObject = { readonly [member: string]: Json }

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns an own member or `undefined`; never a member of a prototype. [BODY-8] */
export function memberOf(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** Returns a copy with `name` set, in its old place or at the end. */
export function setMember(object: JsonObject, name: string, value: Json): JsonObject {
  return { ...object, [name]: value }
}

/** Returns a copy without the members `names`; `object` itself when it has none of them. */
export function omitMembers(object: JsonObject, ...names: readonly string[]): JsonObject {
  if (!names.some((name) => Object.hasOwn(object, name))) return object
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
}

/** Compares JSON values: the order of members does not count, and -0 equals 0. */
export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => equalJson(item, b[i]))
  if (Array.isArray(b)) return false
  const left = a as JsonObject
  const right = b as JsonObject
  const names = Object.keys(left)
  if (names.length !== Object.keys(right).length) return false
  return names.every((name) => Object.hasOwn(right, name) && equalJson(left[name], right[name]))
}
