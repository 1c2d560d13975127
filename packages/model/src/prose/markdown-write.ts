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
import { blockStamp } from './block-stamp.ts'
import { stampedId } from '../stamps/stamp.ts'

/**
 * Writes a page as Markdown that `parseMarkdown` reads back as an equal page, except for ids and the labels of field chips. What Markdown
 * cannot express is written as canonical HTML, per block or per run. With `ids`, a comment names the id of each paragraph, heading and code
 * block at the top level and in list items, with the stamp of its content. [PROSE-38 to PROSE-41, AG-12]
 *
 * `tree` must satisfy the content model.
 */
export function serialiseMarkdown(tree: ProseTree, { ids }: { readonly ids: boolean }): string {
  if (isEmptyPage(tree)) return ''
  const writer = new BlockWriter(ids)
  writer.blocks(tree, { prefix: '', hasComments: true, isTight: false })
  return `${writer.lines.join('\n')}\n`
}

/**
 * Like `serialiseMarkdown` without ids, for blocks that come one by one, up to `maxBytes`. Of a longer page it writes as many blocks from
 * the start as fit together with `end`, which is appended. It reads no more blocks than that. [RES-8]
 */
export function serialiseMarkdownWithin(blocks: Iterable<ProseElement>, maxBytes: number, end: string): string {
  const writer = new BlockWriter(false)
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
  writer.blocks(untilFull(), { prefix: '', hasComments: true, isTight: false })
  if (isEmptyPage(taken)) return ''
  return isCut ? lines.slice(0, fitting).join('\n').trimEnd() + end : `${lines.join('\n')}\n`
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length
}

/** The position of a sequence of blocks. */
interface Container {
  /** The beginning of each line. */
  readonly prefix: string
  /** Whether ids are written as comments here. */
  readonly hasComments: boolean
  readonly isTight: boolean
}

class BlockWriter {
  readonly lines: string[] = []
  readonly #ids: boolean
  readonly #shapes = new ListShapes()
  /** The beginning of the next line, when it differs from the prefix. */
  #first: string | undefined

  constructor(ids: boolean) {
    this.#ids = ids
  }

  blocks(nodes: Iterable<ProseElement>, container: Container): void {
    let before: ProseElement | undefined
    let marker = ''
    for (const node of nodes) {
      if (before !== undefined) this.#separate(container)
      marker = isList(node) ? this.#shapes.marker(node, before !== undefined && isList(before) ? marker : '') : ''
      this.#comment(node, container)
      this.#block(node, container, marker)
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

  /** Writes the comment with a block's id and stamp. [PROSE-41, AG-12] */
  #comment(node: ProseElement, { prefix, hasComments }: Container): boolean {
    const id = node.attrs['id']
    if (!this.#ids || !hasComments || typeof id !== 'string' || !/^[^\s<>]+$/.test(id)) return false
    this.#line(prefix, `<!-- ${stampedId(id, blockStamp(node))} -->`)
    return true
  }

  #block(node: ProseElement, container: Container, marker: string): void {
    const { prefix } = container
    switch (node.type) {
      case 'blockquote':
        return this.#quote(node.content as ProseTree, prefix)
      case 'callout':
        return this.#callout(node, prefix)
      case 'bulletList':
      case 'orderedList':
      case 'taskList':
        if (marker === '') break
        return this.#list(node, container, marker)
      default: {
        const text = markdownOf(node)
        if (text === undefined) break
        return this.#text(prefix, text)
      }
    }
    this.#line(prefix, htmlOf(node, this.#ids))
  }

  #quote(content: ProseTree, prefix: string): void {
    this.#first = `${this.#first ?? prefix}> `
    const inner = `${prefix}> `
    if (isEmptyPage(content)) this.#line(inner, '')
    else this.blocks(content, { prefix: inner, hasComments: false, isTight: false })
  }

  #callout(node: ProseElement, prefix: string): void {
    const inner = `${prefix}> `
    this.#first = `${this.#first ?? prefix}> `
    this.#line(inner, `[!${words[String(node.attrs['variant'] ?? 'note')]}]`)
    const content = node.content as ProseTree
    if (isEmptyPage(content)) return
    const [first, ...rest] = content
    const text = first?.type === 'paragraph' ? markdownOf(first, true) : undefined
    if (text === undefined || isHtmlLine(text)) {
      this.#line(inner, '')
      this.blocks(content, { prefix: inner, hasComments: false, isTight: false })
      return
    }
    this.#text(inner, text)
    if (rest.length > 0) this.#line(inner, '')
    this.blocks(rest, { prefix: inner, hasComments: false, isTight: false })
  }

  #list(list: ProseElement, { prefix, isTight: isInTight }: Container, marker: string): void {
    const isTight = isInTight || this.#shapes.isTight(list)
    let number = Number(list.attrs['start'] ?? 1)
    ;(list.content as ProseTree).forEach((item, index) => {
      if (index > 0 && !isTight) this.#line(prefix, '')
      const bullet = list.type === 'orderedList' ? `${Math.min(number++, maxNumber)}${marker} ` : `${marker} `
      this.#first = (this.#first ?? prefix) + bullet
      this.#item(item, { prefix: prefix + ' '.repeat(bullet.length), hasComments: true, isTight })
    })
  }

  #item(item: ProseElement, container: Container): void {
    const [first, ...rest] = item.content as ProseTree
    if (first === undefined) return
    const { prefix } = container
    const hasComment = this.#comment(first, container)
    if (item.type === 'taskItem') {
      const text = writeInline(first.content, { kind: 'boxed' }) ?? ''
      const box = item.attrs['checked'] === true ? '[x]' : '[ ]'
      this.#text(prefix, text === '' ? box : `${box} ${text}`)
    } else if (!isBare(first)) this.#block(first, container, '')
    else if (rest.length === 0 || (rest[0]?.type !== 'paragraph' && rest[0]?.type !== 'heading')) {
      // An item that begins with another block reads back with an empty paragraph before it. [PROSE-H8]
      if (!hasComment) this.#line(prefix, '')
      return this.blocks(rest, container)
    } else this.#line(prefix, '<p></p>')
    if (rest.length > 0) this.#separate(container)
    this.blocks(rest, container)
  }
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
    case 'table':
      return markdownTable(node)
    default:
      return undefined
  }
}

/**
 * Returns `undefined` for lines that would read as something else: a tag alone on a line is a block of HTML, and a link definition shows
 * nothing.
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

function htmlOf(node: ProseElement, hasIds: boolean): string {
  return referencedSpace(writeTree([hasIds ? node : withoutIds(node)]))
}

/** Whether a paragraph has no content and no alignment; an id does not count. */
function isBare(node: ProseElement): boolean {
  return node.content.length === 0 && node.attrs['textAlign'] === undefined
}

/** Whether a line begins HTML that continues until the next blank line. */
function isHtmlLine(line: string): boolean {
  return line.startsWith('<') && !line.startsWith('<!--')
}
