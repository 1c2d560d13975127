import type { DocumentBody, ProsePage } from '../body.ts'
import type { Fix, Refusal, Warning } from '../edit.ts'
import { memberOf } from '../json.ts'
import { pageNotFound } from '../pages.ts'
import { serialiseHtml } from './html.ts'
import type { ProseTree } from './node.ts'
import { keepTree, storedTree } from './stored-trees.ts'

export function findProsePage(body: DocumentBody, pageId: string): ProsePage | Refusal {
  return body.prose.pages.find((page) => page.id === pageId) ?? pageNotFound(body, pageId, 'prose')
}

/** A stored page as a tree of the content model, with the heals that a write of the page would store. */
export interface PageTree {
  readonly tree: ProseTree
  /** The adjustments that healing made; empty for a valid page. */
  readonly heals: readonly Fix[]
  readonly warnings: readonly Warning[]
}

/**
 * Reads a stored page. Canonical, valid blocks are written back byte for byte. Other blocks are healed in the tree, and a write of the
 * page stores the healed form. [PROSE-24, PROSE-50]
 */
export function pageTree(page: ProsePage): PageTree {
  const { tree, fixes } = storedTree(page.content)
  return { tree, heals: fixes, warnings: healWarnings(fixes) }
}

const maxWarnings = 20

/** Returns the warnings with which a write reports heals outside its own edit. [PROSE-24] */
export function healWarnings(fixes: readonly Fix[]): readonly Warning[] {
  const shown = fixes.slice(0, maxWarnings).map((fix): Warning => {
    const field = fix.field === undefined ? '' : ` (${fix.field})`
    return { reason: `the stored page did not fit the content model and was healed at ${fix.path}${field}: ${fix.reason}` }
  })
  const more = fixes.length - shown.length
  return more > 0 ? [...shown, { reason: `the stored page was healed at ${more} more places` }] : shown
}

/** Stores a tree as the canonical HTML of a page. Returns `body` itself when the HTML does not change. [BODY-9] */
export function withPageTree(body: DocumentBody, pageId: string, tree: ProseTree): DocumentBody {
  return withProsePage(body, pageId, (page) => {
    const content = serialiseHtml(tree)
    if (content === page.content) return page
    keepTree(content, tree)
    return { ...page, content }
  })
}

/** Returns the body with one page changed; `body` itself when `change` returns the same page. */
export function withProsePage(body: DocumentBody, pageId: string, change: (page: ProsePage) => ProsePage): DocumentBody {
  const pages = body.prose.pages.map((page) => (page.id === pageId ? change(page) : page))
  return pages.every((page, index) => page === body.prose.pages[index]) ? body : withProsePages(body, pages)
}

export function withProsePages(body: DocumentBody, pages: readonly ProsePage[]): DocumentBody {
  return { ...body, prose: { ...body.prose, pages } }
}

/** Returns the order number of a page; its index in the list when the page has no number. */
export function pageOrder(page: ProsePage, index: number): number {
  const order = memberOf(page.members, 'order')
  return typeof order === 'number' ? order : index
}
