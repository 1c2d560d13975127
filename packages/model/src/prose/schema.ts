import type { MarkType, NodeType } from './node.ts'
import {
  anyText,
  blobReference,
  boolean,
  colour,
  columnWidths,
  href,
  imageSize,
  imageSource,
  integer,
  language,
  nonEmpty,
  oneOf,
  span,
  type AttrValue,
  type ReadValue,
} from './values.ts'

/** An attribute of a node or mark, as in the tables of PROSE-2. */
export interface AttrSpec {
  readonly name: string
  /** The name in HTML. `style:<property>` is a CSS declaration; `''` means that the tag name carries the value. */
  readonly html: string
  readonly read: ReadValue
  /** The value that a missing attribute stands for; null when there is no default. */
  readonly default?: AttrValue
  /** Whether the attribute is written in HTML even with its default value. [PROSE-3] */
  readonly always?: true
  /**
   * Required attribute: a node without it is dropped on reading. Always present in a tree, `''` where the reader allows that. [PROSE-14]
   */
  readonly key?: true
}

export type Content = 'inline' | 'code' | 'blocks' | 'items' | 'figure' | 'images' | 'rows' | 'cells' | 'none'

/** A row of the node table. `attrs` are in the order of writing. */
export interface NodeSpec {
  readonly type: NodeType
  readonly group: 'block' | 'inline' | 'item' | 'part'
  readonly content: Content
  readonly attrs: readonly AttrSpec[]
  /** The tag, with the markers that are written before the attributes. */
  readonly tag: string
  readonly marker: string
  /** An attribute whose value is also written as the element's text. */
  readonly label?: string
  /** How many levels of block nodes the smallest valid content of the node adds below the node. [PROSE-H20] */
  readonly height: number
}

const id: AttrSpec = { name: 'id', html: 'id', read: nonEmpty }
const textAlign: AttrSpec = { name: 'textAlign', html: 'style:text-align', read: oneOf('left', 'center', 'right', 'justify') }
const text = (name: string, html: string): AttrSpec => ({ name, html, read: nonEmpty })
const key = (name: string, html: string, read: ReadValue = anyText): AttrSpec => ({ name, html, read, always: true, key: true })

const cell: readonly AttrSpec[] = [
  { name: 'colspan', html: 'colspan', read: span, default: 1 },
  { name: 'rowspan', html: 'rowspan', read: span, default: 1 },
  { name: 'colwidth', html: 'colwidth', read: columnWidths },
]
const cellStyle: readonly AttrSpec[] = [
  { name: 'backgroundColor', html: 'style:background-color', read: colour },
  { name: 'align', html: 'style:text-align', read: oneOf('left', 'center', 'right') },
]

type Row = Omit<NodeSpec, 'type' | 'height' | 'marker' | 'attrs'> & Partial<Pick<NodeSpec, 'height' | 'marker' | 'attrs'>>

const rows: { readonly [T in NodeType]: Row } = {
  paragraph: { group: 'block', content: 'inline', attrs: [id, textAlign], tag: 'p' },
  heading: {
    group: 'block',
    content: 'inline',
    attrs: [{ name: 'level', html: '', read: integer, default: 1 }, id, textAlign],
    tag: 'h1',
  },
  codeBlock: { group: 'block', content: 'code', attrs: [id, { name: 'language', html: '', read: language }], tag: 'pre' },
  blockquote: { group: 'block', content: 'blocks', tag: 'blockquote', height: 1 },
  bulletList: { group: 'block', content: 'items', tag: 'ul', height: 2 },
  orderedList: {
    group: 'block',
    content: 'items',
    attrs: [
      { name: 'start', html: 'start', read: integer, default: 1 },
      { name: 'type', html: 'type', read: oneOf('1', 'a', 'A', 'i', 'I') },
    ],
    tag: 'ol',
    height: 2,
  },
  listItem: { group: 'item', content: 'blocks', tag: 'li', height: 1 },
  taskList: { group: 'block', content: 'items', tag: 'ul', marker: ' data-type="taskList"', height: 2 },
  taskItem: {
    group: 'item',
    content: 'blocks',
    attrs: [{ name: 'checked', html: 'data-checked', read: boolean, default: false, always: true }],
    tag: 'li',
    marker: ' data-type="taskItem"',
    height: 1,
  },
  callout: {
    group: 'block',
    content: 'blocks',
    attrs: [
      { name: 'variant', html: 'data-variant', read: oneOf('note', 'tip', 'warning', 'danger'), default: 'note', always: true },
    ],
    tag: 'div',
    marker: ' data-callout',
    height: 1,
  },
  figure: { group: 'block', content: 'figure', tag: 'figure', height: 1 },
  figcaption: { group: 'part', content: 'inline', tag: 'figcaption' },
  gallery: {
    group: 'block',
    content: 'images',
    attrs: [{ name: 'layout', html: 'data-layout', read: oneOf('grid', 'row'), default: 'grid', always: true }],
    tag: 'div',
    marker: ' data-gallery',
    height: 1,
  },
  table: { group: 'block', content: 'rows', tag: 'table', height: 3 },
  tableRow: { group: 'part', content: 'cells', tag: 'tr', height: 2 },
  tableCell: { group: 'part', content: 'blocks', attrs: [...cell, ...cellStyle], tag: 'td', height: 1 },
  tableHeader: {
    group: 'part',
    content: 'blocks',
    attrs: [...cell, { name: 'scope', html: 'scope', read: oneOf('row', 'col', 'rowgroup', 'colgroup') }, ...cellStyle],
    tag: 'th',
    height: 1,
  },
  image: {
    group: 'block',
    content: 'none',
    attrs: [
      key('src', 'src', imageSource),
      text('alt', 'alt'),
      text('title', 'title'),
      { name: 'width', html: 'width', read: imageSize },
      { name: 'height', html: 'height', read: imageSize },
      { name: 'float', html: 'data-float', read: oneOf('left', 'right') },
    ],
    tag: 'img',
  },
  horizontalRule: { group: 'block', content: 'none', tag: 'hr' },
  mathBlock: { group: 'block', content: 'none', attrs: [key('latex', 'data-latex')], tag: 'div', marker: ' data-math-block' },
  bibliography: {
    group: 'block',
    content: 'none',
    attrs: [
      text('bibHtml', 'data-bib-html'),
      { name: 'scope', html: 'data-scope', read: oneOf('cited', 'all'), default: 'cited' },
    ],
    tag: 'div',
    marker: ' data-bibliography',
  },
  embeddedGroup: {
    group: 'block',
    content: 'none',
    attrs: [text('groupId', 'data-group-id'), text('groupName', 'data-group-name')],
    tag: 'div',
    marker: ' data-type="embedded-group"',
  },
  hardBreak: { group: 'inline', content: 'none', tag: 'br' },
  mathInline: { group: 'inline', content: 'none', attrs: [key('latex', 'data-latex')], tag: 'span', marker: ' data-math-inline' },
  citationInline: {
    group: 'inline',
    content: 'none',
    attrs: [key('refId', 'data-ref-id'), text('locator', 'data-locator'), text('label', 'data-label')],
    tag: 'span',
    marker: ' data-citation',
    label: 'label',
  },
  fieldRef: {
    group: 'inline',
    content: 'none',
    attrs: [key('name', 'data-name'), text('label', 'data-label')],
    tag: 'span',
    marker: ' data-field',
    label: 'label',
  },
  fileRef: {
    group: 'inline',
    content: 'none',
    attrs: [
      key('blobRef', 'data-blob-ref', blobReference),
      text('fileName', 'data-file-name'),
      text('mimeType', 'data-mime-type'),
      text('fileSize', 'data-file-size'),
    ],
    tag: 'span',
    marker: ' data-file-ref',
    label: 'fileName',
  },
}

const specs = new Map<string, NodeSpec>(
  Object.entries(rows).map(([type, row]) => [type, { height: 0, marker: '', attrs: [], ...row, type: type as NodeType }]),
)

/** Returns the row of a node type. */
export function nodeSpec(type: NodeType): NodeSpec {
  // The table has a row for every NodeType.
  return specs.get(type) as NodeSpec
}

/** Returns the row for an element name; `undefined` when the model has none. */
export function findNodeSpec(name: string): NodeSpec | undefined {
  return specs.get(name)
}

/** All rows, in the order of the table. */
export const nodeSpecs: readonly NodeSpec[] = [...specs.values()]

/** A row of the mark table. */
export interface MarkSpec {
  readonly type: MarkType
  readonly tag: string
  /** The tags that are read as this mark; the first tag is written. */
  readonly tags: readonly string[]
  /** The attribute of the mark. A mark whose `required` attribute has no usable value is dropped. */
  readonly attr?: AttrSpec & { readonly required: boolean }
}

/** All marks, outermost first. [PROSE-5] */
export const markSpecs: readonly MarkSpec[] = [
  { type: 'link', tag: 'a', tags: ['a'], attr: { name: 'href', html: 'href', read: href, required: true } },
  {
    type: 'highlight',
    tag: 'mark',
    tags: ['mark'],
    attr: { name: 'color', html: 'style:background-color', read: colour, required: false },
  },
  { type: 'textStyle', tag: 'span', tags: ['span'], attr: { name: 'color', html: 'style:color', read: colour, required: true } },
  { type: 'bold', tag: 'strong', tags: ['strong', 'b'] },
  { type: 'italic', tag: 'em', tags: ['em', 'i'] },
  { type: 'underline', tag: 'u', tags: ['u', 'ins'] },
  { type: 'strike', tag: 's', tags: ['s', 'del', 'strike'] },
  { type: 'superscript', tag: 'sup', tags: ['sup'] },
  { type: 'subscript', tag: 'sub', tags: ['sub'] },
  { type: 'code', tag: 'code', tags: ['code'] },
]

const ranks = new Map<string, number>(markSpecs.map((spec, rank) => [spec.type, rank]))
const markTags = new Map<string, MarkSpec>(markSpecs.flatMap((spec) => spec.tags.map((tag) => [tag, spec] as const)))

/** Position of a mark in the table; -1 for an unknown name. */
export function markRank(type: string): number {
  return ranks.get(type) ?? -1
}

export function findMarkSpec(type: string): MarkSpec | undefined {
  return markSpecs[markRank(type)]
}

/** Returns the mark that an HTML tag stands for. [PROSE-13] */
export function markOfTag(tag: string): MarkSpec | undefined {
  return markTags.get(tag)
}
