import type { Fix } from '../edit.ts'
import { plainIds, type PlainIds } from './content-ids.ts'
import { boundUrls, maxUrlLength } from './url-budget.ts'
import { FixList } from './fixes.ts'
import { heal, healthy } from './heal.ts'
import { parseCanonicalDom, parseCanonicalNode } from './canonical-dom.ts'
import { type HtmlNode, parseDom } from './html-dom.ts'
import { readHtml, type HtmlSource } from './html-reader.ts'
import { writeTree } from './html-writer.ts'
import type { ProseElement, ProseTree } from './node.ts'

/**
 * Returns the canonical HTML of a page. The same tree always gives the same bytes. [PROSE-3, PROSE-4, PROSE-5]
 *
 * `tree` must satisfy the content model, as every result of `parseHtml` and of the live reader does.
 */
export function serialiseHtml(tree: ProseTree): string {
  return writeTree(tree)
}

/**
 * Reads any HTML as a page that satisfies the content model: parses it as a browser would, maps it by the schema and heals it. [PROSE-10 to
 * PROSE-23]
 *
 * `call` is HTML that a caller wrote: white space collapses and ids of foreign form are left out. `stored` is a stored page, in which white
 * space inside text blocks and ids are kept. `serialiseHtml` returns canonical HTML byte for byte. [PROSE-6]
 *
 * `fixes` lists the adjustments, at most 1000 entries, each with the `path` and `nodeType` of the node; empty for canonical input.
 * Never throws. The time is linear in the length of the input, which callers limit to 1 MiB. [PROSE-21]
 */
export function parseHtml(html: string, options: ParseOptions): ParsedPage {
  const canonical = options.source === 'stored' ? readCanonical(html) : null
  if (canonical !== null) return { tree: canonical, fixes: [] }
  const fixes = new FixList()
  const nodes = readHtml(parseDom(html.replaceAll('\0', '')), options.source, fixes)
  // All URLs in the HTML of a stored page are kept, so the length of its HTML is the limit.
  const most = options.source === 'stored' ? Math.max(maxUrlLength, html.length) : maxUrlLength
  const tree = heal(boundUrls(nodes, most, fixes), fixes)
  return { ...(options.source === 'call' ? plainIds(tree, options.wholeIds) : { tree }), fixes: fixes.list }
}

interface ParseOptions {
  readonly source: HtmlSource
  /** The ids of the stored page that look like an id with a stamp and have none. [AG-6] */
  readonly wholeIds?: ReadonlySet<string>
}

/** A page as it was read. */
export interface ParsedPage extends PlainIds {
  readonly fixes: readonly Fix[]
}

/** Reads canonical HTML without the WHATWG parser; returns `null` for other HTML. The result is verified by writing it again. [PROSE-6] */
export function readCanonical(html: string): ProseTree | null {
  const dom = parseCanonicalDom(html)
  return dom === null ? null : canonicalTree(dom, html)
}

/**
 * Reads the block of canonical HTML that begins at a character and returns its end too; `null` when there is none. The block reads the same
 * alone as within its page. [PROSE-6]
 */
export function readCanonicalBlock(html: string, from: number): { readonly block: ProseElement; readonly end: number } | null {
  const part = parseCanonicalNode(html, from)
  if (part === null) return null
  const { nodes, end } = part
  const [block, ...more] = canonicalTree(nodes, html.slice(from, end)) ?? []
  return block === undefined || more.length > 0 ? null : { block, end }
}

/** Converts a DOM that was parsed from `html`; `null` when `html` is not canonical. */
function canonicalTree(dom: readonly HtmlNode[], html: string): ProseTree | null {
  const fixes = new FixList()
  const nodes = readHtml(dom, 'stored', fixes)
  const tree = fixes.list.length > 0 ? null : healthy(nodes)
  return tree !== null && writeTree(tree) === html ? tree : null
}
