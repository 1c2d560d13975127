import {
  addressProblem,
  CLUSTER_SECRET_FORM,
  MOST_CLUSTER_SECRETS,
  isCidr,
  isClusterSecret,
  isHostPattern,
  isHttpOrigin,
  isOrigin,
} from './addresses.ts'
import type { ConfigKey, IntegerKey, ListKey } from './key-kinds.ts'

/** A value of the type of its key; an unlimited 0 is still 0 here. */
export type ConfigValue = string | number | boolean | readonly string[] | null

export type Reading =
  | { readonly kind: 'value'; readonly value: ConfigValue }
  | { readonly kind: 'bad'; readonly problem: string; readonly allowed: string }

/**
 * Reads a raw value: text from the environment or the command line, or a value of the file. [CFG-3, CFG-8] With
 * `asText` the source has only text, so numbers, booleans and lists are parsed from it.
 */
export function readValue(key: ConfigKey, raw: unknown, asText: boolean): Reading {
  switch (key.kind) {
    case 'text':
      return readText(key, raw)
    case 'integer':
      return readInteger(key, raw, asText)
    case 'boolean':
      return readBoolean(raw)
    case 'list':
      return readList(key, raw)
    case 'choice':
      return typeof raw === 'string' && key.choices.includes(raw)
        ? { kind: 'value', value: raw }
        : { kind: 'bad', problem: 'not one of the choices', allowed: key.choices.join(', ') }
  }
}

function readText(key: Extract<ConfigKey, { kind: 'text' }>, raw: unknown): Reading {
  if (typeof raw !== 'string') return { kind: 'bad', problem: 'not text', allowed: 'text in quotes' }
  if (raw === '') return { kind: 'value', value: null }
  if (raw !== raw.trim()) return { kind: 'bad', problem: 'has spaces around it', allowed: 'text without spaces around it' }
  const wrong = addressProblem(key.format, raw)
  return wrong === null ? { kind: 'value', value: raw } : { kind: 'bad', ...wrong }
}

function readInteger(key: IntegerKey, raw: unknown, asText: boolean): Reading {
  const allowed = integerRange(key)
  let value = raw
  if (asText && typeof raw === 'string' && /^[0-9]{1,20}$/.test(raw.trim())) value = Number(raw)
  if (typeof value === 'bigint') return { kind: 'bad', problem: 'out of range', allowed }
  if (typeof value !== 'number' || !Number.isInteger(value)) return { kind: 'bad', problem: 'not an integer', allowed }
  const { least, most } = integerBounds(key)
  if (value === 0 && key.zero !== 'refused') return { kind: 'value', value: 0 }
  if (!Number.isSafeInteger(value) || value < least || value > most) return { kind: 'bad', problem: 'out of range', allowed }
  return { kind: 'value', value }
}

function integerBounds(key: IntegerKey): { readonly least: number; readonly most: number } {
  return { least: key.min ?? 1, most: key.max ?? Number.MAX_SAFE_INTEGER }
}

/** The allowed integers in words, e.g. `1 to 65535, 0 = free port`. */
function integerRange(key: IntegerKey): string {
  const { least, most } = integerBounds(key)
  const top = most === Number.MAX_SAFE_INTEGER ? '2^53-1' : String(most)
  if (key.zero === 'refused') return `${least} to ${top}`
  if (key.zero === 'none') return `0 to ${top}`
  return `${least} to ${top}, 0 = ${key.zero}`
}

const TRUE = ['1', 'true', 'yes', 'on']
const FALSE = ['0', 'false', 'no', 'off']

function readBoolean(raw: unknown): Reading {
  if (typeof raw === 'boolean') return { kind: 'value', value: raw }
  const word = typeof raw === 'string' || typeof raw === 'number' ? String(raw).toLowerCase() : ''
  if (TRUE.includes(word)) return { kind: 'value', value: true }
  if (FALSE.includes(word)) return { kind: 'value', value: false }
  return { kind: 'bad', problem: 'not a boolean', allowed: [...TRUE, ...FALSE].join(', ') }
}

function readList(key: ListKey, raw: unknown): Reading {
  const { allowed, most } = LIST_FORMS[key.format]
  const parts = typeof raw === 'string' ? raw.split(',') : raw
  if (!Array.isArray(parts)) return { kind: 'bad', problem: 'not a list', allowed }
  const items: string[] = []
  for (const part of parts as readonly unknown[]) {
    const item = typeof part === 'string' ? part.trim() : null
    if (item === null) return { kind: 'bad', problem: 'not a list of texts', allowed }
    if (item === '') continue
    if (!listItemFits(key.format, item)) return { kind: 'bad', problem: `item ${items.length + 1} has another form`, allowed }
    items.push(item)
  }
  if (items.length > most) return { kind: 'bad', problem: `${items.length} items, more than ${most}`, allowed }
  return { kind: 'value', value: items }
}

/** For each form of list items: the allowed items, in words, and the most items. */
const LIST_FORMS: Readonly<Record<ListKey['format'], { readonly allowed: string; readonly most: number }>> = {
  'origins-or-star': listOf('* or scheme://host[:port]'),
  origins: listOf('scheme://host[:port]'),
  'http-origins': listOf('https://host[:port] or http://host[:port]'),
  hosts: listOf('host or *.suffix'),
  cidrs: listOf('address or address/prefix'),
  'cluster-secrets': {
    allowed: `one secret, or two while it is changed, each of ${CLUSTER_SECRET_FORM}`,
    most: MOST_CLUSTER_SECRETS,
  },
}

function listOf(items: string) {
  return { allowed: `a list of ${items}`, most: Number.POSITIVE_INFINITY }
}

function listItemFits(format: ListKey['format'], item: string): boolean {
  switch (format) {
    case 'origins-or-star':
      return item === '*' || isOrigin(item)
    case 'origins':
      return isOrigin(item)
    case 'http-origins':
      return isHttpOrigin(item)
    case 'hosts':
      return isHostPattern(item)
    case 'cidrs':
      return isCidr(item)
    case 'cluster-secrets':
      return isClusterSecret(item)
  }
}

/** Returns the values that a key takes, for documents. */
export function allowedValues(key: ConfigKey): string {
  switch (key.kind) {
    case 'integer':
      return integerRange(key)
    case 'choice':
      return key.choices.join(', ')
    case 'boolean':
      return 'true, false'
    case 'list':
      return 'list'
    case 'text':
      return key.format
  }
}
