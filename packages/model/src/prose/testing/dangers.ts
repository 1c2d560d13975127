import { attrOf, isElement, parseDom, type HtmlElement, type HtmlNode } from '../html-dom.ts'

const tags = new Set(
  `p h1 h2 h3 h4 h5 h6 pre code blockquote ul ol li div figure figcaption table tbody tr td th img hr br span a mark strong em u s sup sub`.split(
    ' ',
  ),
)
const attributes = new Set(
  `id style class start type data-type data-checked data-callout data-variant data-gallery data-layout colspan rowspan colwidth scope src alt
  title width height data-float data-math-block data-latex data-bibliography data-bib-html data-scope data-group-id data-group-name
  data-math-inline data-citation data-ref-id data-locator data-label data-field data-name data-file-ref data-blob-ref data-file-name
  data-mime-type data-file-size href`.split(/\s+/),
)

/** Returns the elements and attributes that a browser would find in HTML and that the schema does not allow or that could run scripts. */
export function dangers(html: string): string[] {
  const found: string[] = []
  const stack: HtmlNode[] = [...parseDom(html)]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.nodeName === '#comment') found.push('comment')
    if (!isElement(node)) continue
    found.push(...elementDangers(node))
    for (const child of node.childNodes) stack.push(child)
  }
  return found
}

function elementDangers(element: HtmlElement): string[] {
  const found = tags.has(element.tagName) ? [] : [element.tagName]
  for (const attr of element.attrs) if (!attributes.has(attr.name)) found.push(`${element.tagName} ${attr.name}`)
  for (const name of ['href', 'src']) {
    const url =
      attrOf(element, name)
        ?.replace(/[\p{C}\s]/gu, '')
        .toLowerCase() ?? ''
    if (/^(javascript|vbscript|file):/.test(url) || (url.startsWith('data:') && !url.startsWith('data:image/')))
      found.push(`${name}=${url}`)
  }
  const style = attrOf(element, 'style') ?? ''
  if (!/^((color|background-color|text-align): [#a-z0-9(),.%/ +-]+(; )?)*$/i.test(style)) found.push(`style=${style}`)
  return found
}
