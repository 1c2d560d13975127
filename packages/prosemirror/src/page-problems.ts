import type { Mark, NodeType, Schema } from 'prosemirror-model'
import { markOfKey } from './mark-keys.ts'
import * as Y from 'yjs'

/**
 * Content of a page that the schema of the editor cannot hold. The binding of y-prosemirror deletes such content from the document for everybody,
 * so a page with a problem is shown read-only and not bound.
 */
export interface PageProblem {
  /**
   * - `node`, `mark`, `attribute`: the schema has no such name.
   * - `content`: the content of the node is invalid, for example a list item without a paragraph.
   */
  readonly kind: 'node' | 'mark' | 'attribute' | 'content'
  readonly name: string
  /** Name of the node with the problem; `page` at the top level. */
  readonly inside: string
}

type Part = Y.XmlElement | Y.XmlText | Y.XmlHook

/** Returns the problems of one block of a page, nested blocks included. */
export function problemsOf(block: unknown, schema: Schema): PageProblem[] {
  const problems: PageProblem[] = []
  const check = new PageCheck(schema, problems)
  const type = check.partType(block as Part, 'page')
  if (type !== null && !type.isInGroup('block')) problems.push({ kind: 'content', name: type.name, inside: 'page' })
  return problems
}

class PageCheck {
  readonly #schema: Schema
  readonly #problems: PageProblem[]

  constructor(schema: Schema, problems: PageProblem[]) {
    this.#schema = schema
    this.#problems = problems
  }

  /** Checks a part and its content. Returns the node type of the part, or `null` when the part is unknown or an empty text. */
  partType(part: Part, inside: string): NodeType | null {
    if (part instanceof Y.XmlText) {
      const runs = this.#runs(part, inside)
      return runs === null || runs.length === 0 ? null : (this.#schema.nodes['text'] as NodeType)
    }
    const name = part instanceof Y.XmlElement ? part.nodeName : 'hook'
    const type = name === 'text' || name === 'doc' ? undefined : this.#schema.nodes[name]
    if (type === undefined || !(part instanceof Y.XmlElement)) {
      this.#problems.push({ kind: 'node', name, inside })
      return null
    }
    for (const attribute of Object.keys(part.getAttributes()))
      if (type.spec.attrs?.[attribute] === undefined) this.#problems.push({ kind: 'attribute', name: attribute, inside: name })
    this.#checkContent(part, type)
    return type
  }

  #checkContent(element: Y.XmlElement, type: NodeType): void {
    const before = this.#problems.length
    let match: typeof type.contentMatch | null = type.contentMatch
    for (const child of element.toArray() as Part[]) {
      const childType = this.partType(child, type.name)
      if (child instanceof Y.XmlText && !this.#marksFit(child, type)) match = null
      if (childType !== null) match = match?.matchType(childType) ?? null
    }
    // An unknown part is reported itself, which says more than that the node around it is incomplete.
    if (this.#problems.length > before || match?.validEnd === true) return
    // When the binding removes a node without text and without anything visible, nothing is lost.
    if (holdsSomething(element, this.#schema)) this.#problems.push({ kind: 'content', name: type.name, inside: type.name })
  }

  #marksFit(text: Y.XmlText, type: NodeType): boolean {
    return this.#runs(text, null)?.every((marks) => type.allowsMarks(marks)) ?? true
  }

  /** Returns the marks of each run of a text, or `null` when the text has an embed or an unknown mark. With `inside: null` it reports no problem. */
  #runs(text: Y.XmlText, inside: string | null): (readonly Mark[])[] | null {
    const runs: (readonly Mark[])[] = []
    let isKnown = true
    for (const { insert, attributes } of text.toDelta() as { insert: unknown; attributes?: Record<string, unknown> }[]) {
      if (typeof insert !== 'string') {
        isKnown = false
        if (inside !== null) this.#problems.push({ kind: 'node', name: 'embed', inside })
      }
      const marks: Mark[] = []
      for (const [key, value] of Object.entries(attributes ?? {})) {
        const mark = markOfKey(this.#schema, key, value)
        if (mark !== null) marks.push(mark)
        else {
          isKnown = false
          if (inside !== null) this.#problems.push({ kind: 'mark', name: key, inside })
        }
      }
      runs.push(marks)
    }
    return isKnown ? runs : null
  }
}

/** Whether an element holds text or a node that is visible without content, such as an image. */
function holdsSomething(element: Y.XmlElement, schema: Schema): boolean {
  return (element.toArray() as Part[]).some((part) => {
    if (part instanceof Y.XmlText) return part.length > 0
    if (!(part instanceof Y.XmlElement)) return true
    if (part.length > 0) return holdsSomething(part, schema)
    return part.nodeName !== 'hardBreak' && schema.nodes[part.nodeName]?.isLeaf === true
  })
}
