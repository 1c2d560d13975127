import { isEmptyPage } from './equal.ts'
import { writeTree } from './html-writer.ts'
import { escapeMarkdown, reference, writeDestination, writeTitle } from './markdown-escape.ts'
import { writeInline } from './markdown-inline-writer.ts'
import { withoutOuterBlankLines } from './markdown-rules.ts'
import { referencedSpace } from './markdown-slots.ts'
import { isList, ListShapes, maxNumber } from './markdown-lists.ts'
import { markdownTable } from './markdown-table.ts'
import { withoutIds } from './marks.ts'
import type { ProseElement, ProseTree } from './node.ts'
import { blockName, namedInside, type Naming } from './block-names.ts'
import { isIdBearing, type Located } from './blocks.ts'
import type { Path } from './tree-path.ts'

/**
 * Writes a page as Markdown that `parseMarkdown` reads back as an equal page, except for ids and the labels of field chips. A block or run
 * that Markdown cannot express is written as canonical HTML. [PROSE-38 to PROSE-40]
 *
 * `tree` must satisfy the content model.
 */
export function serialiseMarkdown(tree: ProseTree): string {
  return isEmptyPage(tree) ? '' : written(tree, null, (index) => [index])
}

/**
 * Like `serialiseMarkdown`, with a comment that says the name of the block before each text block at any depth and each top-level block. [PROSE-41, AG-12]
 */
export function serialiseNamedMarkdown(blocks: readonly Located[], naming: Naming): string {
  const tree = blocks.map(({ block }) => block)
  return written(tree, naming, (index) => (blocks[index] as Located).path)
}

function written(tree: ProseTree, naming: Naming | null, pathOf: PathOf): string {
  const writer = new BlockWriter(naming)
  writer.blocks(tree, { prefix: '', pathOf, isTop: true, isTight: false })
  return `${writer.lines.join('\n')}\n`
}

/**
 * Like `serialiseMarkdown`, for blocks that come one by one, up to `maxBytes`. Of a longer page, writes as many blocks from
 * the start as fit together with `end`, which is appended, and reads no further blocks. [RES-8]
 */
export function serialiseMarkdownWithin(blocks: Iterable<ProseElement>, maxBytes: number, end: string): string {
  const writer = new BlockWriter(null)
  const { lines } = writer
  const room = maxBytes - bytesOf(end)
  let [bytes, counted, fitting, isCut] = [0, 0, 0, false]
  const taken: ProseElement[] = []
  const untilFull = function* (): Generator<ProseElement> {
    for (const block of blocks) {
      taken.push(block)
      yield block
      for (; counted < lines.length; counted++) bytes += bytesOf(lines[counted] as string) + 1
      if (bytes <= room) fitting = counted
      isCut = bytes > maxBytes
      if (isCut) return
    }
  }
  writer.blocks(untilFull(), { prefix: '', pathOf: (index) => [index], isTop: true, isTight: false })
  if (isEmptyPage(taken)) return ''
  return isCut ? lines.slice(0, fitting).join('\n').trimEnd() + end : `${lines.join('\n')}\n`
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length
}

/** Returns the path of a block by its index in a sequence of blocks. */
type PathOf = (index: number) => Path

/** The position of a sequence of blocks. */
interface Container {
  /** The beginning of each line. */
  readonly prefix: string
  readonly pathOf: PathOf
  readonly isTop: boolean
  readonly isTight: boolean
}

/** A block with its place among those around it. */
interface Placed extends Container {
  readonly index: number
}

function inside({ pathOf, index }: Placed, offset = 0): PathOf {
  return (child) => [...pathOf(index), child + offset]
}

class BlockWriter {
  readonly lines: string[] = []
  /** How comments name blocks; `null`: no block is named. */
  readonly #naming: Naming | null
  readonly #shapes = new ListShapes()
  /** The beginning of the next line, when it differs from the prefix. */
  #first: string | undefined

  constructor(naming: Naming | null) {
    this.#naming = naming
  }

  blocks(nodes: Iterable<ProseElement>, container: Container): void {
    let before: ProseElement | undefined
    let marker = ''
    let index = 0
    for (const node of nodes) {
      if (before !== undefined) this.#separate(container)
      marker = isList(node) ? this.#shapes.marker(node, before !== undefined && isList(before) ? marker : '') : ''
      this.#block(node, { ...container, index: index++ }, marker)
      before = node
    }
  }

  #separate({ prefix, isTight }: Container): void {
    if (!isTight || isHtmlLine(this.lines.at(-1)?.slice(prefix.length) ?? '')) this.#line(prefix, '')
  }

  #line(prefix: string, text: string): void {
    const start = this.#first ?? prefix
    this.#first = undefined
    this.lines.push(text === '' ? start.trimEnd() : start + text)
  }

  #text(prefix: string, text: string): void {
    for (const line of text.split('\n')) this.#line(prefix, line)
  }

  /** Writes the comment with a block's name. [PROSE-41, AG-12] */
  #comment(block: ProseElement, { prefix, pathOf, isTop, index }: Placed): boolean {
    if (this.#naming === null || !(isTop || isIdBearing(block))) return false
    this.#line(prefix, commentOf({ path: pathOf(index), block }, this.#naming))
    return true
  }

  /** Writes a block with the comment before it. */
  #block(node: ProseElement, placed: Placed, marker: string): void {
    this.#comment(node, placed)
    this.#bare(node, placed, marker)
  }

  #bare(node: ProseElement, placed: Placed, marker: string): void {
    const { prefix } = placed
    switch (node.type) {
      case 'blockquote':
        return this.#quote(node.content as ProseTree, placed)
      case 'callout':
        return this.#callout(node, placed)
      case 'bulletList':
      case 'orderedList':
      case 'taskList':
        if (marker === '') break
        return this.#list(node, placed, marker)
      case 'table': {
        const text = this.#table(node, placed)
        if (text === undefined) break
        return this.#text(prefix, text)
      }
      default: {
        const text = markdownOf(node)
        if (text === undefined) break
        return this.#text(prefix, text)
      }
    }
    this.#line(prefix, this.#html(node, placed))
  }

  #html(node: ProseElement, placed: Placed): string {
    if (this.#naming === null || isIdBearing(node)) return htmlOf(withoutIds(node))
    return htmlOf(namedInside({ path: placed.pathOf(placed.index), block: node }, this.#naming))
  }

  #table(table: ProseElement, placed: Placed): string | undefined {
    const naming = this.#naming
    if (naming === null) return markdownTable(table)
    const path = placed.pathOf(placed.index)
    return markdownTable(table, (block, row, column) => commentOf({ path: [...path, row, column, 0], block }, naming))
  }

  #quote(content: ProseTree, placed: Placed): void {
    const { prefix } = placed
    this.#first = `${this.#first ?? prefix}> `
    const inner = `${prefix}> `
    if (isEmptyPage(content) && this.#naming === null) this.#line(inner, '')
    else this.blocks(content, { prefix: inner, pathOf: inside(placed), isTop: false, isTight: false })
  }

  #callout(node: ProseElement, placed: Placed): void {
    const inner = `${placed.prefix}> `
    this.#first = `${this.#first ?? placed.prefix}> `
    this.#line(inner, `[!${words[String(node.attrs['variant'] ?? 'note')]}]`)
    const content = node.content as ProseTree
    const [first, ...rest] = content
    const container = { prefix: inner, isTop: false, isTight: false }
    if (this.#naming === null) {
      if (isEmptyPage(content)) return
      const text = first?.type === 'paragraph' ? markdownOf(first, true) : undefined
      if (text !== undefined && !isHtmlLine(text)) {
        this.#text(inner, text)
        if (rest.length > 0) this.#line(inner, '')
        return this.blocks(rest, { ...container, pathOf: inside(placed, 1) })
      }
    }
    // A comment before the first block ends the line of the callout word as a blank line does.
    if (this.#naming === null || first === undefined || !isIdBearing(first)) this.#line(inner, '')
    this.blocks(content, { ...container, pathOf: inside(placed) })
  }

  #list(list: ProseElement, placed: Placed, marker: string): void {
    const { prefix } = placed
    const isTight = placed.isTight || this.#shapes.isTight(list)
    const pathOf = inside(placed)
    let number = Number(list.attrs['start'] ?? 1)
    ;(list.content as ProseTree).forEach((item, index) => {
      if (index > 0 && !isTight) this.#line(prefix, '')
      const bullet = list.type === 'orderedList' ? `${Math.min(number++, maxNumber)}${marker} ` : `${marker} `
      this.#first = (this.#first ?? prefix) + bullet
      this.#item(item, { prefix: prefix + ' '.repeat(bullet.length), pathOf, index, isTop: false, isTight })
    })
  }

  #item(item: ProseElement, placed: Placed): void {
    const [first, ...rest] = item.content as ProseTree
    if (first === undefined) return
    const { prefix } = placed
    const firstPlaced: Placed = { ...placed, pathOf: inside(placed), index: 0 }
    const restOf: Container = { ...placed, pathOf: inside(placed, 1) }
    const hasComment = this.#comment(first, firstPlaced)
    if (item.type === 'taskItem') {
      const text = writeInline(first.content, { kind: 'boxed' }) ?? ''
      const box = item.attrs['checked'] === true ? '[x]' : '[ ]'
      this.#text(prefix, text === '' ? box : `${box} ${text}`)
    } else if (!isBare(first)) this.#bare(first, firstPlaced, '')
    else if (!hasComment && (rest.length === 0 || (rest[0]?.type !== 'paragraph' && rest[0]?.type !== 'heading'))) {
      // An item that begins with another block reads back with an empty paragraph before it. [PROSE-H8]
      this.#line(prefix, '')
      return this.blocks(rest, restOf)
    } else this.#line(prefix, '<p></p>')
    if (rest.length > 0) this.#separate(placed)
    this.blocks(rest, restOf)
  }
}

function commentOf(located: Located, naming: Naming): string {
  return `<!-- ${blockName(located, naming)} -->`
}

const words: { readonly [variant: string]: string } = { note: 'NOTE', tip: 'TIP', warning: 'WARNING', danger: 'CAUTION' }

/** Writes a block without nested blocks as Markdown; `undefined` when Markdown cannot express it. */
function markdownOf(node: ProseElement, isContinuation = false): string | undefined {
  switch (node.type) {
    case 'paragraph':
      if (node.attrs['textAlign'] !== undefined || node.content.length === 0) return undefined
      return lineOrNone(writeInline(node.content, { kind: 'paragraph', isContinuation }))
    case 'heading': {
      const text = node.attrs['textAlign'] === undefined ? writeInline(node.content, { kind: 'heading' }) : undefined
      return text === undefined ? undefined : `${'#'.repeat(Number(node.attrs['level'] ?? 1))} ${text}`.trimEnd()
    }
    case 'codeBlock':
      return fenced(node)
    case 'horizontalRule':
      return '---'
    case 'mathBlock':
      return displayMath(String(node.attrs['latex']))
    case 'image':
      return image(node)
    default:
      return undefined
  }
}

/**
 * Returns a line that is read as a paragraph; `undefined` for a line that is read as something else: a tag alone on a line is a block of HTML, and a link
 * definition gives no block.
 */
function lineOrNone(line: string | undefined): string | undefined {
  if (line === undefined || line === '<br>') return undefined
  return line.startsWith('[') && line.charAt(labelEnd(line) + 1) === ':' ? undefined : line
}

/** The index of the first unescaped bracket that closes a label. */
function labelEnd(line: string): number {
  let at = 1
  while (at < line.length && line.charAt(at) !== ']') at += line.charAt(at) === '\\' ? 2 : 1
  return at
}

function fenced(node: ProseElement): string {
  const [content] = node.content
  const text = content?.type === 'text' ? content.text : ''
  const longest = (text.match(/`+/g) ?? []).reduce((length, run) => Math.max(length, run.length), 2)
  const fence = '`'.repeat(longest + 1)
  const open = `${fence}${String(node.attrs['language'] ?? '')}`
  return text === '' ? `${open}\n${fence}` : `${open}\n${text}\n${fence}`
}

/** Writes a display formula; `undefined` when Markdown cannot express it. [PROSE-34] */
function displayMath(latex: string): string | undefined {
  if (withoutOuterBlankLines(latex) !== latex || latex.split('\n').some((line) => line.trim() === '$$')) return undefined
  return latex === '' ? '$$\n$$' : `$$\n${latex}\n$$`
}

function image({ attrs }: ProseElement): string | undefined {
  if (attrs['width'] !== undefined || attrs['height'] !== undefined || attrs['float'] !== undefined) return undefined
  const alt = escapeMarkdown(String(attrs['alt'] ?? ''), { inLink: true }).replace(/[\t\n\f]/g, (char) => reference(char) ?? char)
  const title = attrs['title'] === undefined ? '' : ` ${writeTitle(String(attrs['title']))}`
  return `![${alt}](${writeDestination(String(attrs['src']))}${title})`
}

function htmlOf(node: ProseElement): string {
  return referencedSpace(writeTree([node]))
}

/** Whether a paragraph has no content and no alignment; an id does not count. */
function isBare(node: ProseElement): boolean {
  return node.content.length === 0 && node.attrs['textAlign'] === undefined
}

/** Whether a line begins HTML that continues until the next blank line. */
function isHtmlLine(line: string): boolean {
  return line.startsWith('<') && !line.startsWith('<!--')
}
