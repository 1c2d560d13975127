import type { DocumentBody } from './body.ts'
import { bodyFacts, type PreparedBody } from './body-facts.ts'
import { parseBody } from './body-parse.ts'
import { settleTitle, withTitle } from './body-title.ts'
import { writeSettledBody } from './body-write.ts'
import { isJsonObject, type Json, type JsonObject, memberOf, setMember } from './json.ts'
import { type JsonLimits, jsonLimits, parseJsonBytes } from './json-scan.ts'

/** Why a PUT body is refused; `details` are those of the error table. */
export interface BodyRefusal {
  readonly code: 'BAD_JSON' | 'BAD_BODY' | 'ID_MISMATCH' | 'BODY_TOO_LARGE'
  readonly message: string
  readonly details: { readonly [member: string]: string | number }
}

export type Preparation =
  | { readonly ok: true; readonly prepared: PreparedBody }
  | { readonly ok: false; readonly refusal: BodyRefusal }

const MAX_SHARES = 1000
const MAX_COLLECTION_ID_BYTES = 64
/** Of what a refusal repeats: names in a body may be as long as the body. */
const MAX_SHOWN_CHARACTERS = 256
const MAX_PATH_CHARACTERS = 4096

/**
 * Takes the bytes of a PUT to what is stored and decided upon: parsed once, checked, healed, its title settled against `storedTitle`
 * (`null` for a new document). [BODY-2..BODY-11] A body without `id` gets the document's.
 *
 * Pure, and linear in the bytes: about a second for 100 MiB, so large bodies belong off the event loop.
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

/** Members that are kept beside the body. Absent ones stay as they are stored. [BODY-10, BODY-13] */
function besideBody(value: JsonObject): Beside {
  const collectionId = memberOf(value, 'collectionId')
  if (collectionId !== undefined && collectionId !== null) {
    if (typeof collectionId !== 'string')
      return { ok: false, path: '/collectionId', reason: 'collectionId is neither a string nor null' }
    if (new TextEncoder().encode(collectionId).length > MAX_COLLECTION_ID_BYTES) {
      return { ok: false, path: '/collectionId', reason: `collectionId is longer than ${MAX_COLLECTION_ID_BYTES} bytes` }
    }
  }
  const sharedWith = memberOf(value, 'sharedWith')
  if (sharedWith === undefined) return { ok: true, collectionId, sharedWith }
  if (!Array.isArray(sharedWith)) return { ok: false, path: '/sharedWith', reason: 'sharedWith is not a list' }
  if (sharedWith.length > MAX_SHARES)
    return { ok: false, path: '/sharedWith', reason: `sharedWith has more than ${MAX_SHARES} entries` }
  return { ok: true, collectionId, sharedWith: sharedWith as readonly Json[] }
}

/** Where the `order` numbers of prose pages contradict the page order they are numbered anew; numbers that rise are kept. [BODY-4] */
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
