import type { CanvasPage, DocumentBody, ProsePage, Shape } from '../body.ts'
import { labelOf } from '../canvas/stored-shape.ts'
import { type EditEnvironment, isRefusal } from '../edit.ts'
import { fieldValue } from '../fields/list-fields.ts'
import { updateChips } from '../fields/set-fields.ts'
import { type Json, type JsonObject, memberOf } from '../json.ts'
import { pageName } from '../pages.ts'
import { blockIdMint, completeIds, idsOf } from '../prose/blocks.ts'
import { settleChips } from '../prose/chips.ts'
import { FixList } from '../prose/fixes.ts'
import { heal } from '../prose/heal.ts'
import type { ProseElement } from '../prose/node.ts'
import { pageTree, withPageTree } from '../prose/page.ts'
import { quote } from '../quote.ts'
import { hashOfText } from '../stamps/stamp.ts'
import type { CanvasPageChange, ChangeSet, MemberChange, PageEntry, ShapeChange } from './change-set.ts'
import { canvasPageHash, prosePageHash } from './changes-between.ts'
import { shapeHash } from './shape-hashes.ts'
import { applyPlan, planPage, withoutMinted } from './undo-blocks.ts'
import { undoLibrary } from './undo-library.ts'
import { type Kept, undoList } from './undo-list.ts'
import { undoMembers } from './undo-members.ts'

export interface Undone {
  /** The given body (`===`) when nothing could be taken back. */
  readonly body: DocumentBody
  /** What stays because somebody changed it since. [AG-70] */
  readonly kept: readonly Kept[]
}

/**
 * Takes back what a call changed and nobody changed since. With nobody in between, the document is as before the call. [AG-69, AG-70, AG-71]
 */
export function undoChanges(body: DocumentBody, set: ChangeSet, environment: EditEnvironment): Undone {
  const kept: Kept[] = []
  const references = undoLibrary(body.references, set.references, kept)
  const fields = undoLibrary(body.fields, set.fields, kept)
  const isFieldKept = kept.length > 0
  const listed = undoPageLists({ ...body, references, fields }, set, kept)
  const changedFields = changedValues(body.fields, fields, set)
  const prose = undoProse(listed, set, { kept, changedFields, isFieldKept, environment })
  const canvas = undoCanvas(prose, set, kept)
  const result = undoBodyMembers(canvas, set, kept)
  return { body: isSameBody(body, result) ? body : result, kept }
}

/** The fields of the call whose value is another one than before the undo. */
function changedValues(
  before: DocumentBody['fields'],
  after: DocumentBody['fields'],
  { fields }: ChangeSet,
): ReadonlySet<string> {
  const valueOf = (library: DocumentBody['fields'], name: string) => {
    const item = library?.kind === 'fields' ? library.items.get(name) : undefined
    return item && fieldValue(item)
  }
  const names = (fields?.items ?? []).map(({ id }) => id)
  return new Set(names.filter((name) => valueOf(before, name) !== valueOf(after, name)))
}

function isSameBody(a: DocumentBody, b: DocumentBody): boolean {
  return (
    a.members === b.members &&
    a.references === b.references &&
    a.fields === b.fields &&
    a.canvas.pages === b.canvas.pages &&
    a.prose.pages === b.prose.pages &&
    a.prose.members === b.prose.members
  )
}

function undoPages<P extends ProsePage | CanvasPage>(
  list: readonly P[],
  change: ChangeSet['prose'] | ChangeSet['canvas'],
  hash: (page: P) => ReturnType<typeof prosePageHash>,
  kept: Kept[],
): readonly P[] {
  return undoList<P, PageEntry>(
    {
      // The last page of a kind stays, as no tool deletes it either.
      mayGo: (remaining) => remaining > 0 || change?.wasEmpty === true,
      list,
      entries: change?.list ?? [],
      hash,
      text: pageName,
      restored: ({ before }) => before as unknown as P,
    },
    kept,
  )
}

function undoPageLists(body: DocumentBody, { prose, canvas }: ChangeSet, kept: Kept[]): DocumentBody {
  const prosePages = undoPages(body.prose.pages, prose, prosePageHash, kept)
  const canvasPages = undoPages(body.canvas.pages, canvas, canvasPageHash, kept)
  const withProse = prosePages === body.prose.pages ? body : { ...body, prose: { ...body.prose, pages: prosePages } }
  return canvasPages === body.canvas.pages ? withProse : { ...withProse, canvas: { ...body.canvas, pages: canvasPages } }
}

interface ProseUndo {
  readonly kept: Kept[]
  /** Fields that have another value than before the undo. */
  readonly changedFields: ReadonlySet<string>
  readonly isFieldKept: boolean
  readonly environment: EditEnvironment
}

function undoProse(given: DocumentBody, { prose }: ChangeSet, undo: ProseUndo): DocumentBody {
  const { kept, isFieldKept, environment } = undo
  let body = given
  const plans = (prose?.pages ?? []).flatMap((change) => {
    const page = body.prose.pages.find(({ id }) => id === change.id)
    if (page === undefined) kept.push({ id: change.id, text: '', isGone: true })
    return page === undefined ? [] : [{ page, plan: planPage(pageTree(page).tree, change) }]
  })
  const back = (prose?.list ?? []).filter(({ before, after }) => before !== undefined && after === undefined)
  // Pages that are as before the call.
  const settled = new Set(back.map(({ id }) => id))
  const staying = new Set(plans.flatMap(({ plan }) => plan.kept.map(({ id }) => id)))
  for (const { page, plan } of plans) {
    const { change } = plan
    const isExact = hashOfText(page.content) === change.after && !isFieldKept
    if (isExact) settled.add(change.id)
    const libraries = { fields: body.fields, references: body.references, nowMs: environment.nowMs }
    const shown = (block: ProseElement) => (isExact ? block : (settleChips([block], libraries).tree[0] as ProseElement))
    kept.push(...plan.kept)
    if ((change.blocks ?? []).length > 0 || (isExact && change.minted !== undefined)) {
      const done = applyPlan(plan, { isExact, isElsewhere: (id) => staying.has(id), shown })
      kept.push(...done.kept)
      const tree = heal(isExact ? withoutMinted(done.nodes, change.minted ?? []) : done.nodes, new FixList())
      const complete = isExact ? tree : completeIds(tree, blockIdMint(body, environment, idsOf(tree)))
      body = withPageTree(body, page.id, complete)
    }
    body = undoPageMembers(body, change, kept)
  }
  return withChips(body, settled, undo)
}

/**
 * Shows the values that fields got back in chips that were written or changed since; the others have what they showed before the call. `settled`: pages
 * that are as before it. [FIELD-4]
 */
function withChips(body: DocumentBody, settled: ReadonlySet<string>, { changedFields, environment }: ProseUndo): DocumentBody {
  const chips = updateChips(body, changedFields, environment, ({ id }) => !settled.has(id))
  // Chips that would show more than a page can hold are left as they are: an undo is not refused for what is derived.
  return isRefusal(chips) ? body : chips.body
}

interface Named {
  readonly id: string
  readonly members?: readonly MemberChange[]
}

function undoPageMembers(body: DocumentBody, { id, members = [] }: Named, kept: Kept[]): DocumentBody {
  const pages = body.prose.pages.map((page) => (page.id === id ? withUndoneMembers(page, members, kept) : page))
  const isSame = pages.every((page, index) => page === body.prose.pages[index])
  return isSame ? body : { ...body, prose: { ...body.prose, pages } }
}

function withUndoneMembers<P extends ProsePage | CanvasPage>(page: P, changes: readonly MemberChange[], kept: Kept[]): P {
  const members = undoMembers(page.members, changes, () => kept.push({ id: page.id, text: quote(pageName(page)) }))
  return members === page.members ? page : { ...page, members }
}

function undoCanvas(body: DocumentBody, { canvas }: ChangeSet, kept: Kept[]): DocumentBody {
  const changes = new Map((canvas?.pages ?? []).map((change) => [change.id, change]))
  for (const id of changes.keys())
    if (!body.canvas.pages.some((page) => page.id === id)) kept.push({ id, text: '', isGone: true })
  const pages = body.canvas.pages.map((page) => {
    const change = changes.get(page.id)
    if (change === undefined) return page
    const shapes = undoShapes(page.shapes, change, kept)
    const named = withUndoneMembers(page, change.members ?? [], kept)
    return shapes === page.shapes ? named : { ...named, shapes }
  })
  const isSame = pages.every((page, index) => page === body.canvas.pages[index])
  return isSame ? body : { ...body, canvas: { ...body.canvas, pages } }
}

function undoShapes(given: readonly Shape[], { shapes: entries = [] }: CanvasPageChange, kept: Kept[]): readonly Shape[] {
  const text = ({ value }: Shape) => quote(labelOf(value) ?? '')
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const shapes = given.map((shape) => {
    const { members, after } = byId.get(shape.id) ?? {}
    if (members === undefined) return shape
    if (shapeHash(shape.value) !== after) {
      kept.push({ id: shape.id, text: text(shape) })
      return shape
    }
    const value = undoMembers(shape.value, members)
    return value === shape.value ? shape : { id: shape.id, value }
  })
  const present = new Set(given.map(({ id }) => id))
  for (const { id, members } of entries) if (members !== undefined && !present.has(id)) kept.push({ id, text: '', isGone: true })
  const isSame = shapes.every((shape, index) => shape === given[index])
  const rules = {
    list: isSame ? given : shapes,
    entries,
    hash: ({ value }: Shape) => shapeHash(value),
    text,
    restored: ({ id, before }: ShapeChange) => ({ id, value: before as JsonObject }),
  }
  return undoList<Shape, ShapeChange>(rules, kept)
}

/** The active page goes back only to a page that is there. */
function undoBodyMembers(body: DocumentBody, { members = [], proseMembers = [] }: ChangeSet, kept: Kept[]): DocumentBody {
  const isPage = (id: Json | undefined) => [...body.prose.pages, ...body.canvas.pages].some((page) => page.id === id)
  const mayReturn = ({ name, before }: MemberChange) => name !== 'activePageId' || isPage(before)
  const told = (name: string) => {
    if (name !== 'activePageId') kept.push({ id: name, text: '' })
  }
  const own = undoMembers(Object.fromEntries(body.members), members.filter(mayReturn), told)
  const prose = undoMembers(body.prose.members, proseMembers.filter(mayReturn), told)
  const isSame = members.every(({ name }) => body.members.get(name) === memberOf(own, name))
  const withOwn = isSame ? body : { ...body, members: new Map(Object.entries(own)), memberOrder: orderOf(body, own) }
  return prose === body.prose.members ? withOwn : { ...withOwn, prose: { ...withOwn.prose, members: prose } }
}

function orderOf({ memberOrder }: DocumentBody, own: JsonObject): readonly string[] {
  return [...memberOrder, ...Object.keys(own).filter((name) => !memberOrder.includes(name))]
}
