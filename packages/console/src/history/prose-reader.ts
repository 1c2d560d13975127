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
    return this.#parser.parse(this.#html.read(content), { preserveWhitespace: 'full' })
  }
}

let shared: ProseReader | null = null

/** The one reader of this page: a Trusted Types policy can be made once. */
export function proseReader(): ProseReader {
  shared ??= new ProseReader(new InertHtml(globalThis as typeof globalThis & { readonly trustedTypes?: TrustedTypes }))
  return shared
}
