import { attrOf, type HtmlElement } from './html-dom.ts'
import type { NodeType } from './node.ts'

/** Removed with everything inside. [PROSE-12] */
export const removedTags = new Set([
  'script',
  'style',
  'template',
  'noscript',
  'iframe',
  'object',
  'embed',
  'svg',
  'math',
  'head',
  'title',
  'select',
  'textarea',
])

/** Replaced by their children without a report. [PROSE-11] */
export const silentTags = new Set(['html', 'body', 'thead', 'tbody', 'tfoot', 'colgroup', 'col'])

/** The same inside the chrome that editors draw around a task item. */
export const chromeTags = new Set(['label', 'input', 'div', 'span'])

/** Unknown elements that a browser puts on lines of their own: inline content before and after them is not one run. */
export const blockTags = new Set(
  `address article aside caption center dd details dialog dir div dl dt fieldset footer form header hgroup legend listing main menu nav
  optgroup option plaintext search section summary xmp`.split(/\s+/),
)

const plain = new Map<string, NodeType>([
  ['p', 'paragraph'],
  ['h1', 'heading'],
  ['h2', 'heading'],
  ['h3', 'heading'],
  ['h4', 'heading'],
  ['h5', 'heading'],
  ['h6', 'heading'],
  ['pre', 'codeBlock'],
  ['blockquote', 'blockquote'],
  ['ol', 'orderedList'],
  ['figure', 'figure'],
  ['figcaption', 'figcaption'],
  ['table', 'table'],
  ['tr', 'tableRow'],
  ['td', 'tableCell'],
  ['th', 'tableHeader'],
  ['img', 'image'],
  ['hr', 'horizontalRule'],
  ['br', 'hardBreak'],
])

const markedDivs = [
  ['data-callout', 'callout'],
  ['data-gallery', 'gallery'],
  ['data-math-block', 'mathBlock'],
  ['data-bibliography', 'bibliography'],
] as const

const markedSpans = [
  ['data-math-inline', 'mathInline'],
  ['data-citation', 'citationInline'],
  ['data-field', 'fieldRef'],
  ['data-file-ref', 'fileRef'],
] as const

/** The node that an element stands for, and the attributes that say so; `undefined` for marks and for what the model does not know. */
export function nodeOfElement(
  element: HtmlElement,
): { readonly type: NodeType; readonly markers: readonly string[] } | undefined {
  const tag = element.tagName
  const type = plain.get(tag)
  if (type !== undefined) return { type, markers: [] }
  if (tag === 'ul') {
    return attrOf(element, 'data-type') === 'taskList'
      ? { type: 'taskList', markers: ['data-type'] }
      : { type: 'bulletList', markers: [] }
  }
  if (tag === 'li') {
    return attrOf(element, 'data-type') === 'taskItem'
      ? { type: 'taskItem', markers: ['data-type'] }
      : { type: 'listItem', markers: [] }
  }
  if (tag === 'div' && attrOf(element, 'data-type') === 'embedded-group') return { type: 'embeddedGroup', markers: ['data-type'] }
  const marked = tag === 'div' ? markedDivs : tag === 'span' ? markedSpans : []
  for (const [marker, node] of marked) {
    if (element.attrs.some((attr) => attr.name === marker)) return { type: node, markers: [marker] }
  }
  return undefined
}
