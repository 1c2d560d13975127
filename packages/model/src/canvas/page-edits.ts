import type { CanvasPage, DocumentBody } from '../body.ts'
import { withMembers } from '../body-title.ts'
import { isRefusal, type Edit, type EditRow } from '../edit.ts'
import { memberOf, setMember } from '../json.ts'
import { cleanName, nameFlaw } from '../names.ts'
import { freePageId, lastPage, nextPageName, notPermutation } from '../pages.ts'
import { findCanvasPage, withCanvasPage, withCanvasPages } from './find-page.ts'

export interface AddCanvasPage {
  readonly name?: string | undefined
}

export interface AddedCanvasPage {
  readonly id: string
  readonly name: string
}

/** Appends a blank page. Its shapes are stored in the same form as those of the page before it. [TOOL-add_canvas_page] */
export const addCanvasPage: Edit<AddCanvasPage, AddedCanvasPage> = (body, args, environment) => {
  const { pages, form } = body.canvas
  const named = args.name === undefined ? { name: nextPageName('Canvas', pages), fixes: [] } : cleanName(args.name)
  if (isRefusal(named)) return named
  const { name, fixes } = named
  const id = freePageId(body, environment)
  const page: CanvasPage = { id, members: { id, name }, shapesForm: pages.at(-1)?.shapesForm ?? form, shapes: [] }
  return {
    kind: 'edited',
    body: withCanvasPages(body, [...pages, page]),
    result: { id, name },
    fixes,
    warnings: [],
    writtenPage: id,
  }
}

export interface RenameCanvasPage {
  readonly pageId: string
  readonly name: string
}

/** Sets the name of a page. [TOOL-rename_canvas_page] */
export const renameCanvasPage: Edit<RenameCanvasPage, RenameCanvasPage> = (body, args) => {
  const named = cleanName(args.name)
  if (isRefusal(named)) return named
  const page = findCanvasPage(body, args.pageId)
  if (isRefusal(page)) return page
  const { name, fixes } = named
  const renamed = memberOf(page.members, 'name') === name ? page : { ...page, members: setMember(page.members, 'name', name) }
  return {
    kind: 'edited',
    body: withCanvasPage(body, renamed),
    result: { pageId: page.id, name },
    fixes,
    warnings: [],
    writtenPage: page.id,
  }
}

/** Deletes a page with its shapes. When it was the active page, the first remaining page becomes active. Refuses the only page. [TOOL-delete_canvas_page] */
export const deleteCanvasPage: Edit<{ readonly pageId: string }, { readonly deleted: string }> = (body, args) => {
  const page = findCanvasPage(body, args.pageId)
  if (isRefusal(page)) return page
  const pages = body.canvas.pages.filter((other) => other !== page)
  const [first] = pages
  if (first === undefined) return lastPage(page.id, 'canvas')
  const without = withCanvasPages(body, pages)
  const isActive = body.members.get('activePageId') === page.id
  return {
    kind: 'edited',
    body: isActive ? withMembers(without, new Map([['activePageId', first.id]])) : without,
    result: { deleted: page.id },
    fixes: [],
    warnings: [],
  }
}

export interface ReorderCanvasPages {
  readonly order: readonly string[]
}

/** Puts the canvas pages in the given order. [TOOL-reorder_canvas_page] */
export const reorderCanvasPages: Edit<ReorderCanvasPages, ReorderCanvasPages & { readonly ok: true }> = (body, { order }) => {
  const { pages } = body.canvas
  const refusal = notPermutation(
    order,
    pages.map((page) => page.id),
  )
  if (refusal !== null) return refusal
  const isSame = pages.every((page, index) => page.id === order[index])
  return {
    kind: 'edited',
    body: isSame ? body : reordered(body, order),
    result: { order, ok: true },
    fixes: [],
    warnings: [],
  }
}

function reordered(body: DocumentBody, order: readonly string[]): DocumentBody {
  const byId = new Map(body.canvas.pages.map((page) => [page.id, page]))
  return withCanvasPages(
    body,
    order.map((id) => byId.get(id) as CanvasPage),
  )
}

export const canvasPageEdits = {
  add_canvas_page: { edit: addCanvasPage, flaw: nameFlaw },
  rename_canvas_page: { edit: renameCanvasPage, flaw: nameFlaw },
  delete_canvas_page: { edit: deleteCanvasPage },
  reorder_canvas_page: { edit: reorderCanvasPages },
} as const satisfies Record<string, EditRow>
