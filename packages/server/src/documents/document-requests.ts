import { badRequest, readMembers, readUserId, readUserName } from '../kernel/bad-request.ts'
import type { NewOwner } from './sharing.ts'
import { decodeCursor, type ListQuery } from './listing.ts'
import type { Removal } from './remove.ts'
import type { PutRequest } from './residents.port.ts'

const MAX_LIST_LIMIT = 500
const MAX_INT64 = 2n ** 63n - 1n
const MAX_QUERY_CHARACTERS = 200
const MAX_COLLECTION_ID_BYTES = 64
/** An answer shows at most this many characters of a refused value. */
const MAX_SHOWN_CHARACTERS = 64

/**
 * Reads the filters of a list request. Ignores unknown query members and throws BAD_REQUEST on an invalid known one.
 * [REST-8, REST-21]
 */
export function readListQuery(query: URLSearchParams): ListQuery {
  const limit = readInteger(query.get('limit'), 'limit', { from: 1, to: MAX_LIST_LIMIT })
  const cursor = query.get('cursor')
  const after = cursor === null ? null : decodeCursor(cursor)
  if (cursor !== null && after === null) throw badRequest('cursor', 'The query member cursor is not one that this relay gave.')
  const titlePart = query.get('q')
  if (titlePart !== null && Array.from(titlePart).length > MAX_QUERY_CHARACTERS) {
    throw badRequest('q', `The query member q has at most ${MAX_QUERY_CHARACTERS} characters.`, { limit: MAX_QUERY_CHARACTERS })
  }
  const collectionId = query.get('collectionId')
  return { limit, after, titlePart, collectionId: collectionId === null ? undefined : collectionId === '' ? null : collectionId }
}

/** Reads the version and override conditions of a PUT from query and headers. [REST-8, REST-16, REST-18, REST-19] */
export function readPreconditions(
  query: URLSearchParams,
  header: (name: string) => string | undefined,
): Pick<PutRequest, 'expectedVersion' | 'precondition' | 'overrideTombstone'> {
  const expected = readExpectedVersion(query.get('expectedVersion'))
  const overrideTombstone = readBoolean(query.get('overrideTombstone'), 'overrideTombstone')
  const ifMatch = header('if-match')
  const ifNoneMatch = header('if-none-match')
  if (ifNoneMatch !== undefined && ifNoneMatch.trim() !== '*')
    throw badRequest('If-None-Match', 'If-None-Match on PUT is * or absent.')
  if (ifNoneMatch !== undefined && ifMatch !== undefined)
    throw badRequest('If-Match', 'If-Match and If-None-Match exclude each other.')
  if (ifNoneMatch !== undefined) return { expectedVersion: expected, precondition: 'must-not-exist', overrideTombstone }
  if (ifMatch === undefined) return { expectedVersion: expected, precondition: 'none', overrideTombstone }
  if (ifMatch.trim() === '*') return { expectedVersion: expected, precondition: 'must-exist', overrideTombstone }
  return { expectedVersion: readMatched(ifMatch, expected), precondition: 'if-match', overrideTombstone }
}

/** Returns the version that If-Match names. Throws BAD_REQUEST when `expectedVersion` is another version. */
function readMatched(ifMatch: string, expected: number | null): number {
  const matched = readVersionTag(ifMatch)
  if (expected !== null && expected !== matched)
    throw badRequest('If-Match', 'If-Match and expectedVersion name different versions.')
  return matched
}

/**
 * Reads the version conditions of a DELETE from query and headers. `If-Match: *` only requires that the document exists.
 * [REST-8, REST-22]
 */
export function readRemoval(query: URLSearchParams, header: (name: string) => string | undefined): Removal {
  const expected = readExpectedVersion(query.get('expectedVersion'))
  const ifMatch = header('if-match')
  if (ifMatch === undefined || ifMatch.trim() === '*') return expected === null ? {} : { expectedVersion: expected }
  return { expectedVersion: readMatched(ifMatch, expected), mismatch: 'PRECONDITION_FAILED' }
}

/** Reads the body of a transfer, in either spelling. [REST-23] */
export function readTransfer(json: unknown): NewOwner {
  const body = readMembers(json)
  const field = body.to_user_id !== undefined ? 'to_user_id' : 'newOwnerId'
  const sub = readUserId(body[field], field)
  const name = field === 'newOwnerId' ? readUserName(body.newOwnerName ?? null, 'newOwnerName') : null
  return { sub, name }
}

/** Reads the body of a collection change: an id, or null for none. [REST-24, BODY-10] */
export function readCollectionChange(json: unknown): string | null {
  const { collectionId } = readMembers(json)
  if (collectionId === null) return null
  if (typeof collectionId === 'string' && Buffer.byteLength(collectionId) <= MAX_COLLECTION_ID_BYTES) return collectionId
  throw badRequest('collectionId', `The member collectionId is null or text of at most ${MAX_COLLECTION_ID_BYTES} bytes.`, {
    limit: MAX_COLLECTION_ID_BYTES,
  })
}

function readInteger(
  text: string | null,
  field: string,
  range: { readonly from: number; readonly to: number; readonly shownTo?: bigint },
): number | null {
  if (text === null) return null
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (value >= range.from && value <= range.to) return value
  const shown = text.slice(0, MAX_SHOWN_CHARACTERS)
  const allowed = `a decimal integer from ${range.from} to ${range.shownTo ?? range.to}`
  throw badRequest(field, `The query member ${field} is ${allowed}, not ${JSON.stringify(shown)}.`, { value: shown })
}

/**
 * Reads an int64 that is not negative. No document can have a version above 2^53 - 1: as a number it may be inexact,
 * but it differs from every stored version. [REST-8]
 */
function readExpectedVersion(text: string | null): number | null {
  if (text !== null && /^\d{16,19}$/.test(text) && BigInt(text) > Number.MAX_SAFE_INTEGER && BigInt(text) <= MAX_INT64)
    return Number(text)
  return readInteger(text, 'expectedVersion', { from: 0, to: Number.MAX_SAFE_INTEGER, shownTo: MAX_INT64 })
}

function readBoolean(text: string | null, field: string): boolean {
  if (text === null || text === 'false' || text === '0') return false
  if (text === 'true' || text === '1') return true
  const shown = text.slice(0, MAX_SHOWN_CHARACTERS)
  throw badRequest(field, `The query member ${field} is true, false, 1 or 0, not ${JSON.stringify(shown)}.`, { value: shown })
}

/** Reads an ETag: `"7"`, or `"7-v"` as callers at level view get it. Its range is that of `expectedVersion`. [REST-19] */
function readVersionTag(header: string): number {
  const match = /^\s*"(\d{1,19})(?:-v)?"\s*$/.exec(header.slice(0, MAX_SHOWN_CHARACTERS))
  if (match && BigInt(match[1] as string) <= MAX_INT64) return Number(match[1])
  const value = header.slice(0, MAX_SHOWN_CHARACTERS)
  throw badRequest('If-Match', `If-Match is * or one quoted version from 0 to ${MAX_INT64}.`, { value })
}
