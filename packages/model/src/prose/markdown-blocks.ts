import type { Token } from 'markdown-it'
import { maxUrlLength } from './url-budget.ts'
import type { FixList, Place } from './fixes.ts'
import { InlineRun } from './html-inline.ts'
import { nameInComment, nameInCommentTag, withCommentId } from './content-ids.ts'
import { pushAll } from './marks.ts'
import type { ReadMarkup } from './literal-markup.ts'
import { inlineNodes, inlineParts, type LinkBudget, noteFormulas } from './markdown-inline.ts'
import type { MarkdownParser } from './markdown-parser.ts'
import type { BlockPart, SlotReader } from './markdown-slots.ts'
import { emptyParagraph, type NodeType, type ProseAttrs, type ProseElement, type ProseNode } from './node.ts'
import { language } from './values.ts'

/** Maps block tokens to nodes. The result may violate the content model. [PROSE-26 to PROSE-36] */
export class BlockReader {
  readonly #parser: MarkdownParser
  readonly #slots: SlotReader
  readonly #fixes: FixList
  /** Markup that was read and that the nodes no longer show. [AG-41] */
  readonly read: ReadMarkup[] = []
  readonly #links: LinkBudget = { left: maxUrlLength }
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(parser: MarkdownParser, slots: SlotReader, fixes: FixList, tokens: readonly Token[]) {
    this.#parser = parser
    this.#slots = slots
    this.#fixes = fixes
    this.#tokens = tokens
  }

  /** Reads blocks up to and including the token that closes their container; without `close`, all blocks. */
  blocks(close: string | undefined, place: Place | undefined): readonly ProseNode[] {
    const parts: BlockPart[] = []
    let index = 0
    let isHtml = false
    let named: string | null | undefined
    for (let token = this.#next(); token !== undefined && token.type !== close; token = this.#next()) {
      const name = token.type === 'html_block' ? nameInCommentTag(token.content) : undefined
      if (name !== undefined) {
        named = name
        continue
      }
      if (token.type === 'html_block') {
        isHtml = true
        parts.push({ html: token.content, named })
      } else {
        const [first, ...rest] = this.#block(token, { parent: place, index, name: nodeNames[token.type] ?? 'paragraph' })
        if (first === undefined) continue
        index += 1 + rest.length
        parts.push({ nodes: [withCommentId(first, named), ...rest] })
      }
      named = undefined
    }
    if (isHtml) return this.#slots.blocks(parts, place)
    const nodes: ProseNode[] = []
    for (const part of parts) if ('nodes' in part) pushAll(nodes, part.nodes)
    return nodes
  }

  #next(): Token | undefined {
    return this.#tokens[this.#at++]
  }

  #block(token: Token, place: Place): readonly ProseNode[] {
    switch (token.type) {
      case 'paragraph_open':
        return this.#text('paragraph', {}, undefined, place)
      case 'heading_open': {
        const level = Number(token.tag.slice(1))
        return this.#text('heading', level === 1 ? {} : { level }, token.tag, place)
      }
      case 'plain':
        return [plainParagraph(token.content)]
      case 'fence':
        return [this.#code(token, place)]
      case 'code_block':
        return [codeBlock({}, token.content)]
      case 'hr':
        return [{ type: 'horizontalRule', attrs: {}, content: [] }]
      case 'math_block':
        return [{ type: 'mathBlock', attrs: { latex: token.content }, content: [] }]
      case 'blockquote_open':
        return [this.#quote(place)]
      case 'bullet_list_open':
      case 'ordered_list_open':
        return this.#lists(token, place)
      case 'table_open':
        return [this.#table(place)]
      default:
        // A link definition gives no block.
        return []
    }
  }

  /** Reads a text block. When the block contains raw HTML, the result is the blocks of that HTML. */
  #text(type: NodeType, attrs: ProseAttrs, tag: string | undefined, place: Place): readonly ProseNode[] {
    const parts = this.#inline(this.#next()?.content ?? '', place)
    this.#next()
    if (!parts.some((part) => 'html' in part)) return [{ type, attrs, content: inlineNodes(parts) }]
    this.#parser.env.steps += htmlSteps
    const nodes = this.#slots.inline(parts, tag, place.parent)
    if (nodes !== undefined) return nodes
    this.#fixes.add('dropped_invalid', 'tags that hide the text behind them are removed', place, 'html')
    return [{ type, attrs, content: inlineNodes(parts) }]
  }

  #inline(content: string, place: Place) {
    const context = { fixes: this.#fixes, place, links: this.#links, read: this.read }
    const tokens = this.#parser.inline(content)
    if (/\\[([]/.test(content)) noteFormulas(content, tokens, context)
    return inlineParts(tokens, context)
  }

  /** Reads a code block. [PROSE-29] */
  #code(token: Token, place: Place): ProseElement {
    const word = /^\s*(\S*)/.exec(token.info)?.[1] ?? ''
    const name = language(word)
    if (word !== '' && name === undefined) {
      this.#fixes.add('dropped_invalid', 'not a language name', place, 'codeBlock', 'language')
    }
    return codeBlock(name === undefined ? {} : { language: name as string }, token.content)
  }

  /** Reads a quote. [PROSE-35] */
  #quote(place: Place): ProseElement {
    const inline = this.#tokens[this.#at + 1]
    const marker = this.#tokens[this.#at]?.type === 'paragraph_open' ? calloutMarker.exec(inline?.content ?? '') : null
    const variant = marker === null ? undefined : variants[(marker[1] as string).toLowerCase()]
    if (inline === undefined || marker === null || variant === undefined)
      return { type: 'blockquote', attrs: {}, content: this.blocks('blockquote_close', place) }
    inline.content = inline.content.slice(marker[0].length).replace(/^[ \t\n]+/, '')
    if (inline.content === '') this.#at += 3
    const attrs: ProseAttrs = variant === 'note' ? {} : { variant }
    return { type: 'callout', attrs, content: this.blocks('blockquote_close', { ...place, name: 'callout' }) }
  }

  /** Reads one list as one or more nodes: each run of items with a box, or without, becomes a list. [PROSE-27] */
  #lists(open: Token, place: Place): readonly ProseElement[] {
    const lists: { type: NodeType; attrs: ProseAttrs; content: ProseElement[] }[] = []
    const isOrdered = open.type === 'ordered_list_open'
    let number = Number(open.attrGet('start') ?? 1)
    while (this.#next()?.type === 'list_item_open') {
      const checked = this.#takeBox()
      const type = checked !== undefined ? 'taskList' : isOrdered ? 'orderedList' : 'bulletList'
      let list = lists.at(-1)
      if (list?.type !== type) {
        list = { type, attrs: type === 'orderedList' && number !== 1 ? { start: number } : {}, content: [] }
        lists.push(list)
      }
      const at: Place = { ...place, index: place.index + lists.length - 1, name: type }
      if (isOrdered && checked !== undefined) this.#fixes.add('unwrapped', 'an item with a box has no number', at, type)
      const item: NodeType = checked === undefined ? 'listItem' : 'taskItem'
      const content = this.blocks('list_item_close', { parent: at, index: list.content.length, name: item })
      list.content.push({ type: item, attrs: checked === true ? { checked } : {}, content })
      number++
    }
    return lists
  }

  /** Removes the box at the start of an item's first paragraph, after any comments. Returns whether it was checked. */
  #takeBox(): boolean | undefined {
    let at = this.#at
    while (this.#tokens[at]?.type === 'html_block' && /^<!--[^>]*-->\s*$/.test(this.#tokens[at]?.content ?? '')) at++
    const inline = this.#tokens[at]?.type === 'paragraph_open' ? this.#tokens[at + 1] : undefined
    const box = /^\[([ xX])\](?:[ \t\n]+|$)/.exec(inline?.content ?? '')
    if (inline === undefined || box === null) return undefined
    inline.content = inline.content.slice(box[0].length)
    return box[1] !== ' '
  }

  /** Removes the comment with a name at the start of a cell. [AG-16] */
  #takeName(): string | null | undefined {
    const inline = this.#tokens[this.#at]
    const comment = /^<!--(.*?)-->\s*/s.exec(inline?.content ?? '')
    const name = comment === null ? undefined : nameInComment(comment[1] as string)
    if (inline !== undefined && comment !== null && name !== undefined) inline.content = inline.content.slice(comment[0].length)
    return name
  }

  /** Reads a table. [PROSE-28] */
  #table(place: Place): ProseElement {
    const rows: ProseElement[] = []
    let cells: ProseElement[] = []
    for (let token = this.#next(); token !== undefined && token.type !== 'table_close'; token = this.#next()) {
      if (token.type === 'tr_open') cells = []
      if (token.type === 'tr_close') rows.push({ type: 'tableRow', attrs: {}, content: cells })
      if (token.type !== 'th_open' && token.type !== 'td_open') continue
      const type: NodeType = token.type === 'th_open' ? 'tableHeader' : 'tableCell'
      const align = /^text-align:(left|center|right)$/.exec(String(token.attrGet('style') ?? ''))?.[1]
      const row: Place = { parent: place, index: rows.length, name: 'tableRow' }
      const at: Place = { parent: row, index: cells.length, name: type }
      const named = this.#takeName()
      const content = this.#text('paragraph', {}, undefined, { parent: at, index: 0, name: 'paragraph' })
      const [first, ...rest] = content.length === 0 ? [emptyParagraph()] : content
      cells.push({
        type,
        attrs: align === undefined ? {} : { align },
        content: [withCommentId(first as ProseNode, named), ...rest],
      })
    }
    return { type: 'table', attrs: {}, content: rows }
  }
}

/** The cost in steps of a text block with raw HTML, besides its markup, because an HTML parser is created for the block. */
const htmlSteps = 10

const nodeNames: { readonly [token: string]: NodeType } = {
  heading_open: 'heading',
  fence: 'codeBlock',
  code_block: 'codeBlock',
  blockquote_open: 'blockquote',
  bullet_list_open: 'bulletList',
  ordered_list_open: 'orderedList',
  table_open: 'table',
}

const calloutMarker = /^\[!(note|tip|warning|caution|danger|important)\][ \t]*(?:\n|$)/i
const variants: { readonly [word: string]: string } = {
  note: 'note',
  tip: 'tip',
  warning: 'warning',
  caution: 'danger',
  danger: 'danger',
  important: 'note',
}

function codeBlock(attrs: ProseAttrs, content: string): ProseElement {
  const text = content.endsWith('\n') ? content.slice(0, -1) : content
  return { type: 'codeBlock', attrs, content: text === '' ? [] : [{ type: 'text', text, marks: [] }] }
}

function plainParagraph(text: string): ProseElement {
  const run = new InlineRun(false)
  run.text(text, [], false)
  return { type: 'paragraph', attrs: {}, content: run.take() }
}
