import type { ProseElement, ProseMark, ProseNode } from './node.ts'
import { appendText } from './marks.ts'
import { cleanText } from './values.ts'

/**
 * Collects one run of inline content. White space that is not kept is collapsed as in HTML and trimmed at the ends of the run and around
 * hard breaks, but not around atoms. [PROSE-15]
 */
export class InlineRun {
  #nodes: ProseNode[] = []
  readonly #keepSpace: boolean
  /** Whether nothing has been added since the start or a hard break, except dropped white space. */
  #atEdge = true
  /** Whether the last character is a collapsible space. */
  #spaceLast = false

  constructor(keepSpace: boolean) {
    this.#keepSpace = keepSpace
  }

  get isEmpty(): boolean {
    return this.#nodes.length === 0
  }

  text(raw: string, marks: readonly ProseMark[], keepSpace: boolean): void {
    const text = cleanText(raw)
    if (text === '') return
    if (this.#keepSpace || keepSpace) {
      appendText(this.#nodes, text, marks)
      this.#atEdge = false
      this.#spaceLast = false
      return
    }
    let collapsed = /[ \t\n\f\r]/.test(text) ? text.replace(/[ \t\n\f\r]+/g, ' ') : text
    if ((this.#atEdge || this.#spaceLast) && collapsed.startsWith(' ')) collapsed = collapsed.slice(1)
    if (collapsed === '') return
    appendText(this.#nodes, collapsed, marks)
    this.#atEdge = false
    this.#spaceLast = collapsed.endsWith(' ')
  }

  /** Marks the boundary of an element that a browser puts on lines of its own. */
  gap(): void {
    if (!this.#keepSpace) this.text(' ', [], false)
  }

  atom(node: ProseElement): void {
    const isBreak = node.type === 'hardBreak'
    if (isBreak) this.#trimEnd()
    this.#nodes.push(node)
    this.#atEdge = isBreak
    this.#spaceLast = false
  }

  /** Returns the run and starts the next one. */
  take(): readonly ProseNode[] {
    this.#trimEnd()
    const nodes = this.#nodes
    this.#nodes = []
    this.#atEdge = true
    this.#spaceLast = false
    return nodes
  }

  #trimEnd(): void {
    if (!this.#spaceLast) return
    this.#spaceLast = false
    const last = this.#nodes.pop()
    if (last?.type === 'text') appendText(this.#nodes, last.text.slice(0, -1), last.marks)
  }
}
