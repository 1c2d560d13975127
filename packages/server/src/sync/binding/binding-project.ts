import type {
  CanvasContainer,
  CanvasPage,
  DocumentBody,
  Fields,
  Opaque,
  ProseContainer,
  ProsePage,
  References,
  Shape,
} from '@docrelay/model/body'
import { healOrder, stackShapes } from '@docrelay/model/body-order'
import { withMembers, withTitle } from '@docrelay/model/body-title'
import { writtenForms } from '@docrelay/model/body-write'
import { isJsonObject, type Json, type JsonObject, memberOf, omitMembers, setMember } from '@docrelay/model/json'
import * as Y from 'yjs'
import type { ProjectionCache } from './binding-cache.ts'
import { projectContent } from './binding-prose.ts'
import {
  CANVAS_PAGES,
  canvasEntry,
  containerRecords,
  FIELDS,
  isCitationStyle,
  isUntouched,
  METADATA,
  metadataOf,
  PROSE_PAGES,
  proseEntry,
  REFERENCES,
  type RecordRoots,
  shapeRoots,
} from './binding-roots.ts'
import { isWireOf, keepHidden, readValue } from './binding-values.ts'

/** Inputs of one projection: the document to read and the cache. */
interface Reading {
  readonly ydoc: Y.Doc
  readonly cache: ProjectionCache | null
}

/**
 * Projects the live document to a body over `base`. Members without a counterpart in the live document, the written forms, and the prose
 * strings of pages without live changes come from `base`. [LIFE-9, BODY-9, YDOC-4..YDOC-6]
 *
 * Every part that equals its part of `base` is the same object, and the result is `base` itself when nothing differs. With a `cache` that
 * is kept between projections the cost is the size of the change. Never writes. [YDOC-4]
 */
export function project(ydoc: Y.Doc, base: DocumentBody, cache: ProjectionCache | null = null): DocumentBody {
  cache?.attach(ydoc)
  const reading = { ydoc, cache }
  const body: DocumentBody = {
    ...projectMetadata(ydoc, base),
    canvas: projectCanvas(reading, base),
    prose: projectProse(reading, base),
    references: projectReferences(reading, base.references),
    fields: projectFields(reading, base.fields),
  }
  const same = (Object.keys(base) as (keyof DocumentBody)[]).every((part) => body[part] === base[part])
  return same ? base : body
}

function projectMetadata(ydoc: Y.Doc, base: DocumentBody): DocumentBody {
  if (isUntouched(ydoc, METADATA)) return base
  const metadata = ydoc.getMap(METADATA)
  const known = metadataOf(base)
  const title = readValue(metadata.get('title'))
  const tags = readValue(metadata.get('tags'))
  const titled = typeof title === 'string' && title !== known.get('title') ? withTitle(base, title) : base
  if (!Array.isArray(tags) || isWireOf(tags, known.get('tags'))) return titled
  return withMembers(titled, new Map([['tags', keepHidden(base.members.get('tags'), tags)]]))
}

function projectCanvas(reading: Reading, base: DocumentBody): CanvasContainer {
  const form = writtenForms(base).canvas
  const basePages = new Map(base.canvas.pages.map((page) => [page.id, page]))
  const listed = readRecords(reading, CANVAS_PAGES.map, (id, value) => canvasMembers(id, value, basePages.get(id)?.members))
  const standing = listed.size === 0
  const pages = readIds(reading.ydoc, CANVAS_PAGES, listed, basePages).map((id): CanvasPage => {
    const blank: CanvasPage = { id, members: { id }, shapesForm: form, shapes: [] }
    const page = basePages.get(id) ?? blank
    const members = listed.get(id) ?? page.members
    const shapes = projectShapes(reading, id, page.shapes, standing)
    return members === page.members && shapes === page.shapes ? page : { ...page, members, shapes }
  })
  return sameItems(pages, base.canvas.pages) ? base.canvas : { ...base.canvas, pages }
}

/** Returns the members of a page from its live entry, which has no shapes. Keeps the members that only the body has. [YDOC-1] */
function canvasMembers(id: string, value: Json, base: JsonObject | undefined): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined
  const live = withId(omitMembers(value, 'shapes', 'shapeOrder'), id)
  if (base === undefined) return live
  if (isWireOf(live, canvasEntry(base))) return base
  const kept = keepHidden(base, live) as JsonObject
  const bodyOnly = memberOf(base, 'shapeOrder')
  return bodyOnly === undefined ? kept : setMember(kept, 'shapeOrder', bodyOnly)
}

function projectShapes(reading: Reading, pageId: string, base: readonly Shape[], standing: boolean): readonly Shape[] {
  const roots = shapeRoots(pageId)
  const { ydoc, cache } = reading
  const compute = (): readonly Shape[] => {
    if (isUntouched(ydoc, roots.map) || (standing && ydoc.getMap(roots.map).size === 0)) return base
    const known = new Map(base.map((shape) => [shape.id, shape]))
    const shapes = readRecords(
      reading,
      roots.map,
      (id, value) => projectShape(id, value, known.get(id)),
      (id) => known.get(id),
    )
    const values = new Map([...shapes].map(([id, shape]) => [id, shape.value]))
    const stack = stackShapes(readArray(ydoc, roots.order), values).map((id) => shapes.get(id) as Shape)
    return sameItems(stack, base) ? base : stack
  }
  return cache === null
    ? compute()
    : cache.part(`${standing ? 'standing ' : ''}${roots.map}`, [roots.map, roots.order], base, compute)
}

function projectShape(id: string, value: Json, base: Shape | undefined): Shape | undefined {
  if (!isJsonObject(value)) return undefined
  const live = withId(value, id)
  if (base !== undefined && isWireOf(live, base.value)) return base
  return { id, value: keepHidden(base?.value, live) as JsonObject }
}

function projectProse(reading: Reading, base: DocumentBody): ProseContainer {
  const basePages = new Map(base.prose.pages.map((page) => [page.id, page]))
  const listed = readRecords(reading, PROSE_PAGES.map, (id, value) => proseMembers(id, value, basePages.get(id)?.members))
  const pages = readIds(reading.ydoc, PROSE_PAGES, listed, basePages).map((id): ProsePage => {
    const page = basePages.get(id)
    const members = listed.get(id) ?? page?.members ?? { id }
    const content = projectContent(reading.ydoc, id, page?.content, reading.cache)
    if (page === undefined) return { id, members, content }
    return members === page.members && content === page.content ? page : { ...page, members, content }
  })
  return sameItems(pages, base.prose.pages) ? base.prose : { ...base.prose, pages }
}

/**
 * Returns the members of a page from its live entry. Every live entry has the member `order`, which is left out when the page of the body
 * has none. [BODY-7]
 */
function proseMembers(id: string, value: Json, base: JsonObject | undefined): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined
  const live = withId(omitMembers(value, 'content'), id)
  if (base === undefined) return live
  const shown = Object.hasOwn(base, 'order') ? live : omitMembers(live, 'order')
  return isWireOf(shown, proseEntry(base)) ? base : (keepHidden(base, shown) as JsonObject)
}

function projectReferences(reading: Reading, base: DocumentBody['references']): DocumentBody['references'] {
  const read = (): DocumentBody['references'] => {
    const found = projectContainer(reading, REFERENCES, base, (): References => {
      const members = base?.kind === 'opaque' && isJsonObject(base.value) ? omitMembers(base.value, 'items', 'itemOrder') : {}
      return { kind: 'references', items: new Map(), order: [], orderName: 'itemOrder', members }
    })
    const style = isUntouched(reading.ydoc, METADATA) ? undefined : reading.ydoc.getMap(METADATA).get('citationStyle')
    if (found?.kind !== 'references' || !isCitationStyle(style) || memberOf(found.members, 'style') === style) return found
    return { ...found, members: setMember(found.members, 'style', style) }
  }
  return reading.cache === null
    ? read()
    : reading.cache.part('references', [REFERENCES.map, REFERENCES.order, METADATA], base, read)
}

function projectFields(reading: Reading, base: DocumentBody['fields']): DocumentBody['fields'] {
  const read = (): DocumentBody['fields'] =>
    projectContainer(reading, FIELDS, base, (): Fields => {
      const members = base?.kind === 'opaque' && isJsonObject(base.value) ? omitMembers(base.value, 'fields', 'order') : {}
      return { kind: 'fields', items: new Map(), order: [], members }
    })
  return reading.cache === null ? read() : reading.cache.part('fields', [FIELDS.map, FIELDS.order], base, read)
}

/** Projects `references` or `fields`. A missing container is created only when the live document has content for it. [BODY-3] */
function projectContainer<T extends References | Fields>(
  reading: Reading,
  roots: RecordRoots,
  base: T | Opaque | undefined,
  blank: () => T,
): T | Opaque | undefined {
  if (isUntouched(reading.ydoc, roots.map)) return base
  const known = containerRecords(base)
  const items = readRecords(reading, roots.map, (id, value) => projectEntry(value, known.items.get(id)))
  if (items.size === 0 && (base === undefined || base.kind === 'opaque')) return base
  const order = healOrder(readArray(reading.ydoc, roots.order), items)
  const container = base === undefined || base.kind === 'opaque' ? blank() : base
  const sameEntries = items.size === known.items.size && [...items].every(([id, item]) => known.items.get(id) === item)
  if (sameEntries && sameItems(order, known.order)) return container
  return { ...container, items: sameEntries ? container.items : inOldOrder(items, known.items), order }
}

function projectEntry(value: Json, base: JsonObject | undefined): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined
  if (base === undefined) return value
  return isWireOf(value, base) ? base : (keepHidden(base, value) as JsonObject)
}

function inOldOrder(
  items: ReadonlyMap<string, JsonObject>,
  old: ReadonlyMap<string, JsonObject>,
): ReadonlyMap<string, JsonObject> {
  const kept = [...old.keys()].filter((id) => items.has(id))
  const added = [...items.keys()].filter((id) => !old.has(id)).sort()
  return new Map([...kept, ...added].map((id) => [id, items.get(id) as JsonObject]))
}

/** Returns the records of a map root, converted by `read`, which compares them with `base`. Leaves out entries that are not records. */
function readRecords<T>(
  { ydoc, cache }: Reading,
  root: string,
  read: (id: string, value: Json) => T | undefined,
  base?: (id: string) => T | undefined,
): Map<string, T> {
  const records = new Map<string, T>()
  if (isUntouched(ydoc, root)) return records
  for (const [id, value] of ydoc.getMap(root).entries()) {
    const compute = (): T | undefined => {
      const json = readValue(value)
      return json === undefined ? undefined : read(id, json)
    }
    const record = cache === null || base === undefined ? compute() : cache.record(id, value, base(id), compute)
    if (record !== undefined) records.set(id, record)
  }
  return records
}

/** Returns the page ids in order: from the live list when it is not empty, else from the stored body. [YDOC-4, YDOC-5] */
function readIds(
  ydoc: Y.Doc,
  roots: RecordRoots,
  listed: ReadonlyMap<string, JsonObject>,
  base: ReadonlyMap<string, unknown>,
): readonly string[] {
  return listed.size === 0 ? [...base.keys()] : healOrder(readArray(ydoc, roots.order), listed)
}

/** Returns the raw items of an order array. Items that are not ids are skipped later, when the order is healed. */
export function readArray(ydoc: Y.Doc, root: string): readonly unknown[] {
  return isUntouched(ydoc, root) ? [] : ydoc.getArray(root).toArray()
}

function withId(value: JsonObject, id: string): JsonObject {
  if (memberOf(value, 'id') === id) return value
  return Object.hasOwn(value, 'id') ? setMember(value, 'id', id) : { id, ...value }
}

function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i])
}
