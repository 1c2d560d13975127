import type { CanvasPage, DocumentBody, Fields, Opaque, ProsePage, References } from '../body.ts'
import { equalJson, type JsonObject } from '../json.ts'
import { blockHash } from '../prose/block-stamp.ts'
import { blockId, idBearing, idsOf } from '../prose/blocks.ts'
import type { ProseTree } from '../prose/node.ts'
import { pageTree } from '../prose/page.ts'
import { blockText } from '../prose/text.ts'
import { pageName } from '../pages.ts'
import { hashOfText, readStampedId } from '../stamps/stamp.ts'
import { blockChanges, NAMING, unitsOf } from './block-changes.ts'
import type { CanvasPageChange, ChangeSet, ItemChange, LibraryChange, PageEntry, ProsePageChange } from './change-set.ts'
import { withLooseMarked } from './held-shapes.ts'
import { listChanges } from './sequence.ts'
import { memberChanges, objectChanges, removedShape, shapeChanges } from './shape-changes.ts'
import { jsonHash, shapeHashes } from './shape-hashes.ts'
import { type Counts, Tally } from './tally.ts'

/** The changes of a write: the record for an undo, and the counts for an answer. [AG-29, AG-30, AG-66] */
export interface Changes {
  readonly set: ChangeSet
  readonly counts: Counts
}

/**
 * Compares a body before and after a write. Pages and libraries that are the same object (`===`) in both cost nothing. `args` are the
 * arguments of the write: `counts.removed` leaves out the blocks and shapes that they name.
 */
export function changesBetween(before: DocumentBody, after: DocumentBody, args: unknown): Changes {
  const tally = new Tally()
  const set: ChangeSet =
    before === after
      ? {}
      : {
          ...entry('prose', proseChanges(before, after, tally)),
          ...entry('canvas', canvasChanges(before, after, tally)),
          ...entry('references', libraryChanges(before.references, after.references, tally)),
          ...entry('fields', libraryChanges(before.fields, after.fields, tally)),
          ...members(before, after, tally),
        }
  // No part differs, so the write only repaired stored content. That counts as one change.
  if (before !== after && tally.isEmpty()) tally.changed()
  const named = namesIn(args)
  return { set, counts: tally.counts((id) => named.has(id)) }
}

function entry<K extends string, V>(name: K, value: V | null): { readonly [name in K]?: V } {
  return value === null ? {} : ({ [name]: value } as { readonly [name in K]?: V })
}

function members(before: DocumentBody, after: DocumentBody, tally: Tally): ChangeSet {
  const own = before.members === after.members ? [] : memberChanges(before.members, after.members)
  if (own.some(({ name }) => name === 'name' || name === 'title')) tally.changed()
  const prose = objectChanges(before.prose.members, after.prose.members)
  return { ...(own.length > 0 && { members: own }), ...(prose.length > 0 && { proseMembers: prose }) }
}

interface Page {
  readonly id: string
  readonly members: JsonObject
}

interface Lists<P> {
  readonly list: readonly PageEntry[]
  readonly both: readonly (readonly [P, P])[]
  readonly removed: readonly P[]
  readonly created: readonly P[]
}

/** Compares two lists of pages by their ids. */
function pageLists<P extends Page>(before: readonly P[], after: readonly P[], hash: (page: P) => number, tally: Tally): Lists<P> {
  const places = new Map(after.map(({ id }, index) => [id, index]))
  const pairs = before
    .flatMap(({ id }, index) => (places.has(id) ? [{ before: index, after: places.get(id) as number }] : []))
    .sort((a, b) => a.after - b.after)
  const { created, left } = listChanges({ before: before.length, after: after.length }, pairs, (index) => (after[index] as P).id)
  const list: PageEntry[] = []
  for (const { before: index, after: now, from, now: beside } of left) {
    const page = before[index] as P
    if (now < 0) list.push({ id: page.id, before: page as unknown as JsonObject, from })
    else list.push({ id: page.id, after: 0, from, ...(beside && { now: beside }) })
    if (now < 0) tally.removedPage()
    else tally.changed()
  }
  const fresh = created.map((index) => after[index] as P)
  for (const page of fresh) {
    tally.changed()
    list.push({ id: page.id, after: hash(page) })
  }
  const removed = left.flatMap(({ before: index, after: now }) => (now < 0 ? [before[index] as P] : []))
  return { list, both: pairs.map((pair) => [before[pair.before] as P, after[pair.after] as P]), removed, created: fresh }
}

function proseChanges(before: DocumentBody, after: DocumentBody, tally: Tally): ChangeSet['prose'] | null {
  if (before.prose.pages === after.prose.pages) return null
  const { list, both, removed, created } = pageLists(before.prose.pages, after.prose.pages, prosePageHash, tally)
  for (const page of removed)
    for (const [index, block] of pageTree(page).tree.entries()) for (const unit of unitsOf(block, index)) tally.removed(unit)
  for (const page of created)
    for (const [index, block] of pageTree(page).tree.entries())
      for (const { id, kind } of unitsOf(block, index)) tally.created(kind === 'text' ? id : null)
  const moved = new Set(list.map(({ id }) => id))
  const left = removed.flatMap((page) => [...pageTree(page).tree])
  const pages = both.flatMap(([old, now]): readonly ProsePageChange[] => {
    if (old === now) return []
    const changed = objectChanges(old.members, now.members)
    if (changed.length > 0 && !moved.has(now.id)) tally.changed()
    const written = old.content === now.content ? null : blockChanges(pageTree(old).tree, pageTree(now).tree, tally)
    if (written === null && changed.length === 0) return []
    const { blocks = [], minted = [] } = written ?? {}
    for (const block of written?.left ?? []) left.push(block)
    return [
      {
        id: now.id,
        ...(changed.length > 0 && { members: changed }),
        ...(blocks.length > 0 && { blocks }),
        ...(minted.length > 0 && { minted }),
        after: hashOfText(now.content),
      },
    ]
  })
  const idsIn = (id: string) => {
    const page = created.find((each) => each.id === id)
    const ids = page === undefined ? [] : idsOf(pageTree(page).tree)
    return ids.length === 0 ? {} : { ids: ids.slice(0, NAMING), came: ids }
  }
  const listed = list.map((each) => ({ ...each, ...idsIn(each.id) }))
  return pagesChange(before.prose.pages, ...withMoves(listed, pages, { left, after: after.prose.pages }))
}

/** Keeps in `came` only the blocks that the call moved from another place, and drops the blocks that the call created. */
function withMoves(
  list: readonly PageEntry[],
  pages: readonly ProsePageChange[],
  { left, after }: { readonly left: ProseTree; readonly after: readonly ProsePage[] },
): readonly [readonly PageEntry[], readonly ProsePageChange[]] {
  const came = [...list, ...pages.flatMap(({ blocks = [] }) => blocks)].flatMap((entry) => entry.came ?? [])
  const places = came.length === 0 ? [] : left
  const moves = new Set(idsOf(places))
  const said = new Map<string, number>()
  // A moved block without id gets an id, so only its content shows that it is the same block.
  const nameless = new Set(
    idBearing(places).flatMap(({ block }) => (blockId(block) === null && blockText(block) !== '' ? blockHash(block) : [])),
  )
  const wanted = new Set(nameless.size === 0 ? [] : came)
  const written = new Set([...list, ...pages].map(({ id }) => id))
  for (const page of nameless.size === 0 ? [] : after.filter(({ id }) => written.has(id)))
    for (const { block } of idBearing(pageTree(page).tree)) {
      const id = blockId(block)
      if (id === null || !wanted.has(id) || moves.has(id) || !nameless.has(blockHash(block))) continue
      moves.add(id)
      said.set(id, blockHash(block))
    }
  const moved = <E extends { readonly came?: readonly string[] }>({ came: ids = [], ...entry }: E): E => {
    const from = ids.filter((id) => moves.has(id))
    const words = from.flatMap((id) => (said.has(id) ? [[id, said.get(id) as number] as const] : []))
    return { ...entry, ...(from.length > 0 && { came: from }), ...(words.length > 0 && { said: words }) } as E
  }
  const withBlocks = (page: ProsePageChange) => (page.blocks === undefined ? page : { ...page, blocks: page.blocks.map(moved) })
  return [list.map(moved), pages.map(withBlocks)]
}

function pagesChange<C>(before: readonly unknown[], list: readonly PageEntry[], pages: readonly C[]) {
  if (list.length + pages.length === 0) return null
  const wasEmpty = before.length === 0 ? { wasEmpty: true as const } : {}
  return { ...(list.length > 0 && { list }), ...wasEmpty, ...(pages.length > 0 && { pages }) }
}

/** Hashes the name and the blocks of a page. */
export function prosePageHash(page: ProsePage): number {
  return jsonHash([pageName(page), ...pageTree(page).tree.map(blockHash)])
}

export function canvasPageHash(page: CanvasPage): number {
  const hashOf = shapeHashes()
  return jsonHash([pageName(page), ...page.shapes.map(({ id, value }) => [id, hashOf(value)])])
}

function canvasChanges(before: DocumentBody, after: DocumentBody, tally: Tally): ChangeSet['canvas'] | null {
  if (before.canvas.pages === after.canvas.pages) return null
  const { list, both, removed, created } = pageLists(before.canvas.pages, after.canvas.pages, canvasPageHash, tally)
  for (const page of removed) for (const { id, value } of page.shapes) tally.removed(removedShape(id, value))
  for (const page of created) for (const { id } of page.shapes) tally.created(id)
  const moved = new Set(list.map(({ id }) => id))
  const pages = both.flatMap(([old, now]): readonly CanvasPageChange[] => {
    if (old === now) return []
    const changed = objectChanges(old.members, now.members)
    if (changed.length > 0 && !moved.has(now.id)) tally.changed()
    const shapes = withLooseMarked(shapeChanges(old, now, tally), old)
    if (changed.length + shapes.length === 0) return []
    return [{ id: now.id, ...(changed.length > 0 && { members: changed }), ...(shapes.length > 0 && { shapes }) }]
  })
  return pagesChange(before.canvas.pages, list, pages)
}

type Library = References | Fields | Opaque | undefined

function libraryChanges(before: Library, after: Library, tally: Tally): LibraryChange | null {
  if (before === after) return null
  const [old, now] = [itemsOf(before), itemsOf(after)]
  const places = new Map(now.order.map((id, index) => [id, index]))
  const pairs = old.order
    .flatMap((id, index) => (places.has(id) ? [{ before: index, after: places.get(id) as number }] : []))
    .sort((a, b) => a.after - b.after)
  const name = (index: number) => now.order[index] as string
  const { created, left } = listChanges({ before: old.order.length, after: now.order.length }, pairs, name)
  const items: ItemChange[] = left.map(({ before: index, after: place, from, now: beside }) => {
    const id = old.order[index] as string
    return place < 0
      ? { id, before: itemOf(old, id), from }
      : { id, after: jsonHash(itemOf(now, id)), from, ...(beside && { now: beside }) }
  })
  for (const pair of pairs) {
    const id = name(pair.after)
    const [was, is] = [itemOf(old, id), itemOf(now, id)]
    if (was !== is && !equalJson(was, is)) items.push({ id, before: was, after: jsonHash(is) })
  }
  for (const index of created) items.push({ id: name(index), after: jsonHash(itemOf(now, name(index))) })
  for (const _ of items) tally.changed()
  const was = before === undefined ? { was: null } : before.kind === 'opaque' ? { was: before.value } : {}
  return items.length === 0 && !('was' in was) ? null : { items, ...was, ...frameOf(before, after) }
}

function frameOf(before: Library, after: Library): Pick<LibraryChange, 'frame'> {
  if (before === undefined || before.kind === 'opaque' || (after !== undefined && after.kind !== 'opaque')) return {}
  const { items: _, order: __, ...frame } = before
  return { frame: frame as unknown as JsonObject }
}

interface Items {
  readonly items: ReadonlyMap<string, JsonObject>
  readonly order: readonly string[]
}

function itemsOf(library: Library): Items {
  return library === undefined || library.kind === 'opaque' ? { items: new Map(), order: [] } : library
}

function itemOf({ items }: Items, id: string): JsonObject {
  return items.get(id) as JsonObject
}

const MOST_NAME = 200

/** Returns the ids and handles that a call names: the texts of up to 200 characters in its arguments, also in lists, with and without stamp. */
function namesIn(args: unknown): ReadonlySet<string> {
  const names = new Set<string>()
  const add = (value: unknown): void => {
    if (typeof value === 'string' && value.length <= MOST_NAME) {
      names.add(value)
      const stamped = readStampedId(value)
      if (stamped !== null) names.add(stamped.id)
    } else if (Array.isArray(value)) for (const item of value) if (typeof item === 'string') add(item)
  }
  if (typeof args === 'object' && args !== null) for (const value of Object.values(args)) add(value)
  return names
}
