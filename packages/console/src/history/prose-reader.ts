import { proseSchema } from '@docrelay/prosemirror'
import { DOMParser, type Node } from 'prosemirror-model'
import { InertHtml, type TrustedTypes } from './inert-html.ts'

/** Reads the HTML of stored pages as the editor would show it. */
export class ProseReader {
  readonly #html: InertHtml
  readonly #parser = DOMParser.fromSchema(proseSchema)

  constructor(html: InertHtml) {
    this.#html = html
  }

  /** A page that is not there (`null`) has no blocks. */
  read(content: string | null): Node {
    if (content === null) return proseSchema.topNodeType.create()
    const page = this.#html.read(content)
    dropSpaceBetweenBlocks(page)
    return this.#parser.parse(page, { preserveWhitespace: 'full' })
  }
}

const BLOCKS = 'p, h1, h2, h3, h4, h5, h6, ul, ol, li, pre, blockquote, table, tbody, thead, tr, td, th, div, hr, img'

/** Whoever writes HTML breaks lines between blocks, which a parser that keeps every space in a text would read as blocks of their own. */
function dropSpaceBetweenBlocks(parent: ParentNode & globalThis.Node): void {
  const { children } = parent
  if (children.length === 0 || ![...children].every((child) => child.matches(BLOCKS))) return
  for (const child of [...parent.childNodes])
    if (child instanceof Element) dropSpaceBetweenBlocks(child)
    else if (child.textContent?.trim() === '') child.remove()
}

let shared: ProseReader | null = null

/** The one reader of this page: a Trusted Types policy can be made once. */
export function proseReader(): ProseReader {
  shared ??= new ProseReader(new InertHtml(globalThis as typeof globalThis & { readonly trustedTypes?: TrustedTypes }))
  return shared
}
