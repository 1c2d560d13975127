import { isEmptyPage } from '@docrelay/model/prose/equal'
import { parseHtml, serialiseHtml } from '@docrelay/model/prose/html'
import type { ProseTree } from '@docrelay/model/prose/node'
import type * as Y from 'yjs'
import type { ProjectionCache } from './binding-cache.ts'
import { isUntouched, proseRoot } from './binding-roots.ts'
import { fillFragment, readFragment, reconcileFragment } from './prose-fragment.ts'

const EMPTY_PAGE = '<p></p>'

/**
 * The HTML of a prose page: the string of the body while the live tree is what that string says, else canonical HTML. [BODY-9]
 * A page that only the live document has and that nobody filled is `<p></p>`.
 */
export function projectContent(ydoc: Y.Doc, pageId: string, base: string | undefined, cache: ProjectionCache | null): string {
  const root = proseRoot(pageId)
  const compute = (): string => {
    if (isUntouched(ydoc, root)) return base ?? EMPTY_PAGE
    const html = fragmentHtml(ydoc.getXmlFragment(root), cache)
    if (base === undefined || html === base) return html
    const canonical = cache === null ? canonicalHtml(base) : cache.canonical(root, base, canonicalHtml)
    if (html === canonical) return base
    // What is answered now is the base of the next projection, and canonical already.
    cache?.canonical(root, html, () => html)
    return html
  }
  return cache === null ? compute() : cache.part(root, [root], base, compute)
}

function fragmentHtml(fragment: Y.XmlFragment, cache: ProjectionCache | null): string {
  if (cache === null) return serialiseHtml(readFragment(fragment))
  const tree = readFragment(fragment, cache.prose)
  if (tree.length === 0) return EMPTY_PAGE
  return tree.map((block) => cache.block(block, () => serialiseHtml([block]))).join('')
}

/** The tree of a stored page; white space inside text blocks counts. [PROSE-15] */
export function contentTree(content: string): ProseTree {
  return parseHtml(content, { source: 'stored' }).tree
}

export function canonicalHtml(content: string): string {
  return serialiseHtml(contentTree(content))
}

/** Whether stored HTML says anything that a live page would have to be filled with. [PROSE-9] */
export function hasContent(content: string): boolean {
  return content !== '' && content !== EMPTY_PAGE && !isEmptyPage(contentTree(content))
}

/**
 * Applies to a live page what leads from `before` to `after`, per block. [LIFE-14] `before` is `null` for a page that the caller has never
 * seen: then the page is made to say `after`.
 */
export function reconcileContent(ydoc: Y.Doc, pageId: string, before: string | null, after: string): void {
  if (before === after) return
  const root = proseRoot(pageId)
  const untouched = isUntouched(ydoc, root)
  const fragment = ydoc.getXmlFragment(root)
  const tree = contentTree(after)
  if (untouched) {
    if (!isEmptyPage(tree)) fillFragment(fragment, tree)
    return
  }
  reconcileFragment(fragment, before === null ? readFragment(fragment) : contentTree(before), tree)
}
