/**
 * A prose tree: the nodes, attributes and marks of the content model, independent of HTML, Markdown and Yjs. [PROSE-1, PROSE-2] Attributes
 * with their default value are absent. Immutable.
 */
export interface ProseElement {
  readonly type: NodeType
  readonly attrs: ProseAttrs
  readonly content: readonly ProseNode[]
}

/** A run of text with one mark set; adjacent runs with equal sets are merged. */
export interface ProseText {
  readonly type: 'text'
  readonly text: string
  /** The marks, outermost first, in the order of the mark table. */
  readonly marks: readonly ProseMark[]
}

export type ProseNode = ProseElement | ProseText

export type ProseAttrs = { readonly [name: string]: string | number | boolean | readonly number[] }

export interface ProseMark {
  readonly type: MarkType
  readonly attrs: { readonly [name: string]: string }
}

export type MarkType =
  | 'link'
  | 'highlight'
  | 'textStyle'
  | 'bold'
  | 'italic'
  | 'underline'
  | 'strike'
  | 'superscript'
  | 'subscript'
  | 'code'

export type NodeType =
  | 'paragraph'
  | 'heading'
  | 'codeBlock'
  | 'blockquote'
  | 'bulletList'
  | 'orderedList'
  | 'listItem'
  | 'taskList'
  | 'taskItem'
  | 'callout'
  | 'figure'
  | 'figcaption'
  | 'gallery'
  | 'table'
  | 'tableRow'
  | 'tableCell'
  | 'tableHeader'
  | 'image'
  | 'horizontalRule'
  | 'mathBlock'
  | 'bibliography'
  | 'embeddedGroup'
  | 'hardBreak'
  | 'mathInline'
  | 'citationInline'
  | 'fieldRef'
  | 'fileRef'

/** A page: its top-level blocks. An empty page is `[]` or one empty paragraph; both serialise to `<p></p>`. */
export type ProseTree = readonly ProseElement[]

/** Returns an empty paragraph, each time a new object: by object identity, an edit tells written blocks from stored blocks. [TOOL-16] */
export function emptyParagraph(): ProseElement {
  return { type: 'paragraph', attrs: {}, content: [] }
}
