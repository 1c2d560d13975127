import { likelyMeant } from '@docrelay/model/nearest'
import { quote } from '@docrelay/model/quote'
import type { JsonObject, ToolFailure } from './tool.ts'

/**
 * The part of JSON Schema 2020-12 that describes arguments. The same schema is shown to callers and checked. [TOOL-4]
 */
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

/**
 * Length of prose content in schemas. The check counts bytes and has a code of its own, ERR_PROSE_TOO_LARGE. [PROSE-21]
 */
export const CONTENT_LENGTH = 1_048_576

/**
 * Checks arguments. Returns them without optional ones that are null, or a refusal that names the argument at fault.
 * Never converts a value to another type. [TOOL-6]
 */
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

/** Makes the refusal of one argument. */
export function badArgument(argument: string, sentence: string, facts: JsonObject): ToolFailure {
  return { kind: 'failure', code: 'ERR_BAD_ARGUMENT', message: sentence, facts: { argument, ...facts } }
}

function isKnown({ properties = {} }: ValueSchema, name: string): boolean {
  return Object.hasOwn(properties, name)
}

/** `path` is the path of the object followed by a dot; empty for the arguments themselves. */
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
  const nearest = sameMeaning(name, known) ?? likelyMeant(name, known)
  const hint = nearest === null ? '' : ` Did you mean ${nearest}?`
  const wanted = known.length === 0 ? 'no argument' : `one of ${known.join(', ')}`
  const sentence = `There is no argument ${JSON.stringify(shown)}.${hint} Expected is ${wanted}.`
  return badArgument(shown, sentence, { expected: wanted, ...(nearest !== null && { nearest }), known })
}

/** Groups of names that callers confuse, because tools name an argument by its purpose. */
const SAME_MEANING = [
  ['content', 'body', 'text', 'markdown', 'html'],
  ['docId', 'documentId', 'document'],
]

/** Returns the one argument of this tool that has the meaning which the unknown name has in other tools. */
function sameMeaning(name: string, known: readonly string[]): string | null {
  const group = SAME_MEANING.find((names) => names.includes(name)) ?? []
  const meant = known.filter((one) => group.includes(one))
  return meant.length === 1 ? (meant[0] ?? null) : null
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
  // A character takes at most two UTF-16 units, so characters are counted only when the length leaves it open.
  return maxLength === CONTENT_LENGTH || value.length <= maxLength || Array.from(value).length <= maxLength
}

function misfit(argument: string, wanted: string, value: unknown): ToolFailure {
  const got = value === undefined ? undefined : shownValue(value)
  const sentence =
    got === undefined ? `${argument} is missing; expected ${wanted}.` : `${argument} is ${got}; expected ${wanted}.`
  return badArgument(argument, sentence, { expected: wanted, ...(got !== undefined && { got }) })
}

/** Returns a schema in words. */
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

/** Describes the items of a list with their members, for a caller that sent something else. */
function itemsInWords(items: ValueSchema | undefined): string {
  return items?.properties === undefined ? ' items' : ` items with ${Object.keys(items.properties).join(', ')}`
}

function bound(from: number | undefined, to: number | undefined, unit: string): string {
  if (from !== undefined && to !== undefined) return `of ${from} to ${to}${unit}`
  if (from !== undefined) return `of at least ${from}${unit}`
  return to === undefined ? '' : `of at most ${to}${unit}`
}

/** Returns the sent value, cut to a length that an error may quote. [TOOL-14] */
function shownValue(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (isObject(value)) return 'an object'
  return JSON.stringify(typeof value === 'string' ? quote(value) : value)
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
