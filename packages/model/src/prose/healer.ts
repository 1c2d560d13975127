import { sameList, withContent } from './equal.ts'
import type { HealReport, Place } from './fixes.ts'
import { healTable } from './heal-table.ts'
import { inlineParts, isInline, isMute, plainText, tidyInline } from './heal-inline.ts'
import { pushAll } from './marks.ts'
import { emptyParagraph, type NodeType, type ProseAttrs, type ProseElement, type ProseNode } from './node.ts'
import { nodeSpec } from './schema.ts'

type Blocks = readonly ProseElement[]

/** The deepest allowed level of an element; top-level blocks are on level 1. [PROSE-H20] */
const maxLevel = 64

/** How many padding cells a page may still get, and whether some table did not get all that it needed. */
export interface Padding {
  left: number
  isShort: boolean
}

/**
 * Creates the padding limit of a page. Without a limit, many small tables with one wide row and many empty rows would fill the memory.
 * [PROSE-21]
 */
export function pagePadding(): Padding {
  return { left: 50_000, isShort: false }
}

/** The heals of PROSE-22, one method per kind of container. Each returns the node it was given when there is nothing to heal. */
export class Healer {
  readonly #report: (fix: HealReport) => void
  readonly #padding: Padding

  constructor(report: (fix: HealReport) => void, padding: Padding) {
    this.#report = report
    this.#padding = padding
  }

  mayPad(cells: number): boolean {
    if (cells > this.#padding.left) {
      this.#padding.isShort = true
      return false
    }
    this.#padding.left -= cells
    return true
  }

  /** Heals the children of a container of blocks at `level`. `keepCaptions` is for figures, which handle their caption themselves. */
  blocks(children: readonly ProseNode[], level: number, parent: Place | undefined, keepCaptions = false): Blocks {
    const out: ProseElement[] = []
    for (let i = 0; i < children.length; ) {
      const child = children[i] as ProseNode
      const place: Place = { parent, index: i, name: child.type }
      const isRun = child.type === 'text' || isInline(child)
      if (!isRun && !isItem(child)) {
        pushAll(out, this.#block(child as ProseElement, level, place, keepCaptions))
        i++
        continue
      }
      const end = groupEnd(children, i)
      const group = children.slice(i, end)
      i = end
      if (isRun) pushAll(out, this.#textBlock({ type: 'paragraph', attrs: {}, content: group }, level, place))
      else pushAll(out, this.#looseItems(group as Blocks, level, place))
    }
    return sameList(children, out)
  }

  #block(node: ProseElement, level: number, place: Place, keepCaptions: boolean): Blocks {
    const { height, group } = nodeSpec(node.type)
    if (group === 'block' && level + height > maxLevel) return [this.#flatten(node, place)]
    switch (node.type) {
      case 'paragraph':
      case 'heading':
        return this.#textBlock(node, level, place)
      case 'figcaption':
        return keepCaptions ? this.#textBlock(node, level, place) : this.#looseCaption(node, level, place)
      case 'codeBlock':
        return [this.#code(node, place)]
      case 'blockquote':
      case 'callout':
        return [withContent(node, this.filled(node, level, place))]
      case 'bulletList':
      case 'orderedList':
      case 'taskList':
        return this.#list(node, level, place)
      case 'figure':
        return this.#figure(node, level, place)
      case 'gallery':
        return this.#gallery(node, level, place)
      case 'table':
        return healTable(this, this.#report, node, level, place)
      case 'tableRow':
      case 'tableCell':
      case 'tableHeader':
        this.#report({ action: 'unwrapped', reason: 'a row or cell needs a table; its content is kept', place })
        return this.blocks(node.content, level, place)
      case 'image':
        return this.#image(node, place)
      default:
        return [this.#atom(node, place)]
    }
  }

  /** Heals the content of a container that must have at least one block. [PROSE-H10] */
  filled(node: ProseElement, level: number, place: Place): Blocks {
    const content = this.blocks(node.content, level + 1, place)
    return content.length === 0 ? [emptyParagraph()] : content
  }

  #image(node: ProseElement, place: Place): Blocks {
    if (typeof node.attrs['src'] === 'string' && node.attrs['src'] !== '') return [this.#atom(node, place)]
    this.#report({ action: 'dropped_invalid', reason: 'an image needs a source', place, field: 'src' })
    return []
  }

  #atom(node: ProseElement, place: Place): ProseElement {
    if (node.content.length === 0) return node
    this.#report({ action: 'stripped_children', reason: `a ${node.type} has no content of its own`, place })
    return { ...node, content: [] }
  }

  #code(node: ProseElement, place: Place): ProseElement {
    const [only] = node.content
    if (only === undefined || (node.content.length === 1 && only.type === 'text' && only.marks.length === 0)) return node
    this.#report({ action: 'stripped_children', reason: 'code is plain text', place })
    const text = plainText(node.content, '\n', '\n')
    return { ...node, content: text === '' ? [] : [{ type: 'text', text, marks: [] }] }
  }

  /** Replaces content nested too deeply by one paragraph with all its text. [PROSE-H20] */
  #flatten(node: ProseElement, place: Place): ProseElement {
    this.#report({ action: 'dropped_invalid', reason: `nested deeper than ${maxLevel} levels; its text is kept`, place })
    const text = plainText([node], ' ', ' ').trim()
    return { type: 'paragraph', attrs: {}, content: text === '' ? [] : [{ type: 'text', text, marks: [] }] }
  }

  /** A text block, split around the blocks inside it. [PROSE-16, PROSE-H2, PROSE-H19] */
  #textBlock(node: ProseElement, level: number, place: Place): Blocks {
    const clamped = this.#levelled(node, place)
    if (clamped.content.every(isInline)) return [withContent(clamped, tidyInline(clamped.content, this.#report, place))]
    const out: ProseElement[] = []
    const isCaption = node.type === 'figcaption'
    const reason = `a ${node.type} holds only text`
    let run: ProseNode[] = []
    let attrs = clamped.attrs
    const flush = () => {
      const content = tidyInline(run, this.#report, place)
      run = []
      if (content.every(isBlank)) return
      out.push({ type: node.type, attrs, content })
      attrs = levelOnly(clamped.attrs)
    }
    node.content.forEach((child, index) => {
      const at: Place = { parent: place, index, name: child.type }
      if (!isInline(child) && child.type !== 'image')
        this.#report({ action: isCaption && isMute(child) ? 'dropped_invalid' : 'unwrapped', reason, place: at })
    })
    for (const part of isCaption ? inlineParts(node.content) : node.content) {
      if (isInline(part)) run.push(part)
      else {
        flush()
        pushAll(out, this.blocks([part], level, place))
      }
    }
    flush()
    // A caption stays a caption when its blocks had no text, and so does a text block of which nothing else is left.
    return out.length === 0 ? [{ ...clamped, content: [] }] : out
  }

  #levelled(node: ProseElement, place: Place): ProseElement {
    const level = node.attrs['level']
    if (node.type !== 'heading' || level === undefined || (typeof level === 'number' && level > 1 && level <= 6)) return node
    const nearest = Math.min(6, Math.max(1, Number(level)))
    if (nearest !== level) this.#report({ action: 'clamped', reason: 'a heading has level 1 to 6', place, field: 'level' })
    const { level: _, ...attrs } = node.attrs
    return { ...node, attrs: nearest === 1 ? attrs : { level: nearest, ...attrs } }
  }

  #looseCaption(node: ProseElement, level: number, place: Place): Blocks {
    this.#report({ action: 'unwrapped', reason: 'a caption needs a figure', place })
    return this.#textBlock({ ...node, type: 'paragraph' }, level, place)
  }

  #looseItems(items: Blocks, level: number, place: Place): Blocks {
    this.#report({ action: 'unwrapped', reason: 'an item needs a list', place })
    const type = items[0]?.type === 'taskItem' ? 'taskList' : 'bulletList'
    return this.#block({ type, attrs: {}, content: items }, level, place, false)
  }

  #list(node: ProseElement, level: number, place: Place): Blocks {
    const kind: NodeType = node.type === 'taskList' ? 'taskItem' : 'listItem'
    const items = this.#items(node, kind, level, place).map((item, index) =>
      this.#item(item, level + 1, { parent: place, index, name: item.type }),
    )
    if (items.length > 0) return [withContent(node, items)]
    this.#report({ action: 'dropped_invalid', reason: 'a list needs items', place })
    return []
  }

  /** Returns the children of a list as items of its kind; the items' content is not healed yet. [PROSE-H5, PROSE-H6] */
  #items(list: ProseElement, kind: NodeType, level: number, parent: Place): ProseElement[] {
    const items: ProseElement[] = []
    // The content of the last item, once a nested list was moved into it.
    let taken: ProseNode[] | undefined
    for (let i = 0; i < list.content.length; ) {
      const child = list.content[i] as ProseNode
      const place: Place = { parent, index: i, name: child.type }
      if (child.type === 'listItem' || child.type === 'taskItem') {
        i++
        if (child.type !== kind) this.#report({ action: 'unwrapped', reason: `items of a ${list.type} are of its kind`, place })
        items.push(child.type === kind ? child : { type: kind, attrs: {}, content: child.content })
        taken = undefined
        continue
      }
      const end = groupEnd(list.content, i)
      const group = list.content.slice(i, end)
      i = end
      this.#report({ action: 'unwrapped', reason: `a ${list.type} holds items`, place })
      const last = items.at(-1)
      if (last !== undefined && isList(child)) {
        if (taken === undefined) items[items.length - 1] = { ...last, content: (taken = [...last.content]) }
        taken.push(child)
        continue
      }
      const content = this.blocks(group, level + 2, parent)
      if (content.length === 0) continue
      items.push({ type: kind, attrs: {}, content })
      taken = undefined
    }
    return items
  }

  /** Heals an item, which must start with a paragraph. [PROSE-H8] */
  #item(item: ProseElement, level: number, place: Place): ProseElement {
    const content = this.blocks(item.content, level + 1, place)
    const [first] = content
    if (first?.type === 'paragraph') return withContent(item, content)
    if (first?.type !== 'heading') return { ...item, content: [emptyParagraph(), ...content] }
    this.#report({
      action: 'unwrapped',
      reason: 'an item starts with a paragraph',
      place: { parent: place, index: 0, name: 'heading' },
    })
    const { level: _, ...attrs } = first.attrs
    return { ...item, content: [{ ...first, type: 'paragraph', attrs }, ...content.slice(1)] }
  }

  #gallery(node: ProseElement, level: number, place: Place): Blocks {
    const parts = this.blocks(node.content, level + 1, place)
    const images = parts.filter((part) => part.type === 'image')
    const rest = parts.filter((part) => part.type !== 'image')
    if (images.length === 0) return this.#replacedByContent(rest, 'a gallery needs images', level, place)
    if (rest.length > 0) this.#report({ action: 'stripped_children', reason: 'a gallery holds only images', place })
    return [withContent(node, images), ...this.blocks(rest, level, place)]
  }

  #figure(node: ProseElement, level: number, place: Place): Blocks {
    const parts = this.blocks(node.content, level + 1, place, true)
    const image = parts.find((part) => part.type === 'image')
    if (image === undefined) return this.#replacedByContent(parts, 'a figure needs an image', level, place)
    const written = parts.find((part) => part.type === 'figcaption')
    const caption: ProseElement = written ?? { type: 'figcaption', attrs: {}, content: [] }
    const rest = parts.filter((part) => part !== image && part !== written)
    if (rest.length > 0) this.#report({ action: 'stripped_children', reason: 'a figure holds one image and its caption', place })
    return [withContent(node, [image, caption]), ...this.blocks(rest, level, place)]
  }

  #replacedByContent(content: Blocks, reason: string, level: number, place: Place): Blocks {
    this.#report({ action: 'unwrapped', reason: `${reason}; its content is kept`, place })
    return this.blocks(content, level, place)
  }
}

function isItem(node: ProseNode): boolean {
  return node.type === 'listItem' || node.type === 'taskItem'
}

function isList(node: ProseNode): boolean {
  return node.type === 'bulletList' || node.type === 'orderedList' || node.type === 'taskList'
}

/** Returns the end of the group that starts at `start`: a run of inline nodes, consecutive items of one kind, or one block. */
function groupEnd(nodes: readonly ProseNode[], start: number): number {
  const first = nodes[start] as ProseNode
  let end = start + 1
  const belongs = (node: ProseNode) => (isInline(first) ? isInline(node) : isItem(first) && node.type === first.type)
  while (end < nodes.length && belongs(nodes[end] as ProseNode)) end++
  return end
}

/** Whether a node is only white space, left over beside blocks that were moved out of a text block. */
function isBlank(node: ProseNode): boolean {
  return node.type === 'text' && /^[ \t\n\f\r]*$/.test(node.text)
}

function levelOnly(attrs: ProseAttrs): ProseAttrs {
  return attrs['level'] === undefined ? {} : { level: attrs['level'] }
}
