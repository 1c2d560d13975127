import type { CanvasPage, DocumentBody, Fields, Opaque, ProsePage, References, Shape } from '@docrelay/model/body'
import { equalJson, type JsonObject, memberOf } from '@docrelay/model/json'
import { pageName } from '@docrelay/model/pages'

type Sides<P> = { readonly before: P | null; readonly after: P | null }

/** One page of a document at two times. */
export type PageChange = {
  readonly id: string
  /** The present name; for a removed page its last name. */
  readonly name: string
  readonly state: 'same' | 'changed' | 'added' | 'removed'
} & (({ readonly kind: 'prose' } & Sides<ProsePage>) | ({ readonly kind: 'canvas' } & Sides<CanvasPage>))

/** Lists the present pages of a document, prose before canvas; the removed pages of each kind follow its present ones. */
export function comparePages(before: DocumentBody, after: DocumentBody): readonly PageChange[] {
  const prose = pairsOf(before.prose.pages, after.prose.pages).map((sides): PageChange => {
    const isSame = sides.before?.content === sides.after?.content && sameName(sides)
    return { kind: 'prose', ...sides, ...named(sides, isSame) }
  })
  const canvas = pairsOf(before.canvas.pages, after.canvas.pages).map((sides): PageChange => {
    const isSame = sides.before !== null && sides.after !== null && sameName(sides) && sameShapes(sides.before, sides.after)
    return { kind: 'canvas', ...sides, ...named(sides, isSame) }
  })
  return [...prose, ...canvas]
}

interface Page {
  readonly id: string
  readonly members: CanvasPage['members']
}

function pairsOf<P extends Page>(before: readonly P[], after: readonly P[]): readonly Sides<P>[] {
  const now = after.map((page) => ({ before: before.find(({ id }) => id === page.id) ?? null, after: page }))
  const gone = before.filter((page) => !after.some(({ id }) => id === page.id))
  return [...now, ...gone.map((page) => ({ before: page, after: null }))]
}

function named({ before, after }: Sides<Page>, isSame: boolean): Pick<PageChange, 'id' | 'name' | 'state'> {
  const page = (after ?? before) as Page
  const state = before === null ? 'added' : after === null ? 'removed' : isSame ? 'same' : 'changed'
  return { id: page.id, name: pageName(page), state }
}

function sameName({ before, after }: Sides<Page>): boolean {
  return before !== null && after !== null && pageName(before) === pageName(after)
}

function sameShapes(before: CanvasPage, after: CanvasPage): boolean {
  return (
    before.shapes.length === after.shapes.length &&
    before.shapes.every((shape, index) => {
      const other = after.shapes[index]
      return other !== undefined && shape.id === other.id && equalJson(shape.value, other.value)
    })
  )
}

export interface ShapeChange {
  readonly id: string
  /** The text in the shape; without a text the file name, else the type, else the id. */
  readonly name: string
  readonly kind: 'added' | 'removed' | 'changed'
}

/** Lists the shapes of a canvas page that were added, changed or removed. `null` stands for a page that does not exist and has no shapes. */
export function diffShapes(before: CanvasPage | null, after: CanvasPage | null): readonly ShapeChange[] {
  const old = new Map(before?.shapes.map((shape) => [shape.id, shape]))
  const now = new Map(after?.shapes.map((shape) => [shape.id, shape]))
  const came = [...now.values()].flatMap((shape): readonly ShapeChange[] => {
    const was = old.get(shape.id)
    if (was === undefined) return [{ id: shape.id, name: nameOf(shape), kind: 'added' }]
    return equalJson(was.value, shape.value) ? [] : [{ id: shape.id, name: nameOf(shape), kind: 'changed' }]
  })
  const went = [...old.values()].filter(({ id }) => !now.has(id))
  return [...came, ...went.map((shape): ShapeChange => ({ id: shape.id, name: nameOf(shape), kind: 'removed' }))]
}

function nameOf({ id, value }: Shape): string {
  for (const member of ['label', 'text', 'fileName', 'type']) {
    const text = memberOf(value, member)
    if (typeof text === 'string' && text.trim() !== '') return text
  }
  return id
}

/** A field or a reference that was added, changed or removed. */
export interface EntryChange {
  readonly id: string
  readonly kind: ShapeChange['kind']
  /** The name of a field, or the title of a reference. */
  readonly name: string
  /** The two values of a field; `null` when the field did not exist, and for references. */
  readonly before: string | null
  readonly after: string | null
}

/** Lists the fields and references of a document that were added, changed or removed. */
export function diffEntries(before: DocumentBody, after: DocumentBody): readonly EntryChange[] {
  const value = (entry: JsonObject): string => {
    const stored = memberOf(entry, 'value')
    return typeof stored === 'object' || stored === undefined ? '' : String(stored)
  }
  const title = (id: string, entry: JsonObject): string => {
    const stored = memberOf(entry, 'title')
    return typeof stored === 'string' && stored.trim() !== '' ? stored : id
  }
  const fields = changedItems(before.fields, after.fields).map(
    ({ id, kind, was, is }): EntryChange => ({
      id: `field ${id}`,
      kind,
      name: id,
      before: was && value(was),
      after: is && value(is),
    }),
  )
  const references = changedItems(before.references, after.references).map(
    ({ id, kind, was, is }): EntryChange => ({
      id: `reference ${id}`,
      kind,
      name: title(id, is ?? was ?? {}),
      before: null,
      after: null,
    }),
  )
  return [...fields, ...references]
}

type Container = Fields | References | Opaque | undefined

function changedItems(before: Container, after: Container) {
  const itemsOf = (all: Container): ReadonlyMap<string, JsonObject> =>
    all === undefined || all.kind === 'opaque' ? new Map() : all.items
  const [old, now] = [itemsOf(before), itemsOf(after)]
  return [...new Set([...now.keys(), ...old.keys()])].flatMap((id) => {
    const [was, is] = [old.get(id) ?? null, now.get(id) ?? null]
    if (was !== null && is !== null && equalJson(was, is)) return []
    return { id, was, is, kind: was === null ? ('added' as const) : is === null ? ('removed' as const) : ('changed' as const) }
  })
}
