import type { Fix } from '@docrelay/model/edit'
import type { ArgumentsSchema, ValueSchema } from './arguments.ts'
import type { JsonObject } from './tool.ts'

/** The arguments after repair, with one fix for each adjustment. */
export interface RepairedArguments {
  readonly args: JsonObject
  readonly fixes: readonly Fix[]
}

/** Optional arguments in which an empty string is a value of its own and not an absent argument. [AG-93] */
const MAY_BE_EMPTY = new Set(['content', 'body', 'replace', 'language', 'label', 'backgroundColor', 'align', 'scope'])

/**
 * Repairs two slips of clients: JSON sent as a string where the schema wants another type is parsed, and an empty string for an optional
 * argument counts as absent. Everything else stays unchanged. [AG-93]
 */
export function repairArguments(schema: ArgumentsSchema, args: JsonObject): RepairedArguments {
  const fixes: Fix[] = []
  const required = new Set(schema.required)
  const given = Object.entries(args).filter(([name, value]) => {
    const isEmpty = value === '' && Object.hasOwn(schema.properties, name) && !required.has(name) && !MAY_BE_EMPTY.has(name)
    if (isEmpty) fixes.push({ action: 'dropped_invalid', field: name, reason: 'empty text counts as absent' })
    return !isEmpty
  })
  const whole = repairMembers(schema, given.length === Object.keys(args).length ? args : Object.fromEntries(given), '', fixes)
  return { args: whole, fixes }
}

function repairMembers(schema: ValueSchema, value: JsonObject, path: string, fixes: Fix[]): JsonObject {
  const { properties = {} } = schema
  let changed: Record<string, unknown> | undefined
  for (const [name, member] of Object.entries(properties)) {
    if (!Object.hasOwn(value, name)) continue
    const repaired = repair(member, value[name], path + name, fixes)
    if (repaired !== value[name]) (changed ??= { ...value })[name] = repaired
  }
  return changed ?? value
}

function repair(schema: ValueSchema, value: unknown, path: string, fixes: Fix[]): unknown {
  const read = typeof value === 'string' ? readJson(schema, value) : undefined
  if (read !== undefined)
    fixes.push({ action: 'unwrapped', field: path, reason: `JSON sent as a string was read as ${String(schema.type)}` })
  const meant = read ?? value
  if (Array.isArray(meant) && schema.items !== undefined) {
    const { items } = schema
    const list = meant.map((item: unknown, i) => repair(items, item, `${path}[${i}]`, fixes))
    return list.every((item, i) => item === meant[i]) ? meant : list
  }
  return isObject(meant) ? repairMembers(schema, meant, `${path}.`, fixes) : meant
}

/** Parses `text` as JSON when the schema wants another type than string; `undefined` unless the value has that type. */
function readJson({ type }: ValueSchema, text: string): unknown {
  if (typeof type !== 'string' || type === 'string') return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  switch (type) {
    case 'array':
      return Array.isArray(value) ? value : undefined
    case 'object':
      return isObject(value) ? value : undefined
    case 'integer':
      return Number.isInteger(value) ? value : undefined
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? value : undefined
    default:
      return typeof value === type ? value : undefined
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
