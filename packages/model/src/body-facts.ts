import type { DocumentBody } from './body.ts'
import { shownTitle } from './body-title.ts'
import type { Json } from './json.ts'

/**
 * What lists, checks and metadata need to know about a body; stored beside it, so that they need not read it. [BODY-15]
 */
export interface BodyFacts {
  /** The title as shown: `name`, else `title`, else `Untitled Document`. */
  readonly title: string
  /** The body's integer `createdAt`, when it has one. */
  readonly createdAt: number | null
  readonly canvasPageCount: number
  readonly prosePageCount: number
  /**
   * Number of shapes on all pages, and of prose pages with content: a suspicious zeroing is found by comparing them.
   * [LIFE-18]
   */
  readonly shapeCount: number
  readonly filledProsePageCount: number
  /** `tags`, `lockedBy`, `lockedByName`, `lockedAt`, `lastModifiedBy`, `lastModifiedByName` as the body has them. */
  readonly carried: { readonly [member: string]: Json }
  /**
   * The client's own member `version`. It is kept here and not in the stored bytes, and shown only with `[compat]
   * editor_client`. Absent when no PUT gave one. [CFG-2]
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
  /** `undefined`: absent, so the collection does not change. */
  readonly collectionId: string | null | undefined
  readonly sharedWith: readonly Json[] | undefined
}

const CARRIED = ['tags', 'lockedBy', 'lockedByName', 'lockedAt', 'lastModifiedBy', 'lastModifiedByName']

/**
 * Returns the facts of a body. `clientVersion` is not in the body: later writes of the relay pass on the value of the
 * last PUT. [BODY-15]
 */
export function bodyFacts(body: DocumentBody, clientVersion?: Json): BodyFacts {
  const createdAt = body.members.get('createdAt')
  const carried = CARRIED.filter((name) => body.members.has(name)).map((name) => [name, body.members.get(name) as Json])
  return {
    title: shownTitle(body),
    createdAt: typeof createdAt === 'number' && Number.isInteger(createdAt) ? createdAt : null,
    canvasPageCount: body.canvas.pages.length,
    prosePageCount: body.prose.pages.length,
    shapeCount: body.canvas.pages.reduce((sum, page) => sum + page.shapes.length, 0),
    filledProsePageCount: body.prose.pages.filter((page) => !isEmptyContent(page.content)).length,
    carried: Object.fromEntries(carried),
    ...(clientVersion === undefined ? {} : { clientVersion }),
  }
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
