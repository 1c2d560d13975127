import { nearestNames } from '@docrelay/model/nearest'
import { quote } from '@docrelay/model/quote'
import type { JsonObject, ToolFailure } from './tool.ts'

/** The part of JSON Schema 2020-12 that arguments are described with; a schema is both what callers see and what is checked. [TOOL-4] */
export interface ValueSchema {
  readonly type?: ValueType | readonly ValueType[]
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: ValueSchema
  readonly properties?: Readonly<Record<string, ValueSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: false
}

export interface ArgumentsSchema extends ValueSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, ValueSchema>>
  readonly additionalProperties: false
}

type ValueType = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'null'

/** Of prose content; said in schemas and judged by its bytes with a code of its own, ERR_PROSE_TOO_LARGE. [PROSE-21] */
export const CONTENT_LENGTH = 1_048_576

/** Arguments that fit, without the optional ones that are null, or the refusal that names what does not. Nothing is coerced. [TOOL-6] */
export function checkArguments(
  schema: ArgumentsSchema,
  args: JsonObject,
): { readonly kind: 'fit'; readonly args: JsonObject } | ToolFailure {
  const required = new Set(schema.required)
  const given = Object.fromEntries(
    Object.entries(args).filter(([name, value]) => value !== null || required.has(name) || !isKnown(schema, name)),
  )
  return membersFlaw(schema, given, '') ?? { kind: 'fit', args: given }
}

/** The refusal of one argument. */
export function badArgument(argument: string, sentence: string, facts: JsonObject): ToolFailure {
  return { kind: 'failure', code: 'ERR_BAD_ARGUMENT', message: sentence, facts: { argument, ...facts } }
}

function isKnown({ properties = {} }: ValueSchema, name: string): boolean {
  return Object.hasOwn(properties, name)
}

/** `path` is that of the object with a point behind it, empty for the arguments themselves. */
function membersFlaw(schema: ValueSchema, value: JsonObject, path: string): ToolFailure | null {
  const { properties = {}, required = [] } = schema
  const unknown = schema.additionalProperties === false ? Object.keys(value).find((name) => !isKnown(schema, name)) : undefined
  if (unknown !== undefined) return unknownArgument(unknown, Object.keys(properties), path)
  const missing = required.find((name) => !Object.hasOwn(value, name))
  if (missing !== undefined) return misfit(path + missing, expected(properties[missing] ?? {}), undefined)
  for (const [name, member] of Object.entries(properties)) {
    const flaw = Object.hasOwn(value, name) ? flawOf(member, value[name], path + name) : null
    if (flaw !== null) return flaw
  }
  return null
}

function unknownArgument(name: string, known: readonly string[], path: string): ToolFailure {
  const shown = path + quote(name)
  const [nearest] = nearestNames(name, known, 1)
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  const wanted = known.length === 0 ? 'no argument' : `one of ${known.join(', ')}`
  const sentence = `There is no argument ${JSON.stringify(shown)}.${hint} Expected is ${wanted}.`
  return badArgument(shown, sentence, { expected: wanted, ...(nearest !== undefined && { nearest }), known })
}

function flawOf(schema: ValueSchema, value: unknown, path: string): ToolFailure | null {
  if (!hasType(schema, value) || !isWithin(schema, value)) return misfit(path, expected(schema), value)
  if (isObject(value)) return membersFlaw(schema, value, `${path}.`)
  if (!Array.isArray(value) || schema.items === undefined) return null
  for (const [i, item] of value.entries()) {
    const flaw = flawOf(schema.items, item, `${path}[${i}]`)
    if (flaw !== null) return flaw
  }
  return null
}

function hasType({ type }: ValueSchema, value: unknown): boolean {
  if (type === undefined) return true
  const types: readonly ValueType[] = typeof type === 'string' ? [type] : type
  return types.some((one) => {
    switch (one) {
      case 'integer':
        return Number.isInteger(value)
      case 'number':
        return typeof value === 'number' && Number.isFinite(value)
      case 'object':
        return isObject(value)
      case 'array':
        return Array.isArray(value)
      case 'null':
        return value === null
      default:
        return typeof value === one
    }
  })
}

function isWithin(schema: ValueSchema, value: unknown): boolean {
  if (schema.enum !== undefined && !schema.enum.includes(value as string)) return false
  if (typeof value === 'number') return value >= (schema.minimum ?? -Infinity) && value <= (schema.maximum ?? Infinity)
  if (Array.isArray(value)) return value.length >= (schema.minItems ?? 0) && value.length <= (schema.maxItems ?? Infinity)
  if (typeof value !== 'string') return true
  const { minLength = 0, maxLength = Infinity } = schema
  if (value.length < minLength) return false
  // A character takes at most two units: only in between they must be counted.
  return maxLength === CONTENT_LENGTH || value.length <= maxLength || Array.from(value).length <= maxLength
}

function misfit(argument: string, wanted: string, value: unknown): ToolFailure {
  const got = value === undefined ? undefined : shownValue(value)
  const sentence =
    got === undefined ? `${argument} is missing; expected ${wanted}.` : `${argument} is ${got}; expected ${wanted}.`
  return badArgument(argument, sentence, { expected: wanted, ...(got !== undefined && { got }) })
}

/** A schema in words. */
function expected(schema: ValueSchema): string {
  if (schema.enum !== undefined) return `one of ${schema.enum.join(', ')}`
  const type = schema.items?.type === 'string' ? 'array of strings' : [schema.type ?? 'a value'].flat().join(' or ')
  const bounds = [
    bound(schema.minimum, schema.maximum, ''),
    bound(schema.minLength, schema.maxLength, ' characters'),
    bound(schema.minItems, schema.maxItems, itemsInWords(schema.items)),
  ].filter((text) => text !== '')
  return [type, ...bounds].join(' ')
}

/** What a list holds, so that who sent something else knows its members too. */
function itemsInWords(items: ValueSchema | undefined): string {
  return items?.properties === undefined ? ' items' : ` items with ${Object.keys(items.properties).join(', ')}`
}

function bound(from: number | undefined, to: number | undefined, unit: string): string {
  if (from !== undefined && to !== undefined) return `of ${from} to ${to}${unit}`
  if (from !== undefined) return `of at least ${from}${unit}`
  return to === undefined ? '' : `of at most ${to}${unit}`
}

/** What came, at a length that an error may repeat. [TOOL-14] */
function shownValue(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (isObject(value)) return 'an object'
  return JSON.stringify(typeof value === 'string' ? quote(value) : value)
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
