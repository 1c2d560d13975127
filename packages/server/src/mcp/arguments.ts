import type { Fix } from '@docrelay/model/edit'
import { quote } from '@docrelay/model/quote'
import { repairArguments } from './argument-repairs.ts'
import { meantArgument } from './argument-slips.ts'
import type { JsonObject, ToolAnnotations, ToolFailure } from './tool.ts'

/**
 * The part of JSON Schema 2020-12 that describes arguments. The relay lists this schema to callers and checks arguments by it. [TOOL-4]
 */
export interface ValueSchema {
  readonly type?: ValueType
  /** `null` is accepted too. The listed schema omits this, because some clients read only one type for each value. [AG-92] */
  readonly [OR_NULL]?: true
  /** Any type passes this check: the tool checks the type itself and refuses it with its own code. [AG-92] */
  readonly [BY_TOOL]?: true
  /** On a list: the prefix of an error in one item; `shape` gives `shape[2]: …`. [TOOL-add_shapes] */
  readonly [ITEM_NAME]?: string
  /** Any number of items passes this check: the tool counts them itself and refuses them with its own code. [DIAG-2] */
  readonly [COUNTED_BY_TOOL]?: true
  /** What the argument does. Only arguments with an unclear name have a description. [AG-90] */
  readonly description?: string
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

type ValueType = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array'

/** Members named by a symbol are not serialised to JSON, so they do not appear in the tool list. */
export const OR_NULL = Symbol('or null')
export const BY_TOOL = Symbol('by tool')
export const ITEM_NAME = Symbol('item name')
export const COUNTED_BY_TOOL = Symbol('counted by tool')

/**
 * `maxLength` of prose content in listed schemas. The argument check does not apply it: the edit counts bytes and refuses with
 * ERR_PROSE_TOO_LARGE. [PROSE-21]
 */
export const CONTENT_LENGTH = 1_048_576

/** For names that a tool has no argument for: the sentence that tells the caller what to use instead. [AG-95] */
export type Misnamed = Readonly<Record<string, string>>

/** Facts about a tool, besides its schema, that decide how its arguments are checked. */
interface ToolArguments {
  readonly misnamed?: Misnamed | undefined
  readonly annotations: Pick<ToolAnnotations, 'destructiveHint'>
}

/** Arguments that name the thing which a call replaces or removes. */
const ADDRESSES = new Set(['id', 'anchor', 'untilId', 'anchorUntil', 'pageId', 'callId'])

/**
 * Checks arguments against a schema. Returns the arguments without optional ones that are null, with the fixes of repaired values; or a
 * refusal that names the wrong argument. [TOOL-6, AG-93]
 */
export function checkArguments(
  schema: ArgumentsSchema,
  args: JsonObject,
  tool?: ToolArguments,
): { readonly kind: 'fit'; readonly args: JsonObject; readonly fixes: readonly Fix[] } | ToolFailure {
  const required = new Set(schema.required)
  const present = Object.fromEntries(
    Object.entries(args).filter(([name, value]) => value !== null || required.has(name) || !isKnown(schema, name)),
  )
  if (tool?.annotations.destructiveHint === true)
    for (const name of ADDRESSES)
      if (present[name] === '' && isKnown(schema, name) && !required.has(name)) return emptyAddress(name)
  const { args: given, fixes } = repairArguments(schema, present)
  return membersFlaw(schema, given, '', tool?.misnamed) ?? { kind: 'fit', args: given, fixes }
}

/** Makes the failure ERR_BAD_ARGUMENT for one argument. */
export function badArgument(argument: string, sentence: string, facts: JsonObject): ToolFailure {
  return { kind: 'failure', code: 'ERR_BAD_ARGUMENT', message: sentence, facts: { argument, ...facts } }
}

/** Refuses an empty address: if it counted as absent, the call could replace or remove more than its caller named. [AG-93] */
function emptyAddress(name: string): ToolFailure {
  const expected = `a value, or no ${name} at all`
  const sentence = `${name} is empty, and without ${name} the call may replace or remove something else; give it ${expected}.`
  return badArgument(name, sentence, { expected, got: '""' })
}

function isKnown({ properties = {} }: ValueSchema, name: string): boolean {
  return Object.hasOwn(properties, name)
}

/** Returns the first problem of an object's members, or `null`. `path` is the object's path and a dot; empty for the arguments. */
function membersFlaw(schema: ValueSchema, value: JsonObject, path: string, misnamed: Misnamed = {}): ToolFailure | null {
  const { properties = {}, required = [] } = schema
  const unknown = schema.additionalProperties === false ? Object.keys(value).find((name) => !isKnown(schema, name)) : undefined
  if (unknown !== undefined) {
    const known = Object.keys(properties)
    const hint = Object.hasOwn(misnamed, unknown) ? (misnamed[unknown] ?? null) : null
    const nearest = hint === null ? meantArgument(unknown, known, (name) => Object.hasOwn(value, name)) : null
    return unknownArgument(path + quote(unknown), known, nearest, hint)
  }
  const missing = required.find((name) => !Object.hasOwn(value, name))
  if (missing !== undefined) return misfit(path + missing, expected(properties[missing] ?? {}), undefined)
  for (const [name, member] of Object.entries(properties)) {
    const flaw = Object.hasOwn(value, name) ? flawOf(member, value[name], path + name) : null
    if (flaw !== null) return flaw
  }
  return null
}

function unknownArgument(shown: string, known: readonly string[], nearest: string | null, hint: string | null): ToolFailure {
  const told = hint !== null ? ` ${hint}` : nearest !== null ? ` Did you mean ${nearest}?` : ''
  const wanted = known.length === 0 ? 'no argument' : `one of ${known.join(', ')}`
  const sentence = `There is no argument ${JSON.stringify(shown)}.${told} Expected is ${wanted}.`
  return badArgument(shown, sentence, { expected: wanted, ...(nearest !== null && { nearest }), known })
}

function flawOf(schema: ValueSchema, value: unknown, path: string): ToolFailure | null {
  if (!hasType(schema, value) || !isWithin(schema, value)) return misfit(path, expected(schema), value)
  if (isObject(value)) return membersFlaw(schema, value, `${path}.`)
  if (!Array.isArray(value) || schema.items === undefined) return null
  for (const [i, item] of value.entries()) {
    const flaw = flawOf(schema.items, item, `${path}[${i}]`)
    if (flaw !== null) return ofItem(flaw, schema[ITEM_NAME], i)
  }
  return null
}

function ofItem(flaw: ToolFailure, name: string | undefined, at: number): ToolFailure {
  if (name === undefined) return flaw
  return { ...flaw, message: `${name}[${at}]: ${flaw.message}` }
}

function hasType({ type, [OR_NULL]: isNullable, [BY_TOOL]: isOpen }: ValueSchema, value: unknown): boolean {
  if (isOpen === true || (value === null && isNullable === true)) return true
  switch (type) {
    case undefined:
      return true
    case 'integer':
      return Number.isInteger(value)
    case 'number':
      return typeof value === 'number' && Number.isFinite(value)
    case 'object':
      return isObject(value)
    case 'array':
      return Array.isArray(value)
    default:
      return typeof value === type
  }
}

function isWithin(schema: ValueSchema, value: unknown): boolean {
  if (schema.enum !== undefined && !schema.enum.includes(value as string)) return false
  if (typeof value === 'number') return value >= (schema.minimum ?? -Infinity) && value <= (schema.maximum ?? Infinity)
  if (Array.isArray(value))
    return (
      schema[COUNTED_BY_TOOL] === true ||
      (value.length >= (schema.minItems ?? 0) && value.length <= (schema.maxItems ?? Infinity))
    )
  if (typeof value !== 'string') return true
  const { minLength = 0, maxLength = Infinity } = schema
  if (value.length < minLength) return false
  // A character takes at most two UTF-16 units, so characters are counted only when `length` exceeds the limit.
  return maxLength === CONTENT_LENGTH || value.length <= maxLength || Array.from(value).length <= maxLength
}

function misfit(argument: string, wanted: string, value: unknown): ToolFailure {
  const got = value === undefined ? undefined : shownValue(value)
  const sentence =
    got === undefined ? `${argument} is missing; expected ${wanted}.` : `${argument} is ${got}; expected ${wanted}.`
  return badArgument(argument, sentence, { expected: wanted, ...(got !== undefined && { got }) })
}

/** Describes in words the values that a schema accepts. */
function expected(schema: ValueSchema): string {
  if (schema.enum !== undefined) return `one of ${schema.enum.join(', ')}`
  const type =
    schema.items?.type === 'string'
      ? 'array of strings'
      : `${schema.type ?? 'a value'}${schema[OR_NULL] === true ? ' or null' : ''}`
  const bounds = [
    bound(schema.minimum, schema.maximum, ''),
    bound(schema.minLength, schema.maxLength, ' characters'),
    bound(schema.minItems, schema.maxItems, itemsInWords(schema.items)),
  ].filter((text) => text !== '')
  return [type, ...bounds].join(' ')
}

/** Describes the items of a list with the names of their members. */
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
