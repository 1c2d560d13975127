import { isEmptyPage } from './equal.ts'
import type { ProseElement, ProseMark, ProseNode, ProseText, ProseTree } from './node.ts'
import { findMarkSpec, nodeSpec, type NodeSpec } from './schema.ts'
import type { AttrValue } from './values.ts'

/** The canonical HTML of a page that satisfies the content model. [PROSE-3, PROSE-4, PROSE-5] */
export function writeTree(tree: ProseTree): string {
  return isEmptyPage(tree) ? '<p></p>' : tree.map(writeBlock).join('')
}

/** A block with more children than this is written in parts, and unchanged parts are not written again. [CONC-13] */
const shortBlock = 16
const parts = new WeakMap<ProseElement, string>()

function writeBlock(block: ProseElement): string {
  if (block.content.length <= shortBlock || isTextBlock(block)) return writeElement(block)
  return writeElement(block, block.content.map((part) => writePart(part as ProseElement)).join(''))
}

function writePart(part: ProseElement): string {
  const known = parts.get(part)
  if (known !== undefined) return known
  // Made with `join`, because a string built by appending would keep all its pieces in memory.
  const html = writeElement(
    part,
    isTextBlock(part) ? undefined : part.content.map((node) => writeElement(node as ProseElement)).join(''),
  )
  parts.set(part, html)
  return html
}

function isTextBlock(node: ProseElement): boolean {
  const { content } = nodeSpec(node.type)
  return content === 'inline' || content === 'code'
}

function writeNodes(nodes: readonly ProseNode[]): string {
  let html = ''
  for (const node of nodes) html += node.type === 'text' ? writeText(node) : writeElement(node)
  return html
}

/** Writes a node. `inner` is the HTML of its content, if already written. */
function writeElement(node: ProseElement, inner: string = writeNodes(node.content)): string {
  const spec = nodeSpec(node.type)
  switch (node.type) {
    case 'heading': {
      const tag = `h${node.attrs['level'] ?? 1}`
      return `<${tag}${writeAttrs(node, spec)}>${inner}</${tag}>`
    }
    case 'codeBlock': {
      const language = node.attrs['language']
      const classAttr = language === undefined ? '' : ` class="language-${escapeAttr(String(language))}"`
      return `<pre${writeAttrs(node, spec)}><code${classAttr}>${inner}</code></pre>`
    }
    case 'gallery':
      return `<div data-gallery${writeAttrs(node, spec)}><div class="gallery-items">${inner}</div></div>`
    case 'image':
    case 'horizontalRule':
    case 'hardBreak':
      return `<${spec.tag}${writeAttrs(node, spec)}>`
    default: {
      const text = spec.label === undefined ? '' : escapeText(String(node.attrs[spec.label] ?? ''))
      return `<${spec.tag}${spec.marker}${writeAttrs(node, spec)}>${text}${inner}</${spec.tag}>`
    }
  }
}

/** An attribute with the handle of a block, for HTML that shows names. No stored block has it. [AG-13] */
export const handleAttr = 'data-handle'

function writeAttrs(node: ProseElement, spec: NodeSpec): string {
  const handle = node.attrs[handleAttr]
  let html = handle === undefined ? '' : ` ${handleAttr}="${escapeAttr(String(handle))}"`
  let style = ''
  for (const attr of spec.attrs) {
    const value: AttrValue | undefined = node.attrs[attr.name] ?? (attr.always === true ? (attr.default ?? '') : undefined)
    if (value === undefined || attr.html === '') continue
    const text = typeof value === 'object' ? value.join(',') : String(value)
    if (attr.html.startsWith('style:')) style += `${style === '' ? '' : '; '}${attr.html.slice(6)}: ${text}`
    else html += ` ${attr.html}="${escapeAttr(text)}"`
  }
  return style === '' ? html : `${html} style="${escapeAttr(style)}"`
}

function writeText(node: ProseText): string {
  let html = escapeText(node.text)
  for (let i = node.marks.length - 1; i >= 0; i--) html = writeMark(node.marks[i] as ProseMark, html)
  return html
}

/** Writes `inner` as canonical HTML inside one mark. */
export function writeMark(mark: ProseMark, inner: string): string {
  const spec = findMarkSpec(mark.type)
  if (spec === undefined) return inner
  const value = spec.attr === undefined ? undefined : mark.attrs[spec.attr.name]
  if (spec.attr === undefined || value === undefined) return `<${spec.tag}>${inner}</${spec.tag}>`
  const attr = spec.attr.html.startsWith('style:')
    ? `style="${spec.attr.html.slice(6)}: ${escapeAttr(value)}"`
    : `${spec.attr.html}="${escapeAttr(value)}"`
  return `<${spec.tag} ${attr}>${inner}</${spec.tag}>`
}

function escapeText(text: string): string {
  return /[&<>\0\r]/.test(text) ? clean(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') : text
}

function escapeAttr(text: string): string {
  return /[&<>"\0\r]/.test(text) ? escapeText(text).replaceAll('"', '&quot;') : text
}

function clean(text: string): string {
  return text.replaceAll('\0', '').replaceAll('\r', '\n')
}
