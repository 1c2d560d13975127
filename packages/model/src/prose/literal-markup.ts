import type { Warning } from '../edit.ts'
import { quote } from '../quote.ts'
import type { ProseNode, ProseTree } from './node.ts'

/** A kind of markup that other Markdown dialects have and this one lacks. [PROSE-25] */
interface Dialect {
  /** The beginning of the warning. */
  readonly what: string
  /** Finds the markup in a text. */
  readonly pattern: RegExp
  /** The texts that are searched: any text, the end of a heading, or the text of a link. */
  readonly where: 'text' | 'heading' | 'link'
  readonly becomes: string
}

const DIALECTS: readonly Dialect[] = [
  { what: 'footnotes', pattern: /\[\^[^\]\s]{1,100}\]/, where: 'text', becomes: 'are kept as plain text' },
  // CommonMark reads `[^1]: source` as a link definition when the source is a single word.
  { what: 'footnotes', pattern: /^\^[^\]\s]{1,100}$/, where: 'link', becomes: 'are read as links' },
  { what: 'wiki links', pattern: /\[\[[^\][\n]{1,200}\]\]/, where: 'text', becomes: 'are kept as plain text' },
  { what: 'heading attributes', pattern: /\{[#.][^\s{}][^{}]{0,100}\}$/, where: 'heading', becomes: 'are kept as plain text' },
]

/** Front matter as site generators use it: lines `name: value` between two lines `---` at the very start. */
const FRONT_MATTER = /^---[ \t]*\r?\n([A-Za-z_][\w-]*:[^\r\n]*)\r?\n(?:[^\r\n]*\r?\n){0,100}?---[ \t]*(?:\r?\n|$)/

/**
 * Returns one warning for each kind of markup in Markdown content that has no meaning here. [PROSE-25]
 *
 * `tree` is the content as read. Code may contain any markup, so code blocks and code marks are skipped. `source` is the content as sent;
 * it is needed because front matter becomes a rule and a heading in the tree.
 */
export function literalMarkup(tree: ProseTree, source: string): readonly Warning[] {
  const found = new Map<Dialect, string>()
  look(tree, found)
  const warnings = DIALECTS.flatMap((dialect): Warning[] => {
    const example = found.get(dialect)
    return example === undefined ? [] : [{ reason: `${dialect.what} such as "${quote(example)}" ${dialect.becomes}` }]
  })
  const matter = FRONT_MATTER.exec(source)?.[1]
  if (matter !== undefined)
    warnings.push({ reason: `front matter such as "${quote(matter)}" is kept as a rule and plain text; use fields for values` })
  return warnings
}

function look(nodes: readonly ProseNode[], found: Map<Dialect, string>, isHeading = false): void {
  for (const [i, node] of nodes.entries()) {
    if (found.size === DIALECTS.length) return
    if (node.type !== 'text') {
      if (node.type !== 'codeBlock') look(node.content, found, node.type === 'heading')
      continue
    }
    if (node.marks.some(({ type }) => type === 'code')) continue
    const isLink = node.marks.some(({ type }) => type === 'link')
    const isEndOfHeading = isHeading && i === nodes.length - 1
    for (const dialect of DIALECTS) {
      const { where, pattern } = dialect
      if (found.has(dialect) || (where === 'link' && !isLink) || (where === 'heading' && !isEndOfHeading)) continue
      const example = pattern.exec(node.text)?.[0]
      if (example !== undefined) found.set(dialect, where === 'link' ? `[${example}]` : example)
    }
  }
}
