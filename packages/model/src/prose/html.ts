import type { Fix } from '../edit.ts'
import { boundUrls, maxUrlLength } from './url-budget.ts'
import { FixList } from './fixes.ts'
import { heal, healthy } from './heal.ts'
import { parseCanonicalDom, parseCanonicalNode } from './canonical-dom.ts'
import { type HtmlNode, parseDom } from './html-dom.ts'
import { readHtml, type HtmlSource } from './html-reader.ts'
import { writeTree } from './html-writer.ts'
import type { ProseElement, ProseTree } from './node.ts'

/**
 * The canonical HTML of a page. The same tree always gives the same bytes. [PROSE-3, PROSE-4, PROSE-5]
 *
 * `tree` must satisfy the content model, as every tree of `parseHtml` and of the live reader does.
 */
export function serialiseHtml(tree: ProseTree): string {
  return writeTree(tree)
}

/**
 * Reads any HTML as a page that satisfies the content model: parsed as a browser would, mapped by the schema, healed. [PROSE-10 to PROSE-23]
 *
 * `call` is HTML that a caller wrote: whitespace collapses and foreign ids are left out. `stored` is a stored page, where whitespace
 * inside text blocks and ids stand as they are. Canonical HTML comes back byte for byte from `serialiseHtml`. [PROSE-6]
 *
 * `fixes` tells what was adjusted, at most 1000 entries, each with the `path` and `nodeType` it concerns; empty for canonical input.
 * Never throws. The time is linear in the length of the input, which callers limit to 1 MiB. [PROSE-21]
 */
export function parseHtml(
  html: string,
  options: { readonly source: HtmlSource },
): { readonly tree: ProseTree; readonly fixes: readonly Fix[] } {
  const canonical = options.source === 'stored' ? readCanonical(html) : null
  if (canonical !== null) return { tree: canonical, fixes: [] }
  const fixes = new FixList()
  const nodes = readHtml(parseDom(html.replaceAll('\0', '')), options.source, fixes)
  // What a stored page spells out itself stays.
  const most = options.source === 'stored' ? Math.max(maxUrlLength, html.length) : maxUrlLength
  return { tree: heal(boundUrls(nodes, most, fixes), fixes), fixes: fixes.list }
}

/** The page of canonical HTML, without the WHATWG parser; `null` for anything else. What writes the same bytes is the same page. [PROSE-6] */
export function readCanonical(html: string): ProseTree | null {
  const dom = parseCanonicalDom(html)
  return dom === null ? null : canonicalTree(dom, html)
}

/** The block of canonical HTML that begins at a character, and where it ends; `null` where none does. It reads the same in its page. [PROSE-6] */
export function readCanonicalBlock(html: string, from: number): { readonly block: ProseElement; readonly end: number } | null {
  const part = parseCanonicalNode(html, from)
  if (part === null) return null
  const { nodes, end } = part
  const [block, ...more] = canonicalTree(nodes, html.slice(from, end)) ?? []
  return block === undefined || more.length > 0 ? null : { block, end }
}

/** `dom` is of `html`. */
function canonicalTree(dom: readonly HtmlNode[], html: string): ProseTree | null {
  const fixes = new FixList()
  const nodes = readHtml(dom, 'stored', fixes)
  const tree = fixes.list.length > 0 ? null : healthy(nodes)
  return tree !== null && writeTree(tree) === html ? tree : null
}
