import type { DocumentBody } from './body.ts'
import { bodyFacts, type PreparedBody } from './body-facts.ts'
import { parseBody } from './body-parse.ts'
import { settleTitle, withTitle } from './body-title.ts'
import { writeSettledBody } from './body-write.ts'
import { isJsonObject, type Json, type JsonObject, memberOf, setMember } from './json.ts'
import { type JsonLimits, jsonLimits, parseJsonBytes } from './json-scan.ts'

/** Why the body of a PUT is refused. `details` has the members that the error table names for the code. */
export interface BodyRefusal {
  readonly code: 'BAD_JSON' | 'BAD_BODY' | 'ID_MISMATCH' | 'BODY_TOO_LARGE'
  readonly message: string
  readonly details: { readonly [member: string]: string | number }
}

export type Preparation =
  | { readonly ok: true; readonly prepared: PreparedBody }
  | { readonly ok: false; readonly refusal: BodyRefusal }

const MAX_SHARES = 1000
const MAX_USER_ID_BYTES = 256
const MAX_USER_NAME_CHARACTERS = 200
const MAX_SHARE_BYTES = 1024
/** The members that may name the user of a share entry. */
const USER_ID_MEMBERS = ['userId', 'user_id', 'id'] as const
const MAX_COLLECTION_ID_BYTES = 64
/** Most characters of a name in a refusal: names in a body may be as long as the body. */
const MAX_SHOWN_CHARACTERS = 256
const MAX_PATH_CHARACTERS = 4096

/**
 * Prepares the bytes of a PUT for storing and for the decision about the PUT: parses once, checks, heals, and settles the title
 * against `storedTitle` (`null` for a new document). [BODY-2..BODY-11] A body without `id` gets the document's id.
 *
 * Pure and linear in the bytes: about a second for 100 MiB, so large bodies must not be prepared on the event loop.
 */
export function prepareBody(
  bytes: Uint8Array,
  docId: string,
  storedTitle: string | null,
  limits: JsonLimits = jsonLimits(128 * 1024 * 1024),
): Preparation {
  const parsed = parseJsonBytes(bytes, limits)
  if (!parsed.ok) {
    if (parsed.code === 'BAD_JSON')
      return refuse('BAD_JSON', `The body is not acceptable JSON: ${parsed.reason}.`, { offset: parsed.offset })
    return refuse('BODY_TOO_LARGE', `The body is too large: ${parsed.reason}.`, { maxBytes: limits.maxBytes })
  }
  return prepareValue(parsed.value, docId, storedTitle)
}

/** `prepareBody` for a body that is already a JSON value. */
export function prepareValue(value: Json, docId: string, storedTitle: string | null): Preparation {
  if (!isJsonObject(value)) return badBody('', 'the document body is not an object')
  const bodyId = memberOf(value, 'id')
  if (bodyId !== undefined && bodyId !== docId) {
    const shown = (typeof bodyId === 'string' ? bodyId : JSON.stringify(bodyId)).slice(0, MAX_SHOWN_CHARACTERS)
    return refuse(
      'ID_MISMATCH',
      `The id in the body, ${JSON.stringify(shown)}, is not the ${JSON.stringify(docId)} of the path.`,
      {
        pathId: docId,
        bodyId: shown,
      },
    )
  }
  const beside = besideBody(value)
  if (!beside.ok) return badBody(beside.path, beside.reason)
  const parsed = parseBody(bodyId === undefined ? { id: docId, ...value } : value)
  if (!parsed.ok) return badBody(parsed.path, parsed.reason)

  const [name, title] = [textOrNull(memberOf(value, 'name')), textOrNull(memberOf(value, 'title'))]
  const ordered = followPageOrder(parsed.body)
  const titled =
    name !== null && title !== null && name !== title ? withTitle(ordered, settleTitle(name, title, storedTitle)) : ordered
  const { body, bytes, blobReferences } = writeSettledBody(titled, true)
  return {
    ok: true,
    prepared: {
      bytes,
      facts: bodyFacts(body, memberOf(value, 'version')),
      blobReferences,
      name,
      title,
      collectionId: beside.collectionId,
      sharedWith: beside.sharedWith,
    },
  }
}

function refuse(code: BodyRefusal['code'], message: string, details: BodyRefusal['details']): Preparation {
  return { ok: false, refusal: { code, message, details } }
}

function badBody(pointer: string, reason: string): Preparation {
  const path = pointer.slice(0, MAX_PATH_CHARACTERS)
  return refuse('BAD_BODY', `The document body is not well formed at '${path}': ${reason}.`, { path })
}

type Beside =
  | { readonly ok: true; readonly collectionId: string | null | undefined; readonly sharedWith: readonly Json[] | undefined }
  | { readonly ok: false; readonly path: string; readonly reason: string }

/** Reads the members that are kept beside the body. When one is absent, the stored value stays. [BODY-10, BODY-13] */
function besideBody(value: JsonObject): Beside {
  const collectionId = memberOf(value, 'collectionId')
  if (collectionId !== undefined && collectionId !== null) {
    if (typeof collectionId !== 'string')
      return { ok: false, path: '/collectionId', reason: 'collectionId is neither a string nor null' }
    if (utf8Bytes(collectionId) > MAX_COLLECTION_ID_BYTES) {
      return { ok: false, path: '/collectionId', reason: `collectionId is longer than ${MAX_COLLECTION_ID_BYTES} bytes` }
    }
  }
  const sharedWith = memberOf(value, 'sharedWith')
  if (sharedWith === undefined) return { ok: true, collectionId, sharedWith }
  if (!Array.isArray(sharedWith)) return { ok: false, path: '/sharedWith', reason: 'sharedWith is not a list' }
  if (sharedWith.length > MAX_SHARES)
    return { ok: false, path: '/sharedWith', reason: `sharedWith has more than ${MAX_SHARES} entries` }
  const entries = sharedWith as readonly Json[]
  for (const [at, entry] of entries.entries()) {
    const problem = shareProblem(entry)
    if (problem !== null) return { ok: false, path: `/sharedWith/${at}${problem.path}`, reason: problem.reason }
  }
  return { ok: true, collectionId, sharedWith: entries }
}

/**
 * Returns the problem of an entry of `sharedWith`. Entries are kept as given, so the size of a whole entry is limited
 * too. [BODY-13]
 */
function shareProblem(entry: Json): { readonly path: string; readonly reason: string } | null {
  if (typeof entry !== 'string' && !isJsonObject(entry))
    return { path: '', reason: 'an entry of sharedWith is neither an object nor a user id' }
  const named: readonly (readonly [string, Json | undefined])[] = isJsonObject(entry)
    ? USER_ID_MEMBERS.map((name) => [`/${name}`, memberOf(entry, name)] as const)
    : [['', entry]]
  for (const [path, value] of named) {
    if (typeof value === 'string' && utf8Bytes(value) > MAX_USER_ID_BYTES)
      return { path, reason: `a user id is longer than ${MAX_USER_ID_BYTES} bytes` }
  }
  const userName = isJsonObject(entry) ? memberOf(entry, 'userName') : undefined
  if (typeof userName === 'string' && Array.from(userName).length > MAX_USER_NAME_CHARACTERS)
    return { path: '/userName', reason: `userName is longer than ${MAX_USER_NAME_CHARACTERS} characters` }
  if (utf8Bytes(JSON.stringify(entry)) > MAX_SHARE_BYTES)
    return { path: '', reason: `an entry of sharedWith is longer than ${MAX_SHARE_BYTES} bytes as JSON` }
  return null
}

function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length
}

/**
 * When the `order` numbers of prose pages contradict the page order, numbers them again; rising numbers are kept.
 * [BODY-4]
 */
export function followPageOrder(body: DocumentBody): DocumentBody {
  const numbers = body.prose.pages.map((page) => memberOf(page.members, 'order')).filter((order) => order !== undefined)
  const rising = numbers.every((order, i) => typeof order === 'number' && (i === 0 || order > (numbers[i - 1] as number)))
  if (rising) return body
  const pages = body.prose.pages.map((page, index) =>
    Object.hasOwn(page.members, 'order') ? { ...page, members: setMember(page.members, 'order', index) } : page,
  )
  return { ...body, prose: { ...body.prose, pages } }
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null
}
