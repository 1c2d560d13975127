import { isEmptyPage } from '@docrelay/model/prose/equal'
import { serialiseHtml } from '@docrelay/model/prose/html'
import type { ProseTree } from '@docrelay/model/prose/node'
import { keepTree, storedTree } from '@docrelay/model/prose/stored-trees'
import type { TextChange } from '@docrelay/model/prose/text-splices'
import type * as Y from 'yjs'
import type { EncodedValues } from './binding-encoded.ts'
import type { ProjectionCache } from './binding-cache.ts'
import { longestRise } from './binding-order.ts'
import { isUntouched, proseRoot } from './binding-roots.ts'
import { fillFragment, readFragment, reconcileFragment } from '../prose/prose-fragment.ts'

/** Optional knowledge about a change, besides the two versions of a page. */
export interface Hints {
  /** Ids of the blocks that moved, when blocks changed places. */
  readonly moved?: ReadonlySet<string>
  /** The text blocks in which only words were replaced. */
  readonly words?: readonly TextChange[]
  /** The cache that is attached to this document. */
  readonly cache?: ProjectionCache
  /** The encoded bytes of shapes that are new in `after`. */
  readonly encoded?: EncodedValues
}

const EMPTY_PAGE = '<p></p>'

/**
 * Returns the HTML of a prose page: the string of the body while the live tree has the same content, else canonical HTML. [BODY-9] A page
 * that exists only in the live document and was never filled is `<p></p>`.
 */
export function projectContent(ydoc: Y.Doc, pageId: string, base: string | undefined, cache: ProjectionCache | null): string {
  const root = proseRoot(pageId)
  const compute = (): string => {
    if (isUntouched(ydoc, root)) return base ?? EMPTY_PAGE
    const html = fragmentHtml(ydoc.getXmlFragment(root), cache)
    if (base === undefined || html === base) return html
    const canonical = cache === null ? canonicalHtml(base) : cache.canonical(root, base, canonicalHtml)
    if (html === canonical) return base
    // The returned HTML is canonical already. Noting this saves computing it when the HTML is the base of the next projection.
    cache?.canonical(root, html, () => html)
    return html
  }
  return cache === null ? compute() : cache.part(root, [root], base, compute)
}

function fragmentHtml(fragment: Y.XmlFragment, cache: ProjectionCache | null): string {
  if (cache === null) return serialiseHtml(readFragment(fragment))
  const tree = readFragment(fragment, cache.prose)
  if (tree.length === 0) return EMPTY_PAGE
  const html = tree.map((block) => cache.block(block, () => serialiseHtml([block]))).join('')
  // Keeps the tree, so that an edit of the projected page starts from the same node objects as the live page.
  keepTree(html, tree)
  return html
}

/** Parses the HTML of a stored page. White space in text blocks is significant. [PROSE-15] */
export function contentTree(content: string): ProseTree {
  return storedTree(content).tree
}

export function canonicalHtml(content: string): string {
  return serialiseHtml(contentTree(content))
}

/** Whether stored HTML has content, so that a live page has to be filled with it. [PROSE-9] */
export function hasContent(content: string): boolean {
  return content !== '' && content !== EMPTY_PAGE && !isEmptyPage(contentTree(content))
}

/** Applies the changes from `before` to `after` to a live page, block by block. [LIFE-14] */
export function reconcileContent(ydoc: Y.Doc, pageId: string, before: string, after: string, hints: Hints = {}): void {
  if (before === after) return
  writeContent(ydoc, pageId, after, () => contentTree(before), hints)
}

/**
 * Writes a page whose live content the caller has not seen. With `keep`, live content stays, because others have just added it; blocks that
 * both sides have occur once. Without `keep`, live content of an earlier page with this id is replaced. [LIFE-14, YDOC-5]
 */
export function fillContent(ydoc: Y.Doc, pageId: string, after: string, keep: boolean): void {
  writeContent(ydoc, pageId, after, (live, tree) => (keep ? sharedBlocks(live, tree) : live))
}

function writeContent(
  ydoc: Y.Doc,
  pageId: string,
  after: string,
  before: (live: ProseTree, tree: ProseTree) => ProseTree,
  { moved, words, cache }: Hints = {},
): void {
  const root = proseRoot(pageId)
  const untouched = isUntouched(ydoc, root)
  const fragment = ydoc.getXmlFragment(root)
  const tree = contentTree(after)
  if (untouched) fillFragment(fragment, tree)
  else reconcileFragment(fragment, before(readFragment(fragment, cache?.prose), tree), tree, cache?.prose, moved, words)
}

/** Returns the blocks of `tree` that `live` has too, in the same order. */
function sharedBlocks(live: ProseTree, tree: ProseTree): ProseTree {
  const places = new Map<string, number[]>()
  for (const [place, block] of live.entries()) {
    const html = serialiseHtml([block])
    const known = places.get(html)
    if (known === undefined) places.set(html, [place])
    else known.push(place)
  }
  const matches = tree.flatMap((block) => {
    const place = places.get(serialiseHtml([block]))?.shift()
    return place === undefined ? [] : [{ block, place }]
  })
  return longestRise(matches.map(({ place }) => place)).map((index) => (matches[index] as (typeof matches)[number]).block)
}
