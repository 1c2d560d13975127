import type { References } from '../body.ts'
import { refused, type Edit, type Fix, type Refusal } from '../edit.ts'
import { equalJson, isJsonObject, type Json, type JsonObject, memberOf, omitMembers, setMember } from '../json.ts'
import { quote } from '../quote.ts'
import { DEFAULT_TYPE, isType, itemDoi, referenceLibrary, referenceNotFound } from './reference-library.ts'

export interface UpdateReference {
  readonly id: string
  /** The members to set; the value `null` removes a member. The edit checks that `item` is an object. */
  readonly item: unknown
  /** `item` is the whole item, so members that `item` does not name are removed. */
  readonly replace?: boolean | undefined
}

export interface ReferenceUpdated {
  readonly id: string
  readonly item: JsonObject
}

/** Changes or replaces an item of the library. Its id and its place stay. Writes no prose. [REF-2, REF-6] */
export const updateReference: Edit<UpdateReference, ReferenceUpdated> = (body, args) => {
  const flaw = updateReferenceFlaw(args)
  if (flaw !== null) return flaw
  const { id, replace = false } = args
  const given = args.item as JsonObject
  const library = referenceLibrary(body)
  const before = library.items.get(id)
  if (before === undefined) return referenceNotFound(library, id)
  const { patch, fixes } = usable(given, id)
  const item = completed(replace ? { id, ...withoutNulls(patch) } : merged(before, patch), id)
  const taken = takenDoi(library, id, before, item)
  if (taken !== null) return taken
  const isSame = equalJson(item, before)
  const references = { ...library, items: new Map([...library.items, [id, item]]) }
  return { kind: 'edited', body: isSame ? body : { ...body, references }, result: { id, item }, fixes, warnings: [] }
}

/** Refuses arguments of update_reference that are wrong for every document; `null` otherwise. [MCP-3] */
export function updateReferenceFlaw({ item }: UpdateReference): Refusal | null {
  return isJsonObject(item) ? null : refused('ERR_BAD_REFERENCE', 'item is no reference: it is not an object.', { index: 0 })
}

/** Returns the usable members of a patch, and a fix for each member that was left out. */
function usable(given: JsonObject, id: string): { readonly patch: JsonObject; readonly fixes: readonly Fix[] } {
  const fixes: Fix[] = []
  const drop = (field: string, reason: string): void =>
    void fixes.push({ action: 'dropped_invalid', field: `item.${field}`, reason })
  const givenId = memberOf(given, 'id')
  if (givenId !== undefined && givenId !== id) drop('id', 'the id of a reference cannot change')
  const type = memberOf(given, 'type')
  const isUnusable = type !== undefined && type !== null && !isType(type)
  if (isUnusable) drop('type', 'a type is text that is not empty')
  return { patch: omitMembers(given, 'id', ...(isUnusable ? ['type'] : [])), fixes }
}

function merged(before: JsonObject, patch: JsonObject): JsonObject {
  const members = new Map<string, Json>(Object.entries(before))
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name)
    else members.set(name, value)
  }
  return Object.fromEntries(members)
}

function withoutNulls(item: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null))
}

/** Returns an item with the id of its key in the library, and with a usable type. */
function completed(item: JsonObject, id: string): JsonObject {
  const named = memberOf(item, 'id') === id ? item : setMember(item, 'id', id)
  return isType(memberOf(named, 'type')) ? named : setMember(named, 'type', DEFAULT_TYPE)
}

/** Refuses a patch that gives an item the DOI of another item. Items that already share a DOI may be patched one by one. */
function takenDoi(library: References, id: string, before: JsonObject, item: JsonObject): Refusal | null {
  const doi = itemDoi(item)
  if (doi === null || doi === itemDoi(before)) return null
  for (const [existingId, other] of library.items) {
    if (existingId === id || itemDoi(other) !== doi) continue
    const message = `The DOI ${quote(doi)} belongs to the reference "${quote(existingId)}"; nothing was changed.`
    return refused('ERR_REFERENCE_DUPLICATE', message, { existingId, doi: quote(doi) })
  }
  return null
}
