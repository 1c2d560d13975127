import { attrOf, type HtmlElement } from './html-dom.ts'
import type { NodeType } from './node.ts'

/** Tags that are removed together with their content. [PROSE-12] */
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

/** Tags that are replaced by their children without a report. [PROSE-11] */
export const silentTags = new Set(['html', 'body', 'thead', 'tbody', 'tfoot', 'colgroup', 'col'])

/** Tags that are also replaced silently inside the markup that editors draw around a task item. */
export const chromeTags = new Set(['label', 'input', 'div', 'span'])

/** Unknown elements that a browser displays on lines of their own: inline content before and after them is not joined. */
export const blockTags = new Set(
  `address article aside caption center dd details dialog dir div dl dt fieldset footer form header hgroup legend listing main menu nav
  optgroup option plaintext search section summary xmp`.split(/\s+/),
)

/** The node that an element stands for, and the attributes that identify it. */
export interface FoundNode {
  readonly type: NodeType
  readonly markers: readonly string[]
}

const found = (type: NodeType, ...markers: readonly string[]): FoundNode => ({ type, markers })

const plain = new Map<string, FoundNode>([
  ['p', found('paragraph')],
  ['h1', found('heading')],
  ['h2', found('heading')],
  ['h3', found('heading')],
  ['h4', found('heading')],
  ['h5', found('heading')],
  ['h6', found('heading')],
  ['pre', found('codeBlock')],
  ['blockquote', found('blockquote')],
  ['ul', found('bulletList')],
  ['ol', found('orderedList')],
  ['li', found('listItem')],
  ['figure', found('figure')],
  ['figcaption', found('figcaption')],
  ['table', found('table')],
  ['tr', found('tableRow')],
  ['td', found('tableCell')],
  ['th', found('tableHeader')],
  ['img', found('image')],
  ['hr', found('horizontalRule')],
  ['br', found('hardBreak')],
])

const typed = new Map<string, FoundNode>([
  ['ul taskList', found('taskList', 'data-type')],
  ['li taskItem', found('taskItem', 'data-type')],
  ['div embedded-group', found('embeddedGroup', 'data-type')],
])

const marked = new Map<string, FoundNode>([
  ['div data-callout', found('callout', 'data-callout')],
  ['div data-gallery', found('gallery', 'data-gallery')],
  ['div data-math-block', found('mathBlock', 'data-math-block')],
  ['div data-bibliography', found('bibliography', 'data-bibliography')],
  ['span data-math-inline', found('mathInline', 'data-math-inline')],
  ['span data-citation', found('citationInline', 'data-citation')],
  ['span data-field', found('fieldRef', 'data-field')],
  ['span data-file-ref', found('fileRef', 'data-file-ref')],
])

/** Returns `undefined` for marks and for elements outside the model. */
export function nodeOfElement(element: HtmlElement): FoundNode | undefined {
  const tag = element.tagName
  const byTag = plain.get(tag)
  if (element.attrs.length === 0 || (byTag !== undefined && tag !== 'ul' && tag !== 'li')) return byTag
  const byType = typed.get(`${tag} ${attrOf(element, 'data-type')}`)
  if (byType !== undefined) return byType
  if (tag !== 'div' && tag !== 'span') return byTag
  for (const attr of element.attrs) {
    const byMarker = marked.get(`${tag} ${attr.name}`)
    if (byMarker !== undefined) return byMarker
  }
  return undefined
}
