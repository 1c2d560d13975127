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

/** A stored page as a tree of the content model, and what of it a write would have to change besides its own edit. */
export interface PageTree {
  readonly tree: ProseTree
  /** What was healed in it. */
  readonly heals: readonly Fix[]
  readonly warnings: readonly Warning[]
}

/**
 * Reads a stored page. Blocks that are canonical and valid are written back byte for byte; the others are healed in the tree, and a write
 * of the page stores them so. [PROSE-24, PROSE-50]
 */
export function pageTree(page: ProsePage): PageTree {
  const { tree, fixes } = storedTree(page.content)
  return { tree, heals: fixes, warnings: healWarnings(fixes) }
}

const maxWarnings = 20

/** How a write tells of what it healed beside its own edit. [PROSE-24] */
export function healWarnings(fixes: readonly Fix[]): readonly Warning[] {
  const shown = fixes.slice(0, maxWarnings).map((fix): Warning => {
    const field = fix.field === undefined ? '' : ` (${fix.field})`
    return { reason: `the stored page did not fit the content model and was healed at ${fix.path}${field}: ${fix.reason}` }
  })
  const more = fixes.length - shown.length
  return more > 0 ? [...shown, { reason: `the stored page was healed at ${more} more places` }] : shown
}

/** The body with this tree as the page's canonical HTML; `body` itself when its bytes stay as they are. [BODY-9] */
export function withPageTree(body: DocumentBody, pageId: string, tree: ProseTree): DocumentBody {
  return withProsePage(body, pageId, (page) => {
    const content = serialiseHtml(tree)
    if (content === page.content) return page
    keepTree(content, tree)
    return { ...page, content }
  })
}

/** The body with one page changed, `body` itself when `change` gives the page back. */
export function withProsePage(body: DocumentBody, pageId: string, change: (page: ProsePage) => ProsePage): DocumentBody {
  const pages = body.prose.pages.map((page) => (page.id === pageId ? change(page) : page))
  return pages.every((page, index) => page === body.prose.pages[index]) ? body : withProsePages(body, pages)
}

export function withProsePages(body: DocumentBody, pages: readonly ProsePage[]): DocumentBody {
  return { ...body, prose: { ...body.prose, pages } }
}

/** The page's number; its place in the list where it has none. */
export function pageOrder(page: ProsePage, index: number): number {
  const order = memberOf(page.members, 'order')
  return typeof order === 'number' ? order : index
}
