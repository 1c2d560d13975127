import { isCallId, nameInComment, withCommentId } from './content-ids.ts'
import type { FixList, Place } from './fixes.ts'
import { readHtmlAttrs } from './html-attrs.ts'
import { attrOf, isElement, textOf, type HtmlElement, type HtmlNode } from './html-dom.ts'
import { plainText } from './heal-inline.ts'
import { InlineRun } from './html-inline.ts'
import { blockTags, chromeTags, nodeOfElement, removedTags, silentTags, type FoundNode } from './html-tags.ts'
import { handleAttr } from './html-writer.ts'
import { markedNode, pushAll, withMark } from './marks.ts'
import type { NodeType, ProseAttrs, ProseElement, ProseMark, ProseNode } from './node.ts'
import { markOfTag, nodeSpec, type MarkSpec } from './schema.ts'

/** `call`: HTML written by a caller. `stored`: HTML of a stored body, whose white space and ids are kept. [PROSE-15, PROSE-46] */
export type HtmlSource = 'call' | 'stored'

/** Reason of the fix when a link around an image or a chip is left out. */
export const onlyText = 'a link is on text; what it was around stays without it'

/** Below this depth only text is read. The model allows 64 levels. [PROSE-H20] */
const maxDepth = 512

/** Collects the nodes for the children of one element. */
interface Sink {
  readonly out: ProseNode[]
  readonly run: InlineRun
  /** Whether the sink is a text block, which takes inline content directly. In other sinks each inline run becomes a paragraph. [PROSE-16] */
  readonly isText: boolean
  readonly place: Place | undefined
  /** The result of `nameInComment` for a comment directly before the next block. [AG-16] */
  named?: string | null | undefined
}

/** The context of a node: the marks around it, and its depth. */
interface Around {
  readonly marks: readonly ProseMark[]
  readonly depth: number
  /** Whether the node is inside the label and wrapper that editors draw around a task item. */
  readonly chrome: boolean
  readonly inCode: boolean
}

/** An inline piece from Markdown; its white space collapses unless `isKept`. */
export type SlotPart =
  | { readonly text: string; readonly marks: readonly ProseMark[]; readonly isKept: boolean }
  | { readonly node: ProseElement }

/** Markdown content that replaces the empty element with its number. */
export type Slot = { readonly blocks: readonly ProseNode[] } | { readonly parts: readonly SlotPart[] }

/** Pieces of Markdown between HTML, and the attribute that marks their places. */
export interface Slots {
  readonly attribute: string
  readonly contents: readonly Slot[]
  /** Numbers of the pieces that the reader has found. */
  readonly met: Set<number>
}

/** Maps parsed HTML to nodes by the tables of the schema. The result may violate the content model; healing follows. [PROSE-10] */
export function readHtml(
  nodes: readonly HtmlNode[],
  source: HtmlSource,
  fixes: FixList,
  { place, slots }: { readonly place?: Place | undefined; readonly slots?: Slots } = {},
): readonly ProseNode[] {
  const reader = new HtmlReader(source, fixes, slots)
  return reader.read(nodes, { marks: [], depth: 0, chrome: false, inCode: false }, place)
}

class HtmlReader {
  readonly #source: HtmlSource
  readonly #fixes: FixList
  readonly #slots: Slots | undefined
  /** Number of texts, and of other nodes, which carry no marks. Comparing counts before and after a mark shows whether the mark contained any text. */
  #texts = 0
  #others = 0

  constructor(source: HtmlSource, fixes: FixList, slots: Slots | undefined) {
    this.#source = source
    this.#fixes = fixes
    this.#slots = slots
  }

  read(nodes: readonly HtmlNode[], around: Around, place?: Place): readonly ProseNode[] {
    return this.#fill({ out: [], run: new InlineRun(false), isText: false, place }, nodes, around)
  }

  #fill(sink: Sink, nodes: readonly HtmlNode[], around: Around): readonly ProseNode[] {
    this.#children(sink, nodes, around)
    this.#flush(sink)
    return sink.out
  }

  #flush(sink: Sink): void {
    const run = sink.run.take()
    if (run.length === 0) return
    if (sink.isText) pushAll(sink.out, run)
    else this.#push(sink, { type: 'paragraph', attrs: {}, content: run })
  }

  /** Adds a block, which takes the id of a comment directly before it. */
  #push(sink: Sink, block: ProseNode): void {
    sink.out.push(withCommentId(block, sink.named))
    sink.named = undefined
  }

  #children(sink: Sink, nodes: readonly HtmlNode[], around: Around): void {
    for (const node of nodes) {
      if (node.nodeName === '#text')
        this.#text(sink, this.#textWithSlots((node as { value: string }).value), around.marks, around.inCode)
      else if (isElement(node)) this.#element(sink, node, around)
      else if (node.nodeName === '#comment' && this.#source === 'call') this.#comment(sink, (node as { data: string }).data)
    }
  }

  #comment(sink: Sink, comment: string): void {
    const named = sink.isText || !sink.run.isEmpty ? undefined : nameInComment(comment)
    if (named !== undefined) sink.named = named
  }

  #text(sink: Sink, text: string, marks: readonly ProseMark[], isKept: boolean): void {
    if (/[^ \t\n\f\r]/.test(text)) this.#texts++
    sink.run.text(text, marks, isKept)
  }

  #element(sink: Sink, element: HtmlElement, around: Around): void {
    const tag = element.tagName
    const slot = this.#slotOf(element)
    if (slot !== undefined) return this.#fillSlot(sink, slot, around)
    if (removedTags.has(tag) || element.namespaceURI !== htmlNamespace) {
      this.#fixes.add('dropped_unknown', `${tag} is not allowed`, placeIn(sink, tag), tag)
      return
    }
    if (around.depth >= maxDepth) {
      this.#fixes.add('dropped_invalid', 'nested too deeply; its text is kept', placeIn(sink, tag), tag)
      sink.run.text(
        textOf([element], (inner) => this.#textInstead(inner)),
        around.marks,
        around.inCode,
      )
      return
    }
    const inner: Around = {
      marks: around.marks,
      depth: around.depth + 1,
      chrome: around.chrome && chromeTags.has(tag) && tag !== 'div',
      inCode: around.inCode,
    }
    const node = nodeOfElement(element)
    if (node !== undefined) {
      this.#node(sink, element, node, inner)
      return
    }
    const mark = markOfTag(tag)
    if (mark !== undefined) this.#mark(sink, element, mark, inner, placeIn(sink, tag))
    else
      this.#transparent(sink, element, silentTags.has(tag) || (around.chrome && chromeTags.has(tag)), inner, placeIn(sink, tag))
  }

  #slotOf(element: HtmlElement): Slot | undefined {
    if (this.#slots === undefined) return undefined
    const number = attrOf(element, this.#slots.attribute)
    return number === undefined ? undefined : this.#meet(Number(number))
  }

  #meet(number: number): Slot | undefined {
    this.#slots?.met.add(number)
    return this.#slots?.contents[number]
  }

  /** Some HTML elements treat everything up to their end tag as text, slots included; those are replaced by their text here. */
  #textWithSlots(text: string): string {
    if (this.#slots === undefined || !text.includes(this.#slots.attribute)) return text
    const element = new RegExp(`<(?:div|span) ${this.#slots.attribute}="(\\d+)"></(?:div|span)>`, 'g')
    return text.replace(element, (_, number: string) => slotText(this.#meet(Number(number))))
  }

  #fillSlot(sink: Sink, slot: Slot, around: Around): void {
    if ('blocks' in slot) {
      this.#flush(sink)
      if (slot.blocks.every((node) => node.type === 'image')) this.#others++
      else this.#texts++
      for (const node of slot.blocks) this.#push(sink, markedNode(node, around.marks))
      return
    }
    for (const part of slot.parts) {
      if ('text' in part) {
        const marks = part.marks.reduce((set, mark) => withMark(set, mark), around.marks)
        this.#text(sink, part.text, marks, part.isKept || around.inCode)
        continue
      }
      this.#others++
      if (nodeSpec(part.node.type).group === 'inline') sink.run.atom(part.node)
      else {
        this.#flush(sink)
        this.#push(sink, part.node)
      }
    }
  }

  /**
   * The text for an element where only text is allowed: nothing for a removed element, the text of a slot, a formula; `undefined` for others.
   */
  #textInstead(element: HtmlElement): string | undefined {
    if (removedTags.has(element.tagName)) return ''
    const slot = this.#slotOf(element)
    if (slot !== undefined) return slotText(slot)
    const type = nodeOfElement(element)?.type
    return type === 'mathBlock' || type === 'mathInline' ? attrOf(element, 'data-latex') : undefined
  }

  /** Replaces an element by its children. [PROSE-11, PROSE-H1] */
  #transparent(sink: Sink, element: HtmlElement, silent: boolean, inner: Around, place: Place): void {
    const tag = element.tagName
    if (!silent) this.#fixes.add('unwrapped', `${tag} is not part of the model; its content is kept`, place, tag)
    const ownLines = blockTags.has(tag) || silentTags.has(tag)
    if (ownLines) this.#edge(sink)
    this.#children(sink, element.childNodes, inner)
    if (ownLines) this.#edge(sink)
  }

  #edge(sink: Sink): void {
    if (sink.isText) sink.run.gap()
    else this.#flush(sink)
  }

  #mark(sink: Sink, element: HtmlElement, spec: MarkSpec, inner: Around, place: Place): void {
    const report = { fixes: this.#fixes, place, nodeType: spec.type }
    const usable = this.#hasUsableValue(element, spec)
    // A span without a usable colour is only a wrapper, whatever other attributes it has.
    if (spec.type === 'textStyle' && !usable) return this.#children(sink, element.childNodes, inner)
    if (spec.type === 'link' && attrOf(element, 'href') === undefined)
      return this.#transparent(sink, element, false, inner, place)
    const attrs = readHtmlAttrs(element, spec.attr === undefined ? [] : [spec.attr], [], report) as ProseMark['attrs']
    if (spec.attr?.required === true && !usable) {
      if (attrOf(element, 'href') === '') this.#fixes.add('dropped_invalid', 'a link needs a target', place, spec.type, 'href')
      return this.#children(sink, element.childNodes, inner)
    }
    const marks = withMark(inner.marks, { type: spec.type, attrs })
    const [texts, others] = [this.#texts, this.#others]
    this.#children(sink, element.childNodes, { ...inner, marks, inCode: inner.inCode || spec.type === 'code' })
    if (spec.type === 'link' && this.#texts === texts && this.#others > others)
      this.#fixes.add('dropped_invalid', onlyText, place, spec.type, 'href')
  }

  #hasUsableValue(element: HtmlElement, spec: MarkSpec): boolean {
    return spec.attr === undefined || readHtmlAttrs(element, [spec.attr], [], undefined)[spec.attr.name] !== undefined
  }

  #node(sink: Sink, element: HtmlElement, found: FoundNode, inner: Around): void {
    const { type } = found
    const spec = nodeSpec(type)
    if (spec.content === 'none' || spec.content === 'code') this.#others++
    if (spec.group !== 'inline') this.#flush(sink)
    const place = placeIn(sink, type)
    const isNamed = this.#source === 'call' && attrOf(element, handleAttr) !== undefined
    const markers = isNamed ? [...found.markers, handleAttr] : found.markers
    let attrs: ProseAttrs = readHtmlAttrs(element, spec.attrs, markers, { fixes: this.#fixes, place, nodeType: type })
    if (this.#source === 'call' && attrs['id'] !== undefined && !isCallId(attrs['id'])) attrs = without(attrs, 'id')
    switch (spec.content) {
      case 'none':
        return this.#atom(sink, element, type, attrs, inner, place)
      case 'code':
        this.#push(sink, this.#code(element, attrs, place))
        return
      case 'inline': {
        const level = Number(element.tagName.slice(1))
        if (type === 'heading' && level > 1) attrs = { level, ...attrs }
        const content = this.#fill(
          { out: [], run: new InlineRun(this.#source === 'stored'), isText: true, place },
          element.childNodes,
          inner,
        )
        this.#push(sink, { type, attrs, content })
        return
      }
      default: {
        if (type === 'taskItem' && attrOf(element, 'data-checked') === '') attrs = { checked: true }
        const children = type === 'gallery' ? this.#galleryChildren(element) : element.childNodes
        this.#push(sink, { type, attrs, content: this.read(children, { ...inner, chrome: type === 'taskItem' }, place) })
      }
    }
  }

  /** The gallery's inner `div` belongs only to its display and is skipped. [PROSE-11] */
  #galleryChildren(gallery: HtmlElement): readonly HtmlNode[] {
    const isDrawn = (node: HtmlElement) =>
      node.tagName === 'div' && nodeOfElement(node) === undefined && this.#slotOf(node) === undefined
    return gallery.childNodes.flatMap((node) => (isElement(node) && isDrawn(node) ? node.childNodes : [node]))
  }

  #atom(sink: Sink, element: HtmlElement, type: NodeType, attrs: ProseAttrs, inner: Around, place: Place): void {
    const spec = nodeSpec(type)
    const missing = spec.attrs.find((attr) => attr.key === true && attrs[attr.name] === undefined)
    if (missing !== undefined && type === 'image') {
      if (attrOf(element, 'src') === undefined || attrOf(element, 'src') === '') {
        this.#fixes.add('dropped_invalid', 'an image needs a source', place, type, 'src')
      }
      return
    }
    if (missing !== undefined) {
      this.#fixes.add('unwrapped', `a ${type} needs ${missing.html}; its text is kept`, place, type)
      this.#children(sink, element.childNodes, inner)
      return spec.group === 'inline' ? undefined : this.#edge(sink)
    }
    let hasElement = false
    const text = textOf(element.childNodes, (inner) => {
      hasElement ||= this.#slotOf(inner) === undefined
      return this.#slotOf(inner) === undefined ? undefined : this.#textInstead(inner)
    })
    if (hasElement || (spec.label === undefined && text.trim() !== '')) {
      this.#fixes.add('stripped_children', `a ${type} has no content of its own`, place, type)
    }
    const label = spec.attrs.find((attr) => attr.name === spec.label)
    if (label !== undefined && attrOf(element, label.html) === undefined) {
      const value = label.read(this.#source === 'call' ? text.replace(/[ \t\n\f\r]+/g, ' ').trim() : text)
      if (value !== undefined) attrs = inOrder(type, { ...attrs, [label.name]: value })
    }
    const node: ProseElement = { type, attrs, content: [] }
    if (spec.group === 'inline') sink.run.atom(node)
    else this.#push(sink, node)
  }

  /** A code block contains the text of everything inside. [PROSE-H4] */
  #code(element: HtmlElement, attrs: ProseAttrs, place: Place): ProseElement {
    const code = codeChild(element)
    let hasElement = false
    const text = textOf((code ?? element).childNodes, (inner) => {
      hasElement = true
      return inner.tagName === 'br' ? '\n' : this.#textInstead(inner)
    })
    if (hasElement) this.#fixes.add('stripped_children', 'code is plain text', place, 'codeBlock')
    const [spec] = nodeSpec('codeBlock').attrs.filter((attr) => attr.name === 'language')
    const written =
      code === undefined
        ? undefined
        : attrOf(code, 'class')
            ?.split(/\s+/)
            .find((name) => name.startsWith('language-'))
    const language = written === undefined ? undefined : spec?.read(written.slice(9))
    if (written !== undefined && written !== 'language-' && language === undefined) {
      this.#fixes.add('dropped_invalid', 'not a language name', place, 'codeBlock', 'language')
    }
    if (code !== undefined) readHtmlAttrs(code, [], ['class'], { fixes: this.#fixes, place, nodeType: 'codeBlock' })
    const run = new InlineRun(true)
    run.text(text, [], true)
    return { type: 'codeBlock', attrs: language === undefined ? attrs : { ...attrs, language }, content: run.take() }
  }
}

function slotText(slot: Slot | undefined): string {
  if (slot === undefined) return ''
  if ('blocks' in slot) return plainText(slot.blocks, '\n', '\n')
  return slot.parts.map((part) => ('text' in part ? part.text : plainText([part.node], '\n', '\n'))).join('')
}

/** The place that the next node of a sink will have. */
function placeIn(sink: Sink, name: string): Place {
  return { parent: sink.place, index: sink.out.length, name }
}

const htmlNamespace = 'http://www.w3.org/1999/xhtml'

function without(attrs: ProseAttrs, name: string): ProseAttrs {
  return Object.fromEntries(Object.entries(attrs).filter(([key]) => key !== name))
}

/** Sorts attributes in the order of the table, as in every tree. */
function inOrder(type: NodeType, attrs: ProseAttrs): ProseAttrs {
  return Object.fromEntries(nodeSpec(type).attrs.flatMap(({ name }) => (attrs[name] === undefined ? [] : [[name, attrs[name]]])))
}

/** Returns the `code` element when it is the only content of a `pre`, apart from white space. */
function codeChild(pre: HtmlElement): HtmlElement | undefined {
  const inside = pre.childNodes.filter(
    (node) => node.nodeName !== '#comment' && (isElement(node) || (node as { value?: string }).value?.trim() !== ''),
  )
  const [only] = inside
  return inside.length === 1 && only !== undefined && isElement(only) && only.tagName === 'code' ? only : undefined
}
