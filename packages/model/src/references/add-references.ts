import { refused, type Edit, type Fix, type Refusal } from '../edit.ts'
import { quote } from '../quote.ts'
import { isJsonObject, type JsonObject, setMember } from '../json.ts'
import { invalidDoi, readDoi } from './doi.ts'
import { DEFAULT_TYPE, isType, itemDoi, referenceIdFlaw, referenceLibrary } from './reference-library.ts'

export interface AddReferences {
  /** CSL-JSON items. The edit checks each item, since the schema of the tool allows any value. */
  readonly items?: readonly unknown[] | undefined
  /** A DOI that the caller names; `resolved` is the item that the DOI resolver answered. */
  readonly doi?: string | undefined
  readonly resolved?: JsonObject | undefined
}

export interface ReferencesAdded {
  readonly added: readonly string[]
  readonly addedCount: number
  /** How many items were skipped, because the library, or an earlier item of the call, has them already. */
  readonly skipped: number
  /** The skipped items, each with the id to cite instead. */
  readonly duplicates: readonly Duplicate[]
}

interface Duplicate {
  readonly id: string
  readonly existingId: string
  readonly by: 'doi' | 'id'
}

/** Adds items to the end of the library, except items that the library has already. Writes no prose. [REF-2 to REF-5] */
export const addReferences: Edit<AddReferences, ReferencesAdded> = (body, args) => {
  const flaw = addReferencesFlaw(args)
  if (flaw !== null) return flaw
  if (args.doi !== undefined && args.resolved === undefined) return unresolved(args.doi)
  const library = referenceLibrary(body)
  const items = new Map(library.items)
  const ids = new Map([...items].flatMap(([id, item]) => entryOf(itemDoi(item), id)))
  const added: string[] = []
  const duplicates: Duplicate[] = []
  const fixes: Fix[] = []
  for (const { item, field } of wantedItems(args)) {
    const idFlaw = referenceIdFlaw(item['id'])
    if (idFlaw !== null)
      return refused('ERR_BAD_REFERENCE', `${field} names no item that can be stored: ${idFlaw}; nothing was added.`)
    const id = item['id'] as string
    const doi = itemDoi(item)
    const sameDoi = doi === null ? undefined : ids.get(doi)
    if (sameDoi !== undefined || items.has(id)) {
      duplicates.push({ id, ...(sameDoi === undefined ? { existingId: id, by: 'id' } : { existingId: sameDoi, by: 'doi' }) })
      continue
    }
    if (Object.hasOwn(item, 'type') && !isType(item['type'])) fixes.push(untyped(field))
    items.set(id, isType(item['type']) ? item : setMember(item, 'type', DEFAULT_TYPE))
    if (doi !== null) ids.set(doi, id)
    added.push(id)
  }
  const result = { added, addedCount: added.length, skipped: duplicates.length, duplicates }
  const references = { ...library, items, order: [...library.order, ...added] }
  return { kind: 'edited', body: added.length === 0 ? body : { ...body, references }, result, fixes, warnings: [] }
}

/** Refuses arguments of add_references that are wrong for every document; `null` otherwise. [MCP-3, REF-3] */
export function addReferencesFlaw({ items, doi }: AddReferences): Refusal | null {
  if (doi === undefined && (items === undefined || items.length === 0)) {
    const expected = 'doi, items, or both'
    return refused('ERR_BAD_ARGUMENT', `Nothing to add: the call takes ${expected}.`, {
      argument: 'items',
      expected,
      got: 'neither',
    })
  }
  if (doi !== undefined && readDoi(doi) === null) return invalidDoi(doi)
  for (const [index, item] of (items ?? []).entries()) {
    const flaw = isJsonObject(item) ? referenceIdFlaw(item['id']) : 'it is not an object'
    if (flaw !== null)
      return refused('ERR_BAD_REFERENCE', `items[${index}] is no reference: ${flaw}; nothing was added.`, { index })
  }
  return null
}

/** Refuses a DOI that was not resolved before the edit, since the edit would otherwise add nothing. */
function unresolved(doi: string): Refusal {
  const facts = { doi: quote(doi), reason: 'it was not looked up', retryable: true }
  return refused('ERR_DOI_UNAVAILABLE', `The DOI ${facts.doi} was not looked up; repeat the call.`, facts)
}

interface WantedItem {
  readonly item: JsonObject
  /** The argument of the call that gives the item, such as `items[0]`. */
  readonly field: string
}

/** Lists the items to add; the item of the DOI comes first. [REF-3] */
function wantedItems({ items, resolved }: AddReferences): readonly WantedItem[] {
  const given = (items ?? []).map((item, index) => ({ item: item as JsonObject, field: `items[${index}]` }))
  return resolved === undefined ? given : [{ item: resolved, field: 'doi' }, ...given]
}

function entryOf(doi: string | null, id: string): readonly [string, string][] {
  return doi === null ? [] : [[doi, id]]
}

function untyped(field: string): Fix {
  return {
    action: 'dropped_invalid',
    field: `${field}.type`,
    reason: `a type is text that is not empty; stored as "${DEFAULT_TYPE}"`,
  }
}
