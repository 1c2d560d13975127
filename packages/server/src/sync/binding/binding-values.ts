import { equalJson, isJsonObject, type Json, type JsonObject, memberOf, omitMembers, setMember } from '@docrelay/model/json'
import * as Y from 'yjs'

/**
 * Returns a value of the live document as JSON: the value itself when it already is JSON, else a converted copy, or `undefined` when it has
 * no JSON form. A nested Y type becomes its content, a number that JSON lacks becomes `null`, bytes become a list of numbers. [YDOC-2]
 */
export function readValue(value: unknown): Json | undefined {
  if (isJson(value)) return value
  switch (typeof value) {
    case 'bigint':
      return Number(value)
    case 'number':
      return null
    case 'object':
      return readObject(value as object)
    default:
      return undefined
  }
}

function isJson(value: unknown): value is Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return false
  if (Array.isArray(value)) return value.every(isJson)
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isJson)
}

function readObject(value: object): Json {
  if (value instanceof Y.Map) return fromEntries(value.entries())
  if (value instanceof Y.Array) return value.toArray().map((item) => readValue(item) ?? null)
  if (value instanceof Y.AbstractType) return String(value)
  if (value instanceof Uint8Array) return [...value]
  if (Array.isArray(value)) return value.map((item) => readValue(item) ?? null)
  return fromEntries(Object.entries(value))
}

function fromEntries(entries: Iterable<[string, unknown]>): JsonObject {
  const read: [string, Json][] = []
  for (const [name, value] of entries) {
    const json = readValue(value)
    if (json !== undefined) read.push([name, json])
  }
  return Object.fromEntries(read)
}

/**
 * Returns a value in the form that the live document may hold. Removes members named `__proto__`, because decoding them would replace a
 * prototype in other clients, and an outermost `constructor`, because Yjs uses it to recognise types. Returns the same object when there is
 * nothing to remove. Removed members stay in the stored body: see `keepHidden`. [BODY-7, BODY-8]
 */
export function wireValue<T extends Json>(value: T): T
export function wireValue(value: Json): Json {
  if (!holdsHidden(value) && !(isJsonObject(value) && Object.hasOwn(value, 'constructor'))) return value
  return isJsonObject(value) ? withoutProto(omitMembers(value, 'constructor')) : withoutProto(value)
}

/** Whether a value has a member `__proto__` at any depth. Nearly no value has one, and this check is faster than a copy. */
function holdsHidden(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(holdsHidden)
  return Object.hasOwn(value, '__proto__') || Object.values(value as JsonObject).some(holdsHidden)
}

function withoutProto(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutProto(item as Json))
    return items.every((item, i) => item === value[i]) ? value : items
  }
  const entries = Object.entries(value as JsonObject)
  const kept = entries
    .filter(([name]) => name !== '__proto__')
    .map(([name, member]): [string, Json] => [name, withoutProto(member)])
  const clean = kept.length === entries.length && kept.every(([name, member]) => member === (value as JsonObject)[name])
  return clean ? value : Object.fromEntries(kept)
}

/** Whether a live value equals the value that writing `base` would store. */
export function isWireOf(live: Json | undefined, base: Json | undefined): boolean {
  return live === base || equalJson(live, base) || (base !== undefined && equalJson(live, wireValue(base)))
}

/**
 * Returns `live` with the members that `wireValue` removed from `base`, as far as `live` still has the objects that contained them. [BODY-7]
 */
export function keepHidden(base: Json | undefined, live: Json): Json {
  if (base === undefined || wireValue(base) === base) return live
  const kept = keepProto(base, live)
  if (!isJsonObject(base) || !isJsonObject(kept) || Object.hasOwn(kept, 'constructor')) return kept
  const hidden = memberOf(base, 'constructor')
  return hidden === undefined ? kept : setMember(kept, 'constructor', hidden)
}

function keepProto(base: Json | undefined, live: Json): Json {
  if (Array.isArray(base))
    return Array.isArray(live) ? live.map((item, i) => keepProto(base[i] as Json | undefined, item as Json)) : live
  if (!isJsonObject(live) || !isJsonObject(base)) return live
  const merged: JsonObject = Object.fromEntries(
    Object.entries(live).map(([name, member]) => [name, keepProto(memberOf(base, name), member)]),
  )
  const hidden = memberOf(base, '__proto__')
  return hidden === undefined ? merged : setMember(merged, '__proto__', hidden)
}
