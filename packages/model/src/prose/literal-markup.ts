import type { Warning } from '../edit.ts'
import { quote } from '../quote.ts'
import { blockStamp } from './block-stamp.ts'
import type { ProseElement, ProseNode, ProseTree } from './node.ts'

/** A kind of markup that other Markdown dialects have and the relay does not read, with the form that the relay reads. [PROSE-25, AG-41] */
interface Dialect {
  /** The name of the markup, with which the warning begins. */
  readonly what: string
  readonly becomes: string
  /** The form that the relay reads; absent when the caller needs to change nothing. */
  readonly form?: string
  /** The patterns that find the markup, and where: any text, text of a link, start of a block or quote, or end of a heading. */
  readonly patterns: readonly (readonly [where: 'text' | 'link' | 'start' | 'quote' | 'heading', pattern: RegExp])[]
}

/** Kinds of markup that are found while Markdown is read, since the converted text no longer shows them. [AG-41] */
export type ReadKind = 'math' | 'linkedField'

/** One place of markup that the converted text no longer shows: an example, and the index of its top-level block. */
export interface ReadMarkup {
  readonly kind: ReadKind
  readonly example: string
  readonly block: number
}

const TEXT = 'kept as plain text'
const OF_READING: { readonly [kind in ReadKind]: Omit<Dialect, 'patterns'> } = {
  math: {
    what: 'formulas',
    becomes: 'are kept as text without the backslashes',
    form: 'write $x$, or $$x$$ on lines of its own',
  },
  linkedField: { what: 'links around fields', becomes: 'leave the field without link', form: 'put link text beside the field' },
}

const DIALECTS: readonly Dialect[] = [
  {
    what: 'footnotes',
    becomes: `are ${TEXT}`,
    form: 'write the note as a sentence in brackets',
    patterns: [['text', /\[\^[^\]\s]{1,100}\]/g]],
  },
  {
    // CommonMark reads `[^1]: source` as a link definition when the source is a single word.
    what: 'footnotes',
    becomes: 'are read as links',
    form: 'write the note as a sentence in brackets',
    patterns: [['link', /^\^[^\]\s]{1,100}$/g]],
  },
  {
    what: 'wiki links',
    becomes: `are ${TEXT}`,
    form: 'write [text](relay://doc/<id>)',
    patterns: [['text', /\[\[[^\][\n]{1,200}\]\]/g]],
  },
  {
    what: 'heading attributes',
    becomes: `are ${TEXT}`,
    form: 'leave them out, since blocks get ids by themselves',
    patterns: [['heading', /\{[#.][^\s{}][^{}]{0,100}\}$/g]],
  },
  {
    what: 'highlights',
    becomes: `are ${TEXT}`,
    form: 'write <mark>x</mark>',
    patterns: [['text', /==(?![\s=])(?:[^=\n]*[^\s=])==/g]],
  },
  {
    what: 'subscripts',
    becomes: `are ${TEXT}`,
    form: 'write <sub>x</sub>',
    patterns: [['text', /(?<![~\\])~[^~\s]{1,50}~(?!~)/g]],
  },
  {
    what: 'superscripts',
    becomes: `are ${TEXT}`,
    form: 'write <sup>x</sup>',
    patterns: [['text', /(?<![\^[])\^[^^\s[\]]{1,50}\^(?!\^)/g]],
  },
  {
    what: 'containers',
    becomes: 'are kept as text or a quote',
    form: 'write > [!NOTE] on a line of its own, then > lines with the text',
    patterns: [
      ['start', /^:::+ *[\w-]{1,50}/g],
      ['quote', /^\[![\w-]{1,50}\]/g],
    ],
  },
  {
    what: 'tables of contents',
    becomes: `are ${TEXT}`,
    form: 'leave them out, since editors show an outline',
    patterns: [['start', /^\[TOC\]$/gi]],
  },
  {
    what: 'bare URLs',
    becomes: 'are kept as text without a link',
    form: 'write <https://…>',
    patterns: [['text', /\bhttps?:\/\/[^\s<>]+/g]],
  },
]

/** Front matter as site generators use it: lines `name: value` between two lines `---` at the very start. */
const FRONT_MATTER = /^---[ \t]*\r?\n([A-Za-z_][\w-]*:[^\r\n]*)\r?\n(?:[^\r\n]*\r?\n){0,100}?---[ \t]*(?:\r?\n|$)/

interface Found {
  readonly example: string
  readonly block: number
  count: number
}

/**
 * Returns one warning for each kind of markup in Markdown content that has no meaning here, with its count, its first place and the form
 * that works. [PROSE-25, AG-41]
 *
 * `tree` is the content as read, and `stored` the page that it replaces, if any. A block that is stored already causes no warning.
 * Code may contain any markup, so code blocks and code marks are skipped. `source` is the content as sent, needed because front
 * matter becomes a rule and a heading in the tree. `read` is the markup that the reader found and the tree does not show.
 */
export function literalMarkup(
  tree: ProseTree,
  stored: ProseTree,
  source: string,
  read: readonly ReadMarkup[],
): readonly Warning[] {
  const found = new Map<Omit<Dialect, 'patterns'>, Found>()
  let stamps: ReadonlySet<string> | undefined
  const isStored = (block: ProseElement): boolean => (stamps ??= new Set(stored.map(blockStamp))).has(blockStamp(block))
  for (const { kind, example, block } of read) note(found, OF_READING[kind], example, block)
  tree.forEach((node, block) => {
    const inside: (readonly [Dialect, string])[] = []
    look(node, (dialect, example) => inside.push([dialect, example]))
    if (inside.length > 0 && !isStored(node)) for (const [dialect, example] of inside) note(found, dialect, example, block)
  })
  const warnings = [...found].map(([{ what, becomes, form }, { example, block, count }]): Warning => {
    const times = count === 1 ? `in block ${block}` : `${count} times, first in block ${block}`
    const tail = form === undefined ? '' : `; ${form}`
    return { reason: `${what} such as "${quote(example)}" ${becomes} (${times})${tail}` }
  })
  const matter = FRONT_MATTER.exec(source)?.[1]
  if (matter !== undefined)
    warnings.push({
      reason: `front matter such as "${quote(matter)}" is kept as a rule and plain text; use fields for values, with service_set_fields`,
    })
  return warnings
}

function note(
  found: Map<Omit<Dialect, 'patterns'>, Found>,
  dialect: Omit<Dialect, 'patterns'>,
  example: string,
  block: number,
): void {
  const known = found.get(dialect)
  if (known === undefined) found.set(dialect, { example, block, count: 1 })
  else known.count++
}

type Tell = (dialect: Dialect, example: string) => void

function look(node: ProseElement, tell: Tell, isInQuote = false): void {
  if (node.type === 'codeBlock') return
  node.content.forEach((child, i) => {
    if (child.type !== 'text') look(child, tell, node.type === 'blockquote' && i === 0)
    else if (!child.marks.some(({ type }) => type === 'code')) lookAt(child.text, placesOf(node, child, i, isInQuote), tell)
  })
}

type Where = Dialect['patterns'][number][0]

/** Returns the kinds of places at which a text of a block stands, for the patterns to try. */
function placesOf(
  node: ProseElement,
  text: ProseNode & { readonly type: 'text' },
  i: number,
  isInQuote: boolean,
): ReadonlySet<Where> {
  const isLink = text.marks.some(({ type }) => type === 'link')
  const places: Where[] = isLink ? ['link'] : ['text']
  if (i === 0 && !isLink) places.push(isInQuote ? 'quote' : 'start')
  if (node.type === 'heading' && i === node.content.length - 1) places.push('heading')
  return new Set(places)
}

function lookAt(text: string, places: ReadonlySet<Where>, tell: Tell): void {
  for (const dialect of DIALECTS)
    for (const [where, pattern] of dialect.patterns)
      if (places.has(where))
        for (const [example] of text.matchAll(pattern)) tell(dialect, where === 'link' ? `[${example}]` : example)
}
