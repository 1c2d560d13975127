import { FixList, type Place } from './fixes.ts'
import { readCanonical } from './html.ts'
import { attrOf, isElement, parseDom, type HtmlNode } from './html-dom.ts'
import { readHtml, type Slot, type Slots } from './html-reader.ts'
import { withCommentId } from './content-ids.ts'
import { handleAttr } from './html-writer.ts'
import type { InlinePart } from './markdown-inline.ts'
import { pushAll } from './marks.ts'
import type { ProseNode } from './node.ts'

/** A part of a sequence of blocks: nodes from Markdown, or a block of raw HTML with the name that a comment before it gives its first block. [AG-16] */
export type BlockPart = { readonly nodes: readonly ProseNode[] } | HtmlPart

interface HtmlPart {
  readonly html: string
  readonly named?: string | null | undefined
}

/**
 * Reads raw HTML with Markdown between its tags. For the HTML parser each piece of Markdown is replaced by an empty element (a slot): a
 * `div` for blocks and a `span` for inline pieces, marked with an attribute that does not occur in the text. The reader then puts the
 * pieces back. So a tag opened in one block and closed in another encloses the content between, as in a browser. [PROSE-25]
 */
export class SlotReader {
  readonly #attribute: string
  readonly #fixes: FixList

  /** @param text the whole input */
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
    for (const part of parts) html += 'nodes' in part ? this.#slot('div', { blocks: part.nodes }, contents) : withComment(part)
    return this.#read(html, contents, place) ?? this.#oneByOne(parts, place)
  }

  /**
   * Reads each block of HTML separately. Used when a block ends inside a tag: otherwise the following content would become attributes of
   * that tag.
   */
  #oneByOne(parts: readonly BlockPart[], place: Place | undefined): readonly ProseNode[] {
    this.#fixes.add('dropped_invalid', 'a tag is not closed in its block of HTML', place, 'html')
    return parts.flatMap((part) =>
      'nodes' in part ? part.nodes : readHtml(parseDom(withComment(part)), 'call', this.#fixes, { place }),
    )
  }

  /**
   * Reads inline pieces inside `tag`; without `tag`, runs of inline content become paragraphs. Returns `undefined` when a tag makes the
   * parser skip Markdown after it. No such tag is known among those that are left in a line.
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

  /** Returns `undefined` when the parser made a slot part of a tag or skipped it. */
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

/** Whether every slot that the reader has not found is inside an element that is removed with its content. */
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

/**
 * Writes white space in canonical HTML between Markdown as character references, because line ends and repeated spaces would be lost there.
 */
export function referencedSpace(html: string): string {
  return html.replace(/[\t\n\f]| (?=<)|(?<=[> ]) /g, (space) => `&#${space.charCodeAt(0)};`)
}

/**
 * Reads canonical HTML that the writer put between Markdown, where all white space counts. Other HTML is returned unchanged, and so is HTML
 * that reads the same either way. [PROSE-15, PROSE-38]
 */
function canonicalPart(part: HtmlPart): BlockPart {
  const line = part.html.endsWith('\n') ? part.html.slice(0, -1) : part.html
  if (line.includes('\n') || !line.includes('&#')) return part
  const unnamed = withoutHandles(line)
  const canonical = unnamed.replace(/&#(9|10|12|32);/g, (_, code: string) => String.fromCharCode(Number(code)))
  const [first, ...rest] = (referencedSpace(canonical) === unnamed ? readCanonical(canonical) : null) ?? []
  return first === undefined ? part : { nodes: [withCommentId(first, part.named), ...rest] }
}

/** Removes the attributes with handles of blocks from canonical HTML. [AG-13] */
function withoutHandles(html: string): string {
  return html.includes(handleAttr) ? html.replace(/<[^<>]*>/g, (tag) => tag.replace(writtenHandle, '')) : html
}

const writtenHandle = new RegExp(` ${handleAttr}="@[0-9.]+(?:#[0-9a-z]{4})?"`)

function withComment({ html, named }: HtmlPart): string {
  return typeof named === 'string' ? `<!--${named}-->${html}` : html
}
