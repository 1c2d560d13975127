import type { DocumentBody, References } from '../body.ts'
import { refused, type Refusal } from '../edit.ts'
import { idFlaw } from '../ids.ts'
import { isJsonObject, type JsonObject, memberOf, omitMembers } from '../json.ts'
import { nearestNames } from '../nearest.ts'
import { quote } from '../quote.ts'
import { doiKey } from './doi.ts'

/** Returns the library of a body; empty when the stored value cannot be read as a library. Other members of that value are kept. [BODY-3] */
export function referenceLibrary(body: DocumentBody): References {
  const given = body.references
  if (given?.kind === 'references') return given
  const none: References = { kind: 'references', items: new Map(), order: [], orderName: 'itemOrder', members: {} }
  if (given === undefined || !isJsonObject(given.value)) return none
  return { ...none, members: omitMembers(given.value, 'items', 'itemOrder'), memberOrder: Object.keys(given.value) }
}

/** Returns the key of the DOI of an item; `null` when the item has no DOI. [REF-4] */
export function itemDoi(item: JsonObject): string | null {
  const doi = memberOf(item, 'DOI')
  const key = typeof doi === 'string' ? doiKey(doi) : ''
  return key === '' ? null : key
}

/** Returns why a value cannot be the id of an item; `null` when it can. Ids are keys of the stored library. [REF-3, BODY-11] */
export function referenceIdFlaw(id: unknown): string | null {
  if (typeof id !== 'string') return 'its id is not a string'
  if (id.trim() === '') return 'its id is empty'
  return idFlaw(id)?.replace('an id', 'its id') ?? null
}

/** The type that is stored for an item without a usable type. [REF-3, REF-6] */
export const DEFAULT_TYPE = 'document'

/** Whether a value is a usable type of an item: a text that is not blank. */
export function isType(type: unknown): type is string {
  return typeof type === 'string' && type.trim() !== ''
}

/** Refuses a call that names an item which the library does not have. */
export function referenceNotFound(library: References, id: string): Refusal {
  const nearest = nearestNames(id, library.order).map(quote)
  const meant = nearest.length === 0 ? 'the library is empty' : `nearest: ${nearest.join(', ')}`
  return refused('ERR_REFERENCE_NOT_FOUND', `The document has no reference "${quote(id)}"; ${meant}.`, { id: quote(id), nearest })
}
