import { refused, type Edit, type Fix, type Refusal } from '../edit.ts'
import { quote } from '../quote.ts'
import { isJsonObject, type JsonObject, setMember } from '../json.ts'
import { invalidDoi, readDoi } from './doi.ts'
import { DEFAULT_TYPE, isType, itemDoi, referenceIdFlaw, referenceLibrary } from './reference-library.ts'

export interface AddReferences {
  /** CSL-JSON items; each is looked at here, whatever it is. */
  readonly items?: readonly unknown[] | undefined
  /** A DOI that the caller names; `resolved` is what its resolver answered. */
  readonly doi?: string | undefined
  readonly resolved?: JsonObject | undefined
}

export interface ReferencesAdded {
  readonly added: readonly string[]
  readonly addedCount: number
  /** How many items were in the library, or earlier in the call, already. */
  readonly skipped: number
  /** The skipped ones, with the id to cite in their place. */
  readonly duplicates: readonly Duplicate[]
}

interface Duplicate {
  readonly id: string
  readonly existingId: string
  readonly by: 'doi' | 'id'
}

/** Adds items to the end of the library, those that it has already aside. It writes no prose. [REF-2 to REF-5] */
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

/** What is wrong with a call whatever the document. [MCP-3, REF-3] */
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

/** The caller of the edit resolves a DOI before; this guards what would be an addition of nothing. */
function unresolved(doi: string): Refusal {
  const facts = { doi: quote(doi), reason: 'it was not looked up', retryable: true }
  return refused('ERR_DOI_UNAVAILABLE', `The DOI ${facts.doi} was not looked up; repeat the call.`, facts)
}

interface WantedItem {
  readonly item: JsonObject
  /** Where the call has it. */
  readonly field: string
}

/** What the DOI stands for comes first. [REF-3] */
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
