import type { HtmlElement, HtmlNode } from './html-dom.ts'

/**
 * Parses canonical HTML: known tags that are all closed, bare or double-quoted attributes, four entities, no comments. Returns `null` for
 * other text. Several times faster than the WHATWG parser. The result is only correct when writing it gives the same text again, which the
 * caller must check. [PROSE-4, PROSE-6]
 */
export function parseCanonicalDom(html: string): readonly HtmlNode[] | null {
  return readNodes(html, 0, false)?.nodes ?? null
}

/** Top-level nodes, and the index of the character after them. */
interface CanonicalPart {
  readonly nodes: readonly HtmlNode[]
  readonly end: number
}

/** Parses the element or text that begins at a character of canonical HTML, without reading what follows. Returns its end too. */
export function parseCanonicalNode(html: string, from: number): CanonicalPart | null {
  return readNodes(html, from, true)
}

function readNodes(html: string, from: number, isOne: boolean): CanonicalPart | null {
  const root: HtmlNode[] = []
  const open: { readonly end: string; readonly parent: HtmlNode[] }[] = []
  let children = root
  for (let at = from; at < html.length; ) {
    if (isOne && at > from && open.length === 0) return { nodes: root, end: at }
    if (html.charCodeAt(at) !== lessThan) {
      const next = html.indexOf('<', at)
      const end = next === -1 ? html.length : next
      const value = decode(html.slice(at, end))
      if (value === null) return null
      children.push({ nodeName: '#text', value } as unknown as HtmlNode)
      at = end
    } else if (html.charCodeAt(at + 1) === slash) {
      const last = open.pop()
      if (last === undefined || !html.startsWith(last.end, at)) return null
      at += last.end.length
      children = last.parent
    } else {
      startTag.lastIndex = at
      const match = startTag.exec(html)
      const [whole, tag, written] = match ?? ['', '', '']
      const attrs = written === '' ? noAttrs : readAttrs(written as string)
      if (whole === '' || attrs === null) return null
      const childNodes: HtmlNode[] = []
      children.push({ nodeName: tag, tagName: tag, namespaceURI, attrs, childNodes } as unknown as HtmlNode)
      at += whole.length
      if (voidTags.has(tag as string)) continue
      open.push({ end: `</${tag}>`, parent: children })
      children = childNodes
    }
  }
  return open.length === 0 ? { nodes: root, end: html.length } : null
}

const lessThan = 60
const slash = 47
const namespaceURI = 'http://www.w3.org/1999/xhtml'
const voidTags = new Set(['br', 'hr', 'img'])
const noAttrs: HtmlElement['attrs'] = []
/** Tags in the tables of PROSE-2, because other tags have parsing rules of their own. */
const startTag =
  /<(p|h[1-6]|pre|code|blockquote|ul|ol|li|div|figure|figcaption|table|tr|td|th|img|hr|br|span|a|mark|strong|em|u|s|sup|sub)((?: [a-z-]+(?:="[^"<>]*")?)*)>/y
const attribute = / ([a-z-]+)(?:="([^"]*)")?/y

function readAttrs(written: string): HtmlElement['attrs'] | null {
  const attrs: HtmlElement['attrs'] = []
  for (let at = 0; at < written.length; at = attribute.lastIndex) {
    attribute.lastIndex = at
    const [, name, raw] = attribute.exec(written) ?? []
    const value = raw === undefined ? '' : decode(raw)
    if (name === undefined || value === null) return null
    attrs.push({ name, value })
  }
  return attrs
}

const entity = /&(?!(?:amp|lt|gt|quot);)/

/** Returns `null` when an ampersand does not begin one of the four entities. */
function decode(text: string): string | null {
  if (!text.includes('&')) return text
  if (entity.test(text)) return null
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}
