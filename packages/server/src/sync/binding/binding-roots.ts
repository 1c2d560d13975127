import type { CanvasPage, DocumentBody, ProsePage } from '@docrelay/model/body'
import { storedTitle } from '@docrelay/model/body-title'
import { rootShapes } from '@docrelay/model/body-write'
import { type Json, type JsonObject, memberOf, omitMembers } from '@docrelay/model/json'
import type * as Y from 'yjs'

/** The names of a map of records and of the array that orders them. [YDOC-1] */
export interface RecordRoots {
  readonly map: string
  readonly order: string
}

export const CANVAS_PAGES: RecordRoots = { map: 'canvasPages', order: 'canvasPageOrder' }
export const PROSE_PAGES: RecordRoots = { map: 'prosePages', order: 'prosePageOrder' }
export const REFERENCES: RecordRoots = { map: 'references', order: 'referenceOrder' }
export const FIELDS: RecordRoots = { map: 'fields', order: 'fieldOrder' }
export const METADATA = 'metadata'
const PROSE_PREFIX = 'prose:'

export function shapeRoots(pageId: string): RecordRoots {
  return { map: `shapes:${pageId}`, order: `shapeOrder:${pageId}` }
}

export function proseRoot(pageId: string): string {
  return PROSE_PREFIX + pageId
}

export function isProseRoot(name: string): boolean {
  return name.startsWith(PROSE_PREFIX)
}

/**
 * Whether a root never held anything. Only such a root may be seeded: a root that was emptied live still holds its deletions, and filling
 * it again would undo them. [YDOC-9]
 */
export function isUntouched(ydoc: Y.Doc, root: string): boolean {
  const type = ydoc.share.get(root)
  return type === undefined || (type._start === null && type._map.size === 0)
}

/** Records with their order, as one pair of roots holds or should hold them. */
export interface Records {
  readonly items: ReadonlyMap<string, JsonObject>
  readonly order: readonly string[]
}

export const NO_RECORDS: Records = { items: new Map(), order: [] }

export function canvasEntries(pages: readonly CanvasPage[]): Records {
  return { items: new Map(pages.map((page) => [page.id, canvasEntry(page.members)])), order: pages.map((page) => page.id) }
}

export function canvasEntry(members: JsonObject): JsonObject {
  return omitMembers(members, 'shapes', 'shapeOrder')
}

/** Returns the entries of prose pages. Editors need `order`, so a page without one in the body gets its index. [YDOC-1] */
export function proseEntries(pages: readonly ProsePage[]): Records {
  const entry = (page: ProsePage, place: number): JsonObject => ({
    ...proseEntry(page.members),
    order: memberOf(page.members, 'order') ?? place,
  })
  return { items: new Map(pages.map((page, place) => [page.id, entry(page, place)])), order: pages.map((page) => page.id) }
}

export function proseEntry(members: JsonObject): JsonObject {
  return omitMembers(members, 'content')
}

/** Returns the shapes of a page. Members of groups are not in the order. [CANVAS-17] */
export function shapeRecords(page: CanvasPage): Records {
  return { items: new Map(page.shapes.map((shape) => [shape.id, shape.value])), order: rootShapes(page) }
}

/** Returns the items and the order of `references` or `fields`; none when the value is kept verbatim. [BODY-3] */
export function containerRecords(container: DocumentBody['references'] | DocumentBody['fields']): Records {
  return container === undefined || container.kind === 'opaque' ? NO_RECORDS : container
}

const CITATION_STYLES: ReadonlySet<unknown> = new Set(['apa', 'mla', 'chicago', 'vancouver'])

/** Returns the values of the body for those members of `metadata` that have a counterpart in the body. [YDOC-1, YDOC-6] */
export function metadataOf(body: DocumentBody): ReadonlyMap<'title' | 'tags' | 'citationStyle', Json> {
  const found = new Map<'title' | 'tags' | 'citationStyle', Json>()
  const title = storedTitle(body)
  if (title !== undefined) found.set('title', title)
  const tags = body.members.get('tags')
  if (Array.isArray(tags)) found.set('tags', tags as readonly Json[])
  const style = body.references?.kind === 'references' ? memberOf(body.references.members, 'style') : undefined
  if (isCitationStyle(style)) found.set('citationStyle', style)
  return found
}

export function isCitationStyle(value: unknown): value is string {
  return CITATION_STYLES.has(value)
}
