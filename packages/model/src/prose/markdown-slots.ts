import { FixList, type Place } from './fixes.ts'
import { readCanonical } from './html.ts'
import { attrOf, isElement, parseDom, type HtmlNode } from './html-dom.ts'
import { readHtml, type Slot, type Slots } from './html-reader.ts'
import type { InlinePart } from './markdown-inline.ts'
import { pushAll } from './marks.ts'
import type { ProseNode } from './node.ts'

/** A piece of a sequence of blocks: nodes that Markdown gave, or a block of raw HTML. */
export type BlockPart = { readonly nodes: readonly ProseNode[] } | { readonly html: string }

/**
 * Reads raw HTML with Markdown between its tags. The HTML parser sees an empty element in the place of each piece of Markdown, a `div`
 * for blocks and a `span` for inline pieces, marked with an attribute that occurs nowhere in the text; the reader puts the pieces back.
 * So tags opened in one block and closed in another enclose what stands between them, as a browser would have it. [PROSE-25]
 */
export class SlotReader {
  readonly #attribute: string
  readonly #fixes: FixList

  /** `text` is the whole input. */
  constructor(text: string, fixes: FixList) {
    this.#fixes = fixes
    let longest = 0
    for (const [, run] of text.matchAll(/data-slot(x*)/gi)) longest = Math.max(longest, (run as string).length)
    this.#attribute = `data-slot${'x'.repeat(longest + 1)}`
  }

  blocks(given: readonly BlockPart[], place: Place | undefined): readonly ProseNode[] {
    const parts = given.map((part) => ('nodes' in part ? part : canonicalPart(part)))
    if (parts.every((part) => 'nodes' in part)) return parts.flatMap((part) => part.nodes)
    const contents: Slot[] = []
    let html = ''
    for (const part of parts) html += 'nodes' in part ? this.#slot('div', { blocks: part.nodes }, contents) : part.html
    return this.#read(html, contents, place) ?? this.#oneByOne(parts, place)
  }

  /** Each block of HTML by itself, where one that ends inside a tag would take what follows for its attributes. */
  #oneByOne(parts: readonly BlockPart[], place: Place | undefined): readonly ProseNode[] {
    this.#fixes.add('dropped_invalid', 'a tag is not closed in its block of HTML', place, 'html')
    return parts.flatMap((part) => ('nodes' in part ? part.nodes : readHtml(parseDom(part.html), 'call', this.#fixes, { place })))
  }

  /**
   * Inline pieces inside `tag`; without it runs of inline content become paragraphs. `undefined` when a tag makes the parser skip what Markdown
   * wrote behind it; no tag that is left in a line is known to.
   */
  inline(parts: readonly InlinePart[], tag: string | undefined, place: Place | undefined): readonly ProseNode[] | undefined {
    const contents: Slot[] = []
    let html = ''
    let pieces: Exclude<InlinePart, { html: string }>[] = []
    const flush = () => {
      if (pieces.length > 0) html += this.#slot('span', { parts: pieces }, contents)
      pieces = []
    }
    for (const part of parts) {
      if (!('html' in part)) {
        pieces.push(part)
        continue
      }
      flush()
      html += part.html
    }
    flush()
    return this.#read(tag === undefined ? html : `<${tag}>${html}</${tag}>`, contents, place)
  }

  #slot(tag: string, slot: Slot, contents: Slot[]): string {
    contents.push(slot)
    return `<${tag} ${this.#attribute}="${contents.length - 1}"></${tag}>`
  }

  /** `undefined` when the parser made a piece part of a tag, or skipped it. */
  #read(html: string, contents: readonly Slot[], place: Place | undefined): readonly ProseNode[] | undefined {
    const slots: Slots = { attribute: this.#attribute, contents, met: new Set() }
    const dom = parseDom(html)
    const fixes = new FixList()
    const nodes = readHtml(dom, 'call', fixes, { place, slots })
    if (slots.met.size < contents.length && !isComplete(dom, slots)) return undefined
    for (const fix of fixes.list) this.#fixes.keep(fix)
    return nodes
  }
}

/** Whether every piece that the reader did not come by stands in something that is removed with its content. */
function isComplete(dom: readonly HtmlNode[], { attribute, contents, met }: Slots): boolean {
  const found = new Set(met)
  const written = new RegExp(`${attribute}="(\\d+)"`, 'g')
  const stack: HtmlNode[] = [...dom]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const text = 'value' in node && typeof node.value === 'string' ? node.value : ''
    for (const [, number] of text.matchAll(written)) found.add(Number(number))
    if (!isElement(node)) continue
    const number = attrOf(node, attribute)
    if (number !== undefined) found.add(Number(number))
    pushAll(stack, 'content' in node ? (node.content as { childNodes: HtmlNode[] }).childNodes : node.childNodes)
  }
  return found.size === contents.length
}

/** White space as it is written in canonical HTML between Markdown, where line ends and runs of spaces would not stand. */
export function referencedSpace(html: string): string {
  return html.replace(/[\t\n\f]| (?=<)|(?<=[> ]) /g, (space) => `&#${space.charCodeAt(0)};`)
}

/**
 * The blocks of canonical HTML as the writer puts it between Markdown, in which all white space is meant; other HTML as it is, and HTML
 * that says the same either way. [PROSE-15, PROSE-38]
 */
function canonicalPart(part: { readonly html: string }): BlockPart {
  const line = part.html.endsWith('\n') ? part.html.slice(0, -1) : part.html
  if (line.includes('\n') || !line.includes('&#')) return part
  const canonical = line.replace(/&#(9|10|12|32);/g, (_, code: string) => String.fromCharCode(Number(code)))
  const nodes = referencedSpace(canonical) === line ? readCanonical(canonical) : null
  return nodes === null ? part : { nodes }
}
