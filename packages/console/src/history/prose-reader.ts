import { proseSchema } from '@docrelay/prosemirror'
import { DOMParser, type Node } from 'prosemirror-model'
import { InertHtml, type TrustedTypes } from './inert-html.ts'

/** Reads the HTML of stored pages into the nodes that the editor would show. */
export class ProseReader {
  readonly #html: InertHtml
  readonly #parser = DOMParser.fromSchema(proseSchema)

  constructor(html: InertHtml) {
    this.#html = html
  }

  /** Reads the content of a page. `null`, for a page that does not exist, gives a page without blocks. */
  read(content: string | null): Node {
    if (content === null) return proseSchema.topNodeType.create()
    const page = this.#html.read(content)
    dropSpaceBetweenBlocks(page)
    return this.#parser.parse(page, { preserveWhitespace: 'full' })
  }
}

const BLOCKS = 'p, h1, h2, h3, h4, h5, h6, ul, ol, li, pre, blockquote, table, tbody, thead, tr, td, th, div, hr, img'

/** Removes line breaks and spaces between blocks: the parser keeps all white space and would read them as blocks of their own. */
function dropSpaceBetweenBlocks(parent: ParentNode & globalThis.Node): void {
  const { children } = parent
  if (children.length === 0 || ![...children].every((child) => child.matches(BLOCKS))) return
  for (const child of [...parent.childNodes])
    if (child instanceof Element) dropSpaceBetweenBlocks(child)
    else if (child.textContent?.trim() === '') child.remove()
}

let shared: ProseReader | null = null

/** Returns the only reader of this browser page, because a Trusted Types policy can be created only once. */
export function proseReader(): ProseReader {
  shared ??= new ProseReader(new InertHtml(globalThis as typeof globalThis & { readonly trustedTypes?: TrustedTypes }))
  return shared
}
