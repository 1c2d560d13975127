import type { DocumentBody, ProsePage } from '../body.ts'
import { withMembers } from '../body-title.ts'
import { isRefusal, type Edit, type EditRow, type Refusal } from '../edit.ts'
import { memberOf, setMember } from '../json.ts'
import { cleanName, nameFlaw } from '../names.ts'
import { freePageId, lastPage, nextPageName, notPermutation } from '../pages.ts'
import { listBlocks, type BlockList } from './block-list.ts'
import { namingOf, type Printed } from './block-names.ts'
import { blockIdMint, completeIds, idsOf } from './blocks.ts'
import { contentTooLarge, formatFlaw, formatOf, noContent, readContent, type ContentArgs } from './content.ts'
import { librariesOf, linksOf } from './edit-page.ts'
import { serialiseHtml } from './html.ts'
import { refuseGone } from '../seen/unseen-targets.ts'
import { findProsePage, pageOrder, pageTree, withProsePage, withProsePages } from './page.ts'
import { withOwnIds } from './applied.ts'

export interface AddProsePage extends Printed {
  readonly name?: string | undefined
  readonly content?: string | undefined
  readonly format?: ContentArgs['format']
}

/** Refuses arguments of add_prose_page that are wrong for every document; `null` otherwise. [MCP-3] */
function addProsePageFlaw(args: AddProsePage): Refusal | null {
  return nameFlaw(args) ?? formatFlaw(args, 'content') ?? contentTooLarge(args.content ?? '')
}

export interface AddedProsePage extends BlockList {
  readonly id: string
  readonly name: string
  readonly order: number
}

/** Appends a prose page. Without content the page is empty and has no blocks. [TOOL-add_prose_page] */
export const addProsePage: Edit<AddProsePage, AddedProsePage> = (body, args, environment) => {
  const content =
    args.content === undefined
      ? noContent
      : readContent({ content: args.content, format: args.format }, librariesOf(body, environment))
  if (isRefusal(content)) return content
  const pages = body.prose.pages
  const named = args.name === undefined ? { name: nextPageName('Prose', pages), fixes: [] } : cleanName(args.name)
  if (isRefusal(named)) return named
  const own = withOwnIds(content.isBlank ? [] : content.tree, [])
  const tree = completeIds(own, blockIdMint(body, environment, idsOf(own)))
  const id = freePageId(body, environment)
  const order = pages.reduce((highest, other, index) => Math.max(highest, pageOrder(other, index)), -1) + 1
  const page: ProsePage = { id, members: { id, name: named.name, order }, content: serialiseHtml(tree) }
  return {
    kind: 'edited',
    body: withProsePages(body, [...pages, page]),
    result: { id, name: named.name, order, ...formatOf(content), ...listBlocks(tree, { naming: namingOf(args), isOwn: true }) },
    fixes: [...named.fixes, ...content.fixes],
    warnings: content.warnings,
    writtenPage: id,
    writtenBlocks: idsOf(tree),
    ...linksOf(id, content.links),
  }
}

export interface RenameProsePage {
  readonly pageId: string
  readonly name: string
}

/** Changes the name of a page. [TOOL-rename_prose_page] */
export const renameProsePage: Edit<RenameProsePage, { readonly pageId: string; readonly name: string }> = (body, args) => {
  const named = cleanName(args.name)
  if (isRefusal(named)) return named
  const page = findProsePage(body, args.pageId)
  if (isRefusal(page)) return page
  const { name } = named
  return {
    kind: 'edited',
    body: withProsePage(body, page.id, () =>
      memberOf(page.members, 'name') === name ? page : { ...page, members: setMember(page.members, 'name', name) },
    ),
    result: { pageId: page.id, name },
    fixes: named.fixes,
    warnings: [],
    writtenPage: page.id,
  }
}

interface DeleteProsePage extends Printed {
  readonly pageId: string
  readonly expectedVersion?: number | undefined
}

/** Removes a prose page. When the active page is removed, the first remaining page becomes active. [TOOL-delete_prose_page] */
export const deleteProsePage: Edit<DeleteProsePage, { readonly deleted: string }> = (body, args, { seen }) => {
  const page = findProsePage(body, args.pageId)
  if (isRefusal(page)) return page
  const pages = body.prose.pages.filter((other) => other !== page)
  const [first] = pages
  if (first === undefined) return lastPage(page.id, 'prose')
  const refusal = seen && refuseGone(seen, { ...args, tree: pageTree(page).tree })
  if (refusal) return refusal
  const without = withProsePages(body, pages)
  return {
    kind: 'edited',
    body: withActive(without, page.id, first.id),
    result: { deleted: page.id },
    fixes: [],
    warnings: [],
  }
}

/** Replaces a removed active page. The keyed form names the active page in the container; the list form may name it in the body. [BODY-1] */
function withActive(body: DocumentBody, gone: string, active: string): DocumentBody {
  const { members } = body.prose
  const inContainer =
    memberOf(members, 'activePageId') === gone
      ? { ...body, prose: { ...body.prose, members: setMember(members, 'activePageId', active) } }
      : body
  return body.members.get('activePageId') === gone ? withMembers(inContainer, new Map([['activePageId', active]])) : inContainer
}

export interface ReorderProsePages {
  readonly order: readonly string[]
}

/** Puts the prose pages in the given order and numbers them from 0. [TOOL-reorder_prose_pages] */
export const reorderProsePages: Edit<ReorderProsePages, ReorderProsePages & { readonly ok: true }> = (body, { order }) => {
  const pages = body.prose.pages
  const refusal = notPermutation(
    order,
    pages.map((page) => page.id),
  )
  if (refusal !== null) return refusal
  const byId = new Map(pages.map((page) => [page.id, page]))
  const ordered = order.map((id, index): ProsePage => {
    const page = byId.get(id) as ProsePage
    return memberOf(page.members, 'order') === index ? page : { ...page, members: setMember(page.members, 'order', index) }
  })
  const isSame = ordered.every((page, index) => page === pages[index])
  return {
    kind: 'edited',
    body: isSame ? body : withProsePages(body, ordered),
    result: { order, ok: true },
    fixes: [],
    warnings: [],
  }
}

export const prosePageEdits = {
  add_prose_page: { edit: addProsePage, flaw: addProsePageFlaw },
  rename_prose_page: { edit: renameProsePage, flaw: nameFlaw },
  delete_prose_page: { edit: deleteProsePage },
  reorder_prose_pages: { edit: reorderProsePages },
} as const satisfies Record<string, EditRow>
