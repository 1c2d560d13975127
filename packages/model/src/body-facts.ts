import type { DocumentBody } from './body.ts'
import { headTitle, shownTitle } from './body-title.ts'
import type { Json } from './json.ts'

/**
 * What lists, checks and metadata need to know about a body. Facts are stored beside the body, so that nobody has to read the body for them. [BODY-15]
 *
 * The size of facts has a bound whatever the body holds: each change sends them to every reader, and a list has the facts of all documents. Only facts are
 * cut; the body keeps everything. [BODY-16]
 */
export interface BodyFacts {
  /** The title as shown, cut as heads show it: `name`, else `title`, else `Untitled Document`. */
  readonly title: string
  /** The body's integer `createdAt`, when it has one. */
  readonly createdAt: number | null
  readonly canvasPageCount: number
  readonly prosePageCount: number
  /**
   * The number of shapes on all pages; `filledProsePageCount` is the number of prose pages with content. A suspicious
   * zeroing of a document is found by comparing these numbers before and after a write. [LIFE-18]
   */
  readonly shapeCount: number
  readonly filledProsePageCount: number
  /**
   * `tags`, `lockedBy`, `lockedByName`, `lockedAt`, `lastModifiedBy`, `lastModifiedByName` as the body has them. A member
   * that is too long is left out.
   */
  readonly carried: { readonly [member: string]: Json }
  /**
   * The member `version` that a client PUT. The relay keeps `version` here and not in the stored bytes, and shows it only
   * with `[compat] editor_client`. Absent when no PUT gave a `version`, and when it is too long. [CFG-2]
   */
  readonly clientVersion?: Json
}

/** A body that passed the syntax checks: its stored bytes, and what else decides about the PUT. Plain data. */
export interface PreparedBody {
  /**
   * Compact UTF-8 JSON to store: every member as given, including `id`, without the server's own members
   * (serverVersion, version, ownerId, ownerName, isRelayDocument, collectionId, sharedWith), which answers add.
   * [BODY-14]
   */
  readonly bytes: Uint8Array
  readonly facts: BodyFacts
  /** References of the content and of the body's own list, sorted, each once. [BLOB-2] */
  readonly blobReferences: readonly string[]
  /**
   * `name` and `title` as given. When both are strings and differ, the writer settles them against the stored title.
   * [BODY-10]
   */
  readonly name: string | null
  readonly title: string | null
  /** The collection that a PUT names; `undefined` when the PUT names none, so that the collection does not change. */
  readonly collectionId: string | null | undefined
  readonly sharedWith: readonly Json[] | undefined
}

/** The members that facts carry, short ones first: tags that are too long must not push out who has locked the document. */
const CARRIED = ['lockedBy', 'lockedByName', 'lockedAt', 'lastModifiedBy', 'lastModifiedByName', 'tags']
/** Most characters of JSON of all carried members together. */
const MOST_CARRIED = 8_192
/** Most characters of JSON of the client's version. */
const MOST_VERSION = 256

/**
 * Returns the facts of a body. `clientVersion` is not in the body: later writes of the relay pass on the value of the
 * last PUT. [BODY-15]
 */
export function bodyFacts(body: DocumentBody, clientVersion?: Json): BodyFacts {
  const createdAt = body.members.get('createdAt')
  const version = shortVersion(clientVersion)
  return {
    title: headTitle(shownTitle(body)),
    createdAt: typeof createdAt === 'number' && Number.isInteger(createdAt) ? createdAt : null,
    canvasPageCount: body.canvas.pages.length,
    prosePageCount: body.prose.pages.length,
    shapeCount: body.canvas.pages.reduce((sum, page) => sum + page.shapes.length, 0),
    filledProsePageCount: body.prose.pages.filter((page) => !isEmptyContent(page.content)).length,
    carried: shortMembers((name) => body.members.get(name)),
    ...(version === undefined ? {} : { clientVersion: version }),
  }
}

/** Cuts facts that any release has stored to the present bounds. Returns `facts` itself when they are within the bounds. [BODY-16] */
export function boundedFacts(facts: BodyFacts): BodyFacts {
  const { clientVersion, ...others } = facts
  const title = headTitle(facts.title)
  const carried = shortMembers((name) => facts.carried[name])
  const version = shortVersion(clientVersion)
  const isBounded =
    title === facts.title && version === clientVersion && Object.keys(carried).length === Object.keys(facts.carried).length
  return isBounded ? facts : { ...others, title, carried, ...(version === undefined ? {} : { clientVersion: version }) }
}

function shortMembers(memberOf: (name: string) => Json | undefined): { readonly [member: string]: Json } {
  const carried: { [member: string]: Json } = {}
  let left = MOST_CARRIED
  for (const name of CARRIED) {
    const value = memberOf(name)
    if (value === undefined) continue
    const length = jsonLength(value, left)
    if (length > left) continue
    carried[name] = value
    left -= length
  }
  return carried
}

function shortVersion(version: Json | undefined): Json | undefined {
  return version === undefined || jsonLength(version, MOST_VERSION) > MOST_VERSION ? undefined : version
}

/** The characters of a value as JSON. Counts no further than `most`, so that a long value costs no more than a short one. */
function jsonLength(value: Json, most: number): number {
  if (typeof value === 'string') return value.length > most ? value.length : JSON.stringify(value).length
  if (value === null || typeof value !== 'object') return String(value).length
  let sum = 2
  if (Array.isArray(value)) {
    for (const entry of value as readonly Json[]) {
      sum += 1 + jsonLength(entry, most - sum)
      if (sum > most) return sum
    }
    return sum
  }
  for (const [name, member] of Object.entries(value)) {
    sum += 2 + jsonLength(name, most - sum)
    sum += jsonLength(member, most - sum)
    if (sum > most) return sum
  }
  return sum
}

/**
 * Whether a prose page is empty: no text, and no element except empty paragraphs. Atoms and embedded groups are
 * content. [PROSE-9]
 */
export function isEmptyContent(html: string): boolean {
  let at = skipBlank(html, 0)
  while (at < html.length) {
    if (!/^<p[\s>]/i.test(html.slice(at, at + 3))) return false
    const opened = html.indexOf('>', at)
    if (opened < 0) return false
    at = skipBlank(html, opened + 1)
    if (html.slice(at, at + 4).toLowerCase() !== '</p>') return false
    at = skipBlank(html, at + 4)
  }
  return true
}

/** Returns the offset after white space and line breaks. A loop and no recursion, since stored content may be long. */
function skipBlank(html: string, start: number): number {
  const blank = /\s|<br\s{0,4}\/?>/iy
  let at = start
  for (blank.lastIndex = at; blank.test(html); blank.lastIndex = at) at = blank.lastIndex
  return at
}
