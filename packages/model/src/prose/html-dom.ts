import { Parser, type DefaultTreeAdapterMap, type DefaultTreeAdapterTypes } from 'parse5'

export type HtmlElement = DefaultTreeAdapterTypes.Element
export type HtmlNode = DefaultTreeAdapterTypes.ChildNode

/**
 * Limit on formatting elements that one parse may reopen. The WHATWG algorithm reopens every unclosed `<b>`, `<font>` and so on in each
 * following paragraph, so 1 MiB of input could produce billions of elements. The limit is far above what any written page needs.
 */
const maxReopened = 50_000

/** The WHATWG parser with a limit on the only step whose output is not linear in its input. [PROSE-10, PROSE-21] */
class BoundedParser extends Parser<DefaultTreeAdapterMap> {
  #reopened = 0

  override _reconstructActiveFormattingElements(): void {
    if (this.#reopened >= maxReopened) return
    const before = this.openElements.stackTop
    super._reconstructActiveFormattingElements()
    this.#reopened += Math.max(0, this.openElements.stackTop - before)
  }
}

/** Parses HTML by the WHATWG fragment algorithm. Table parts at the start are kept, as in a `template`. */
export function parseDom(html: string): readonly HtmlNode[] {
  const parser = BoundedParser.getFragmentParser<DefaultTreeAdapterMap>(null, {})
  parser.tokenizer.write(html, true)
  // The parser puts everything below one root; `getFragment` would move all of it again.
  const [root] = parser.document.childNodes
  return root !== undefined && isElement(root) ? root.childNodes : []
}

export function isElement(node: HtmlNode): node is HtmlElement {
  return 'tagName' in node
}

/** The text of a subtree, which may be nested to any depth. `onElement` may return a text that replaces an element. */
export function textOf(nodes: readonly HtmlNode[], onElement?: (element: HtmlElement) => string | undefined): string {
  let text = ''
  const stack: HtmlNode[] = [...nodes].reverse()
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.nodeName === '#text') text += (node as DefaultTreeAdapterTypes.TextNode).value
    if (!isElement(node)) continue
    const instead = onElement?.(node)
    if (instead !== undefined) text += instead
    else for (let i = node.childNodes.length - 1; i >= 0; i--) stack.push(node.childNodes[i] as HtmlNode)
  }
  return text
}

/** The value of an attribute, `undefined` when it is not written. */
export function attrOf(element: HtmlElement, name: string): string | undefined {
  return element.attrs.find((attr) => attr.name === name && attr.prefix === undefined)?.value
}
