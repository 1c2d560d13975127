import type { Token } from 'markdown-it'
import type { FixList, Place } from './fixes.ts'
import { InlineRun } from './html-inline.ts'
import { onlyText, type SlotPart } from './html-reader.ts'
import { removedTags } from './html-tags.ts'
import type { ReadMarkup } from './literal-markup.ts'
import { withMark } from './marks.ts'
import type { ProseElement, ProseMark, ProseNode } from './node.ts'
import { badValue, imageSource, href as readHref } from './values.ts'

/** A piece of a line: a result of Markdown, or raw HTML. */
export type InlinePart = SlotPart | { readonly html: string }

/** Context of reading inline tokens: where to report, and how many characters of URLs may still be read. */
export interface InlineContext {
  readonly fixes: FixList
  readonly place: Place
  readonly links: LinkBudget
  /** Collects markup that was read and that the nodes no longer show. [AG-41] */
  readonly read: ReadMarkup[]
}

/** The budget of characters for URLs that are defined once and may be used often. [PROSE-21] */
export interface LinkBudget {
  left: number
}

const marksOfTokens: { readonly [type: string]: ProseMark } = {
  em_open: { type: 'italic', attrs: {} },
  strong_open: { type: 'bold', attrs: {} },
  s_open: { type: 'strike', attrs: {} },
}
const tooLong = 'the links of the page are too long together'
const code: ProseMark = { type: 'code', attrs: {} }

/** Converts inline tokens to parts. [PROSE-26, PROSE-30 to PROSE-33, PROSE-36] */
export function inlineParts(tokens: readonly Token[], context: InlineContext): readonly InlinePart[] {
  const parts: InlinePart[] = []
  const outer: (readonly ProseMark[])[] = []
  let marks: readonly ProseMark[] = []
  let linked = 0
  for (const token of tokens) {
    if (token.nesting > 0) {
      outer.push(marks)
      const isLink = token.type === 'link_open'
      marks = isLink ? withLink(marks, token, context) : withMark(marks, marksOfTokens[token.type] as ProseMark)
      if (isLink) linked = parts.length
    } else if (token.nesting < 0) {
      if (token.type === 'link_close' && marks[0]?.type === 'link') {
        const inside = parts.slice(linked)
        if (hasNoText(inside)) context.fixes.add('dropped_invalid', onlyText, context.place, 'link', 'href')
        noteFields(inside, context)
      }
      marks = outer.pop() ?? []
    } else {
      const part = partOf(token, marks, context)
      if (part !== undefined && !('text' in part && part.text === '')) parts.push(part)
    }
  }
  return withoutRemoved(parts, context)
}

/** Records fields inside a link: a link is kept on text only, so such a field loses its link. [AG-41] */
function noteFields(parts: readonly InlinePart[], { read, place }: InlineContext): void {
  for (const part of parts)
    if ('node' in part && part.node.type === 'fieldRef')
      read.push({ kind: 'linkedField', example: `{{${String(part.node.attrs['name'])}}}`, block: topIndex(place) })
}

/** The index of the top-level block that a place is in. */
function topIndex(place: Place): number {
  let top = place
  while (top.parent !== undefined) top = top.parent
  return top.index
}

/** Records TeX formulas, `\\(x\\)` and `\\[x\\]`, whose backslashes Markdown removes. [AG-41] */
export function noteFormulas(text: string, tokens: readonly Token[], { read, place }: InlineContext): void {
  const escaped = tokens.filter(({ type, info }) => type === 'text_special' && info === 'escape').map(({ content }) => content)
  for (const [open, close] of [
    ['(', ')'],
    ['[', ']'],
  ] as const) {
    const pairs = Math.min(escaped.filter((char) => char === open).length, escaped.filter((char) => char === close).length)
    if (pairs === 0) continue
    const [start, end] = [text.indexOf(`\\${open}`), text.indexOf(`\\${close}`)]
    const example = end > start ? text.slice(start, end + 2) : `\\${open}`
    for (let i = 0; i < pairs; i++) read.push({ kind: 'math', example, block: topIndex(place) })
  }
}

function partOf(token: Token, marks: readonly ProseMark[], context: InlineContext): InlinePart | undefined {
  const { content } = token
  switch (token.type) {
    case 'text':
      return { text: content, marks, isKept: false }
    case 'text_special':
      // White space that is written as a character reference is meant by the caller and kept.
      return { text: content, marks, isKept: token.info === 'entity' }
    case 'code_inline':
      return { text: content, marks: withMark(marks, code), isKept: true }
    case 'softbreak':
      return { text: ' ', marks, isKept: false }
    case 'hardbreak':
      return { node: { type: 'hardBreak', attrs: {}, content: [] } }
    case 'math_inline':
      return { node: { type: 'mathInline', attrs: { latex: content }, content: [] } }
    case 'field':
      return { node: { type: 'fieldRef', attrs: { name: content }, content: [] } }
    case 'image': {
      const node = imageNode(token, context)
      return node && { node }
    }
    case 'html_inline':
      return { html: content }
    default:
      return undefined
  }
}

/**
 * Drops elements that are removed together with their content. When no tag in the text block closes such an element, only its tag is
 * dropped: the HTML parser would take all following text as its content, and people often mention tags by name. [PROSE-12]
 */
function withoutRemoved(parts: readonly InlinePart[], { fixes, place }: InlineContext): readonly InlinePart[] {
  const tags = parts.map((part) => ('html' in part ? removedTag(part.html) : undefined))
  if (tags.every((tag) => tag === undefined)) return parts
  const closedAt = closingTags(tags)
  const kept: InlinePart[] = []
  for (let index = 0; index < parts.length; index++) {
    const tag = tags[index]
    if (tag === undefined) kept.push(parts[index] as InlinePart)
    else if (tag.kind !== 'end') fixes.add('dropped_unknown', `${tag.name} is not allowed`, place, tag.name)
    index = closedAt.get(index) ?? index
  }
  return kept
}

interface RemovedTag {
  readonly name: string
  readonly kind: 'start' | 'end' | 'empty'
}

function removedTag(html: string): RemovedTag | undefined {
  const [, slash, written = ''] = /^<(\/?)([a-z]+)(?=[\s/>])/i.exec(html) ?? []
  const name = written.toLowerCase()
  if (!removedTags.has(name)) return undefined
  return { name, kind: slash === '/' ? 'end' : name === 'embed' || html.endsWith('/>') ? 'empty' : 'start' }
}

/** For each start tag of a removed element, the index of the end tag that closes it, if there is one. */
function closingTags(tags: readonly (RemovedTag | undefined)[]): ReadonlyMap<number, number> {
  const open = new Map<string, number[]>()
  const closedAt = new Map<number, number>()
  tags.forEach((tag, index) => {
    if (tag === undefined || tag.kind === 'empty') return
    const starts = open.get(tag.name) ?? []
    open.set(tag.name, starts)
    if (tag.kind === 'start') return void starts.push(index)
    const start = starts.pop()
    if (start !== undefined) closedAt.set(start, index)
  })
  return closedAt
}

function hasNoText(parts: readonly InlinePart[]): boolean {
  return parts.length > 0 && !parts.some((part) => 'text' in part)
}

function withLink(marks: readonly ProseMark[], token: Token, { fixes, place, links }: InlineContext): readonly ProseMark[] {
  const raw = String(token.attrGet('href') ?? '')
  // A definition may be long and used often, so its length is charged. A target written inline is already part of the text.
  if (token.meta !== null) links.left -= raw.length
  if (links.left < 0) {
    fixes.add('dropped_invalid', tooLong, place, 'link', 'href')
    return marks
  }
  const value = readHref(raw)
  if (token.attrGet('title') !== null) fixes.add('dropped_unknown', 'a link has no attribute title', place, 'link', 'title')
  if (typeof value === 'string') return withMark(marks, { type: 'link', attrs: { href: value } })
  const reason = raw === '' ? 'a link needs a target' : badValue('href')
  fixes.add('dropped_invalid', reason, place, 'link', 'href')
  return marks
}

/** Reads an image. [PROSE-31] */
function imageNode(token: Token, { fixes, place, links }: InlineContext): ProseElement | undefined {
  const raw = String(token.attrGet('src') ?? '')
  const [alt, title] = [altText(token.children ?? []), String(token.attrGet('title') ?? '')]
  if (token.meta !== null) links.left -= raw.length + title.length
  const src = links.left < 0 ? undefined : imageSource(raw)
  if (src === undefined || links.left < 0) {
    const reason = raw === '' ? 'an image needs a source' : badValue('src')
    fixes.add('dropped_invalid', links.left < 0 ? tooLong : reason, place, 'image', 'src')
    return undefined
  }
  const attrs = { src, ...(alt === '' ? {} : { alt }), ...(title === '' ? {} : { title }) }
  return { type: 'image', attrs, content: [] }
}

/** The text of an image's description, without markup. */
function altText(tokens: readonly Token[]): string {
  let text = ''
  for (const token of tokens) {
    if (token.type === 'softbreak') text += ' '
    else if (token.type === 'hardbreak') text += '\n'
    else if (token.type === 'image') text += altText(token.children ?? [])
    else if (token.type === 'math_inline') text += `$${token.content}$`
    else if (token.type === 'field') text += `{{${token.content}}}`
    else text += token.content
  }
  return text
}

/** Converts parts without raw HTML to inline nodes; images are included. */
export function inlineNodes(parts: readonly InlinePart[]): readonly ProseNode[] {
  const nodes: ProseNode[] = []
  const run = new InlineRun(false)
  for (const part of parts) {
    if ('html' in part) continue
    if ('node' in part && part.node.type === 'image') {
      for (const node of run.take()) nodes.push(node)
      nodes.push(part.node)
    } else if ('node' in part) run.atom(part.node)
    else run.text(part.text, part.marks, part.isKept)
  }
  for (const node of run.take()) nodes.push(node)
  return nodes
}
