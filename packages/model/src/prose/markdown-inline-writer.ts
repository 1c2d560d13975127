import { equalMarks } from './equal.ts'
import { writeTree } from './html-writer.ts'
import { joinPieces, type MarkPair, type Piece } from './markdown-delimiters.ts'
import { codeSpan, escapeLineStart, escapeMarkdown, reference } from './markdown-escape.ts'
import { mathEnd } from './markdown-rules.ts'
import { referencedSpace } from './markdown-slots.ts'
import type { ProseElement, ProseMark, ProseNode, ProseText } from './node.ts'
import { markRank } from './schema.ts'

export interface LinePlace {
  /** The kind of the line. Only a paragraph may have line breaks. A heading, a cell, and text after a box must not begin another block. */
  readonly kind: 'paragraph' | 'boxed' | 'heading' | 'cell'
  /** The paragraph continues the line above it. */
  readonly isContinuation?: boolean
}

/**
 * Writes inline content as Markdown; `undefined` when Markdown cannot express it. Lines after a hard break begin on a new line. [PROSE-38,
 * PROSE-39, PROSE-40]
 */
export function writeInline(nodes: readonly ProseNode[], place: LinePlace): string | undefined {
  if (!hasEdges(nodes)) return undefined
  const line = joinPieces(new LineWriter(nodes, place).pieces())
  if (place.kind === 'cell') return line.replaceAll('|', '\\|')
  return place.kind === 'heading' && line.endsWith('#') ? `${line.slice(0, -1)}\\#` : line
}

/**
 * Whether the edges of the content survive reading. White space at the edges is trimmed unless it is written as a character reference, and a vertical tab has
 * no character reference.
 */
function hasEdges(nodes: readonly ProseNode[]): boolean {
  const [first, last] = [nodes[0], nodes.at(-1)]
  return !(first?.type === 'text' && first.text.startsWith('\v')) && !(last?.type === 'text' && last.text.endsWith('\v'))
}

/** How many nodes ahead the end of a mark is searched. */
const lookAhead = 32

class LineWriter {
  readonly #nodes: readonly ProseNode[]
  readonly #place: LinePlace
  readonly #pieces: Piece[] = []
  readonly #open: MarkPair[] = []
  /** Whether the last character is a space that a reader would join with a following space. */
  #spaceLast = false
  /** Whether nothing has been written since the start or a hard break. */
  #atEdge = true
  /** Set when the next text begins a line of the output: the first line or a continued one. */
  #lineStart: 'first' | 'continued' | undefined

  constructor(nodes: readonly ProseNode[], place: LinePlace) {
    this.#nodes = nodes
    this.#place = place
    if (place.kind === 'paragraph') this.#lineStart = place.isContinuation === true ? 'continued' : 'first'
  }

  pieces(): readonly Piece[] {
    const following = nextTexts(this.#nodes)
    this.#nodes.forEach((node, index) => {
      if (node.type === 'text') this.#text(node, index)
      else this.#atom(node, index, following[index])
    })
    this.#closeTo(0)
    return this.#pieces
  }

  #push(text: string): void {
    this.#pieces.push({ text })
    this.#lineStart = undefined
  }

  #text(node: ProseText, index: number): void {
    const code = node.marks.at(-1)?.type === 'code' ? codeSpan(node.text) : undefined
    const marks = code === undefined ? node.marks : node.marks.slice(0, -1)
    this.#marks(marks, index)
    if (code !== undefined) {
      this.#push(code)
      this.#atEdge = false
      this.#spaceLast = false
      return
    }
    const next = this.#nodes[index + 1]
    const endsRun = next === undefined || next.type === 'hardBreak'
    const inLink = marks[0]?.type === 'link'
    let text = escapeMarkdown(node.text, { inLink })
    if (this.#lineStart !== undefined) text = escapeLineStart(text, this.#lineStart === 'continued')
    this.#push(this.#space(text, endsRun))
  }

  /** Writes white space that a reader would collapse or trim as character references. */
  #space(text: string, endsRun: boolean): string {
    const last = text.length - 1
    let spaceLast = this.#spaceLast
    let end = -1
    const written = text.replace(/\s/g, (char, at: number) => {
      const isEdge = (at === 0 && this.#atEdge) || (at === last && endsRun)
      const joins = char === ' ' && (at === 0 || end === at) && spaceLast
      end = at + 1
      spaceLast = char === ' ' && !isEdge && !joins
      return isEdge || joins || /[\t\n\f]/.test(char) ? (reference(char) ?? char) : char
    })
    this.#atEdge = false
    this.#spaceLast = end === text.length && spaceLast
    return written
  }

  #atom(node: ProseElement, index: number, next: ProseText | undefined): void {
    this.#retain(next === undefined ? [] : next.marks.filter((mark) => mark.type !== 'code'))
    if (node.type === 'hardBreak') {
      this.#break(index)
      return
    }
    this.#push(this.#written(node))
    this.#atEdge = false
    this.#spaceLast = false
  }

  #break(index: number): void {
    const next = this.#nodes[index + 1]
    const isInside = next !== undefined && next.type !== 'hardBreak' && !this.#atEdge
    const canBreak = this.#place.kind === 'paragraph' || this.#place.kind === 'boxed'
    if (canBreak && isInside) {
      this.#push('\\\n')
      this.#lineStart = 'continued'
    } else this.#push('<br>')
    this.#atEdge = true
    this.#spaceLast = false
  }

  #written(node: ProseElement): string {
    if (node.type === 'mathInline') {
      const math = `$${String(node.attrs['latex'])}$`
      const before = this.#pieces.at(-1)
      const touches = before !== undefined && 'text' in before && before.text.endsWith('$')
      if (!touches && mathEnd(math, 0, math.length, { noMath: undefined }) === math.length - 1) return math
    }
    const name = node.type === 'fieldRef' ? String(node.attrs['name']) : ''
    if (name !== '' && name.trim() === name && !/[{}\n\t]/.test(name)) return `{{${name}}}`
    const html = writeTree([node])
    const end = html.indexOf('>') + 1
    const label = String(node.attrs[node.type === 'fileRef' ? 'fileName' : 'label'] ?? '')
    return `${referencedSpace(html.slice(0, end))}${label.replace(/\s+/g, ' ') === '' ? '' : escapeLabel(label)}</span>`
  }

  /** Closes and opens marks so that exactly `marks` are open. Marks that stay open longest are outermost. */
  #marks(marks: readonly ProseMark[], index: number): void {
    this.#retain(marks)
    const missing = marks.filter((mark) => !this.#open.some((pair) => equalMarks([pair.mark], [mark])))
    if (this.#open.at(-1)?.mark.type === 'code' && missing.length > 0) {
      this.#closeTo(this.#open.length - 1)
      missing.push(marks.at(-1) as ProseMark)
    }
    const lengths = new Map(missing.map((mark) => [mark, mark.type === 'code' ? -1 : this.#length(mark, index)]))
    missing.sort((a, b) => (lengths.get(b) as number) - (lengths.get(a) as number) || markRank(a.type) - markRank(b.type))
    for (const mark of missing) {
      const pair: MarkPair = { mark, open: this.#pieces.length, close: -1, written: undefined }
      this.#pieces.push({ end: 'open', pair })
      this.#open.push(pair)
    }
  }

  #length(mark: ProseMark, from: number): number {
    let at = from
    for (; at < this.#nodes.length && at < from + lookAhead; at++) {
      const node = this.#nodes[at] as ProseNode
      if (node.type === 'text' && !node.marks.some((other) => equalMarks([other], [mark]))) break
    }
    return at
  }

  /** Closes the outermost open mark that is not in `marks`, with all marks inside it. */
  #retain(marks: readonly ProseMark[]): void {
    const first = this.#open.findIndex((pair) => !marks.some((mark) => equalMarks([mark], [pair.mark])))
    if (first !== -1) this.#closeTo(first)
  }

  #closeTo(count: number): void {
    while (this.#open.length > count) {
      const pair = this.#open.pop() as MarkPair
      pair.close = this.#pieces.length
      this.#pieces.push({ end: 'close', pair })
    }
  }
}

/** For each node, the first text after it. */
function nextTexts(nodes: readonly ProseNode[]): readonly (ProseText | undefined)[] {
  const following: (ProseText | undefined)[] = []
  let next: ProseText | undefined
  for (let i = nodes.length - 1; i >= 0; i--) {
    following[i] = next
    const node = nodes[i]
    if (node?.type === 'text') next = node
  }
  return following
}

/** Escapes the text inside an atom's element. Readers ignore that text and use the attribute. */
function escapeLabel(label: string): string {
  return escapeMarkdown(label, { inLink: true }).replace(/[\t\n\f]/g, (char) => reference(char) ?? ' ')
}
