import { FixList, type Place } from './fixes.ts'
import { heal } from './heal.ts'
import { parseDom } from './html-dom.ts'
import { readHtml, type Slot } from './html-reader.ts'
import { writeTree } from './html-writer.ts'
import type { InlinePart } from './markdown-inline.ts'
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

  blocks(parts: readonly BlockPart[], place: Place | undefined): readonly ProseNode[] {
    const contents: Slot[] = []
    let html = ''
    for (const part of parts) {
      const nodes = 'nodes' in part ? part.nodes : canonicalNodes(part.html)
      if (nodes !== undefined) html += this.#slot('div', { blocks: nodes }, contents)
      else if ('html' in part) html += part.html
    }
    return this.#read(html, contents, place)
  }

  /** Inline pieces inside `tag`; without it runs of inline content become paragraphs. */
  inline(parts: readonly InlinePart[], tag: string | undefined, place: Place | undefined): readonly ProseNode[] {
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

  #read(html: string, contents: readonly Slot[], place: Place | undefined): readonly ProseNode[] {
    return readHtml(parseDom(html), 'call', this.#fixes, { place, slots: { attribute: this.#attribute, contents } })
  }
}

/** White space as it is written in canonical HTML between Markdown, where line ends and runs of spaces would not stand. */
export function referencedSpace(html: string): string {
  return html.replace(/[\t\n\f]| (?=<)|(?<=[> ]) /g, (space) => `&#${space.charCodeAt(0)};`)
}

/**
 * The blocks of canonical HTML as the writer puts it between Markdown, in which all white space is meant; `undefined` for other HTML, and
 * for HTML that says the same either way. [PROSE-15, PROSE-38]
 */
function canonicalNodes(html: string): readonly ProseNode[] | undefined {
  const line = html.endsWith('\n') ? html.slice(0, -1) : html
  if (line.includes('\n') || !line.includes('&#')) return undefined
  const tree = heal(readHtml(parseDom(line), 'stored', new FixList()), new FixList())
  return referencedSpace(writeTree(tree)) === line ? tree : undefined
}
