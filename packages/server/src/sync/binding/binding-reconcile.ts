import type { CanvasContainer, DocumentBody, ProseContainer } from '@docrelay/model/body'
import { groupMembers, healOrder } from '@docrelay/model/body-order'
import { equalJson, isJsonObject, type Json, type JsonObject } from '@docrelay/model/json'
import type * as Y from 'yjs'
import { useEncoded } from './binding-encoded.ts'
import { mergeOrder, writeOrder } from './binding-order.ts'
import { readArray } from './binding-project.ts'
import { fillContent, type Hints, reconcileContent } from './binding-prose.ts'
import {
  CANVAS_PAGES,
  canvasEntries,
  containerRecords,
  FIELDS,
  isUntouched,
  METADATA,
  metadataOf,
  NO_RECORDS,
  PROSE_PAGES,
  proseEntries,
  proseRoot,
  type Records,
  REFERENCES,
  type RecordRoots,
  shapeRecords,
  shapeRoots,
} from './binding-roots.ts'
import { seed } from './binding-seed.ts'
import { isWireOf, readValue, wireValue } from './binding-values.ts'

/** State of one reconciliation. `seeded` lists the roots that were filled with all of `after` at its start. */
interface Work {
  readonly ydoc: Y.Doc
  readonly seeded: ReadonlySet<string>
  readonly hints: Hints
}

/**
 * Applies the differences between two bodies to the live document and nothing else. [LIFE-13, LIFE-14, YDOC-2, YDOC-3]
 *
 * `before` is a body that the caller has seen and `after` is the wanted one. The live document may be newer than `before`; what others
 * changed meanwhile stays. Pages, shapes, references and fields are matched by id, prose by block. Parts that are the same object in both
 * bodies are skipped, so the code that makes `after` must reuse unchanged parts. Members without a counterpart in the live document are
 * ignored: the caller keeps them by projecting over `after`. [YDOC-6]
 *
 * Runs as one Yjs transaction with this `origin` and never awaits. When nothing differs, the document emits no update. A change of title
 * or tags is dated `titleChangedAtMs` when given, so that older live titles lose against it. [YDOC-7]
 *
 * `hints.moved` names blocks by id: when two blocks of a page changed places, the named one is created anew and the other one stays.
 * `hints.words` names the words of a text block that were replaced, so that no others are touched. [AG-48] `hints.encoded` saves the
 * transaction the time of encoding new shapes. [CONC-14]
 *
 * Without concurrent changes the result is exact: `project(ydoc, after)` equals `after`. A record deleted since `before` is not restored:
 * the deletion wins over a change here. A root that never held anything takes all of `after`, whatever `before` is. [YDOC-9]
 */
export function reconcile(
  ydoc: Y.Doc,
  before: DocumentBody,
  after: DocumentBody,
  origin: unknown,
  titleChangedAtMs?: number,
  hints: Hints = {},
): void {
  let end = (): void => undefined
  ydoc.transact(() => {
    const work: Work = { ydoc, seeded: seed(ydoc, after, origin, titleChangedAtMs), hints }
    reconcileMetadata(work, before, after, titleChangedAtMs)
    reconcileCanvas(work, before.canvas, after.canvas)
    reconcileProse(work, before.prose, after.prose)
    if (before.references !== after.references) {
      reconcileRecords(work, REFERENCES, containerRecords(before.references), containerRecords(after.references))
    }
    if (before.fields !== after.fields) {
      reconcileRecords(work, FIELDS, containerRecords(before.fields), containerRecords(after.fields))
    }
    if (hints.encoded !== undefined) end = useEncoded(ydoc, after, hints.encoded)
  }, origin)
  end()
}

function reconcileMetadata(
  { ydoc, seeded }: Work,
  before: DocumentBody,
  after: DocumentBody,
  titleChangedAtMs: number | undefined,
): void {
  if (seeded.has(METADATA)) return
  const known: ReadonlyMap<string, Json> = metadataOf(before)
  const wanted: ReadonlyMap<string, Json> = metadataOf(after)
  const changed = ['title', 'tags', 'citationStyle'].filter((name) => !equalJson(known.get(name), wanted.get(name)))
  if (changed.length === 0) return
  const metadata = ydoc.getMap(METADATA)
  for (const name of changed) setEntry(metadata, name, wanted.get(name))
  if (titleChangedAtMs === undefined || !(changed.includes('title') || changed.includes('tags'))) return
  const updatedAt = readValue(metadata.get('updatedAt'))
  setEntry(metadata, 'updatedAt', typeof updatedAt === 'number' ? Math.max(updatedAt, titleChangedAtMs) : titleChangedAtMs)
}

function reconcileCanvas(work: Work, before: CanvasContainer, after: CanvasContainer): void {
  if (before.pages === after.pages) return
  const known = new Map(before.pages.map((page) => [page.id, page]))
  const live = reconcilePages(work, CANVAS_PAGES, canvasEntries(before.pages), canvasEntries(after.pages))
  for (const page of after.pages) {
    const old = known.get(page.id)
    if (!live.has(page.id) || old?.shapes === page.shapes) continue
    const roots = shapeRoots(page.id)
    // An earlier page with the same id may have left shapes in the live document. A page that this edit lists replaces them.
    const left = live.get(page.id) === 'new' ? liveRecords(work.ydoc, roots) : NO_RECORDS
    reconcileRecords(work, roots, old === undefined ? left : shapeRecords(old), shapeRecords(page))
  }
}

function reconcileProse(work: Work, before: ProseContainer, after: ProseContainer): void {
  if (before.pages === after.pages) return
  const known = new Map(before.pages.map((page) => [page.id, page]))
  const live = reconcilePages(work, PROSE_PAGES, proseEntries(before.pages), proseEntries(after.pages))
  for (const page of after.pages) {
    const old = known.get(page.id)
    if (old === page || !live.has(page.id) || work.seeded.has(proseRoot(page.id))) continue
    if (old === undefined) fillContent(work.ydoc, page.id, page.content, live.get(page.id) === 'old')
    else reconcileContent(work.ydoc, page.id, old.content, page.content, work.hints)
  }
}

/**
 * Reconciles a page list. Returns which pages of `after` are live now: `new` pages were listed by this edit, `old` pages were listed
 * before. While the live list is empty the stored list applies, so the first change writes the whole list. [YDOC-5]
 */
function reconcilePages(work: Work, roots: RecordRoots, before: Records, after: Records): ReadonlyMap<string, 'new' | 'old'> {
  const map = work.ydoc.getMap(roots.map)
  const listed = new Set(map.keys())
  const standing = listed.size === 0
  if (!standing || !sameRecords(before, after)) reconcileRecords(work, roots, standing ? NO_RECORDS : before, after)
  const live = new Map<string, 'new' | 'old'>()
  for (const id of after.items.keys()) {
    if (standing ? before.items.has(id) : listed.has(id)) live.set(id, 'old')
    else if (map.has(id)) live.set(id, 'new')
  }
  return live
}

function sameRecords(a: Records, b: Records): boolean {
  return sameIds(a.order, b.order) && [...b.items].every(([id, item]) => equalJson(a.items.get(id), item))
}

/** Applies the differences between two sets of records to their map and, when ids or positions differ, to their order. [YDOC-3] */
function reconcileRecords({ ydoc, seeded }: Work, roots: RecordRoots, given: Records, after: Records): void {
  if (seeded.has(roots.map)) return
  const before = isUntouched(ydoc, roots.map) ? NO_RECORDS : given
  const map = ydoc.getMap(roots.map)
  const reordered = !sameIds(before.order, after.order)
  const live = reordered ? liveRecords(ydoc, roots).order : []
  for (const [id, value] of after.items) {
    const old = before.items.get(id)
    if (old === value || equalJson(old, value)) continue
    // Another person deleted the record that is changed here: the deletion wins.
    if (old !== undefined && !map.has(id)) continue
    setEntry(map, id, value)
  }
  for (const id of before.items.keys()) if (!after.items.has(id)) setEntry(map, id, undefined)
  if (!reordered) return
  const target = mergeOrder(live, before.order, after.order, (id) => map.has(id))
  const kept = new Set(after.order)
  writeOrder(ydoc.getArray(roots.order), target, new Set(before.order.filter((id) => !kept.has(id))))
}

/** Returns the current records and order of a pair of roots. Members of groups are in the order only when the live order lists them. */
function liveRecords(ydoc: Y.Doc, roots: RecordRoots): Records {
  const items = new Map<string, JsonObject>()
  for (const [id, value] of ydoc.getMap(roots.map).entries()) {
    const json = readValue(value)
    if (isJsonObject(json)) items.set(id, json)
  }
  const listed = readArray(ydoc, roots.order)
  const unlisted = new Set(groupMembers(items))
  for (const id of listed) unlisted.delete(id as string)
  return { items, order: healOrder(listed, items).filter((id) => !unlisted.has(id)) }
}

/** Sets an entry, or deletes it when `value` is `undefined`. Writes nothing when the entry already is as wanted. */
export function setEntry(map: Y.Map<unknown>, name: string, value: Json | undefined): void {
  if (value === undefined) {
    if (map.has(name)) map.delete(name)
    return
  }
  if (!map.has(name) || !isWireOf(readValue(map.get(name)), value)) map.set(name, wireValue(value))
}

function sameIds(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((id, i) => id === b[i]))
}
