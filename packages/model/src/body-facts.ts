import type { DocumentBody } from './body.ts'
import { shownTitle } from './body-title.ts'
import type { Json } from './json.ts'

/** What lists, checks and metadata need of a body without reading it; stored beside it. [BODY-15] */
export interface BodyFacts {
  /** The title as shown: `name`, else `title`, else `Untitled Document`. */
  readonly title: string
  /** The body's integer `createdAt`, when it has one. */
  readonly createdAt: number | null
  readonly canvasPageCount: number
  readonly prosePageCount: number
  /** Shapes of all pages, and prose pages with content: what suspicious zeroing compares. [LIFE-18] */
  readonly shapeCount: number
  readonly filledProsePageCount: number
  /** `tags`, `lockedBy`, `lockedByName`, `lockedAt`, `lastModifiedBy`, `lastModifiedByName` as the body has them. */
  readonly carried: { readonly [member: string]: Json }
  /** The client's own `version` member: kept here instead of in the stored bytes, shown only to `[compat] editor_client`. Absent when none was PUT. [CFG-2] */
  readonly clientVersion?: Json
}

/** A body that passed the syntax checks: its stored bytes, and what a PUT decision needs besides. Plain data. */
export interface PreparedBody {
  /**
   * Compact UTF-8 JSON to store: every member as given, `id` included, without the server's own ones (serverVersion, version, ownerId,
   * ownerName, isRelayDocument, collectionId, sharedWith), which answers add. [BODY-14]
   */
  readonly bytes: Uint8Array
  readonly facts: BodyFacts
  /** Of the content and of the body's own list, sorted, each once. [BLOB-2] */
  readonly blobReferences: readonly string[]
  /** `name` and `title` as given; where both are strings and differ, the writer settles them against the stored title. [BODY-10] */
  readonly name: string | null
  readonly title: string | null
  /** `undefined`: absent, so unchanged. */
  readonly collectionId: string | null | undefined
  readonly sharedWith: readonly Json[] | undefined
}

const CARRIED = ['tags', 'lockedBy', 'lockedByName', 'lockedAt', 'lastModifiedBy', 'lastModifiedByName']

/** The facts of a body. `clientVersion` is not in the body: a later write of the relay passes on what the last PUT said. [BODY-15] */
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

/** Whether a prose page holds nothing: no text and no element but empty paragraphs. Atoms and embedded groups are content. [PROSE-9] */
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

/** Offset after white space and line breaks; a loop, because stored content may be long. */
function skipBlank(html: string, start: number): number {
  const blank = /\s|<br\s{0,4}\/?>/iy
  let at = start
  for (blank.lastIndex = at; blank.test(html); blank.lastIndex = at) at = blank.lastIndex
  return at
}
