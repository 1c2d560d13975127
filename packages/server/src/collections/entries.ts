import { RelayError } from '../kernel/errors.ts'

const MAX_ID_BYTES = 64
const MAX_NAME_CHARACTERS = 120

/** One entry of a list with its index. */
export interface Entry {
  readonly index: number
  /** Every member, also unknown ones. */
  readonly given: Readonly<Record<string, unknown>>
  readonly id: string
}

/** Makes a BAD_COLLECTIONS about one member of one entry. */
export function badEntry(index: number, field: string, rule: string, limit?: number): RelayError {
  return new RelayError('BAD_COLLECTIONS', `Entry ${index}: ${field} ${rule}.`, {
    index,
    field,
    ...(limit !== undefined && { limit }),
  })
}

/** Reads the entries of a list. Keeps only the first entry of each id; throws when more than `most` remain. [REST-25, REST-32] */
export function readEntries(list: unknown, member: string, most: number): readonly Entry[] {
  if (!Array.isArray(list)) throw new RelayError('BAD_COLLECTIONS', `The member ${member} is a list.`, { field: member })
  const entries = new Map<string, Entry>()
  for (const [index, given] of (list as readonly unknown[]).entries()) {
    const entry = readEntry(given, index)
    if (!entries.has(entry.id)) entries.set(entry.id, entry)
  }
  if (entries.size > most) {
    const message = `The member ${member} has ${entries.size} entries; at most ${most} are taken.`
    throw new RelayError('BAD_COLLECTIONS', message, { field: member, limit: most })
  }
  return [...entries.values()]
}

function readEntry(given: unknown, index: number): Entry {
  if (!isObject(given)) throw badEntry(index, 'entry', 'is a JSON object')
  return { index, given, id: readBytes(given, index, 'id', MAX_ID_BYTES) }
}

/** Reads text of 1 to `maxBytes` bytes. */
export function readBytes(given: Readonly<Record<string, unknown>>, index: number, field: string, maxBytes: number): string {
  const value = own(given, field)
  if (typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= maxBytes) return value
  throw badEntry(index, field, `is text of 1 to ${maxBytes} bytes`, maxBytes)
}

/** Checks a name: text of 1 to 120 characters. */
export function checkName(name: unknown, index: number): string {
  if (typeof name === 'string' && name !== '' && Array.from(name).length <= MAX_NAME_CHARACTERS) return name
  throw badEntry(index, 'name', `is text of 1 to ${MAX_NAME_CHARACTERS} characters`, MAX_NAME_CHARACTERS)
}

/** Returns an own member of the entry, otherwise `undefined`, also for names that every object inherits. */
export function own(given: Readonly<Record<string, unknown>>, field: string): unknown {
  return Object.hasOwn(given, field) ? given[field] : undefined
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
