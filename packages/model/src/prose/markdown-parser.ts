import Markdown, { type Env, type MarkdownIt, type StateBlock, type StateInline, type Token } from 'markdown-it'
import { tableLimits } from './heal-table.ts'
import { fieldInline, mathBlock, mathInline, type MathMemo } from './markdown-rules.ts'
import { plainText, usePlainTokens } from './markdown-tokens.ts'

/** State of one conversion in the parser. */
export interface MarkdownEnv extends MathMemo, Env {
  /** Number of blocks begun so far. */
  blocks: number
  /** Number of lines inside quotes so far; a line counts once for every quote around it. */
  quoted: number
  /** Number of inline rules tried so far. */
  steps: number
  /** The limits below that were exceeded, as reasons of fixes. */
  readonly cuts: Set<string>
}

/** Text inside more open containers than this is kept unparsed. The model allows 64 levels. [PROSE-H20] */
const maxLevel = 90
/** The most blocks of one conversion. A paragraph is one block and three tokens; a list item with its paragraph is five tokens. */
const maxBlocks = 100_000
const maxBlockTokens = 300_000
/** The most lines inside quotes. Each quote scans all its lines, so deeply nested quotes scan each line many times. */
const maxQuoted = 600_000
/** The most inline rules tried: one for each character that may begin markup, again inside link texts, more for tags and brackets. */
const maxSteps = 300_000
/** Longest run of asterisks or underscores that is read as delimiters: each character becomes a delimiter of its own. */
const maxRun = 250

/**
 * Parses Markdown as in [PROSE-25]: CommonMark with tables, strikethrough and raw HTML, and rules for fields and math. Parts of markdown-it
 * whose time is not linear in the input are limited; input beyond a limit stays plain text. [PROSE-21]
 */
export class MarkdownParser {
  readonly #markdown = createMarkdown()
  readonly env: MarkdownEnv = { blocks: 0, quoted: 0, steps: 0, cuts: new Set(), noMath: undefined }

  blocks(text: string): readonly Token[] {
    const tokens: Token[] = []
    this.#markdown.block.parse(text, this.#markdown, this.env, tokens)
    return tokens
  }

  inline(text: string): readonly Token[] {
    if (!mayBeMarkup.test(text) && this.env.steps < maxSteps) {
      this.env.steps++
      return plainText(text)
    }
    const tokens: Token[] = []
    this.#markdown.inline.parse(text, this.#markdown, this.env, tokens)
    return tokens
  }
}

/** Characters with which an inline rule begins. A text without them needs no inline parser. */
const mayBeMarkup = /[\n\\`*_[<&{$~]/

function createMarkdown(): MarkdownIt {
  const markdown = new Markdown({ html: true })
  // URLs are kept as written; the schema checks them later. [PROSE-18, PROSE-20]
  markdown.validateLink = () => true
  markdown.normalizeLink = (url) => url
  usePlainTokens(markdown)
  const { block, inline } = markdown
  const table = block.ruler.getRules('').find((rule) => rule.name === 'table')
  if (table === undefined) throw new Error('the parser has no table rule')
  block.ruler.at('table', boundedTable(table), { alt: ['paragraph', 'reference'] })
  block.ruler.before('table', 'bounds', boundedBlocks)
  block.ruler.before('fence', 'math_block', mathBlock, { alt: ['paragraph', 'reference', 'blockquote', 'list'] })
  inline.ruler.before('text', 'bounds', boundedInline)
  inline.ruler.before('escape', 'math_inline', mathInline)
  inline.ruler.before('escape', 'field', fieldInline)
  return markdown
}

function envOf(state: StateBlock | StateInline): MarkdownEnv {
  return state.env as unknown as MarkdownEnv
}

/** Reads content that is nested too deeply, or comes after too many blocks, as one token of plain text. */
function boundedBlocks(state: StateBlock, startLine: number, endLine: number): boolean {
  const env = envOf(state)
  // The end of a quote is known when its first block is parsed.
  if (state.tokens.at(-1)?.type === 'blockquote_open') env.quoted += endLine - startLine
  const isFull = ++env.blocks > maxBlocks || state.tokens.length >= maxBlockTokens || env.quoted > maxQuoted
  if (!isFull && state.level < maxLevel) return false
  let end = startLine + 1
  const belongs = (line: number) => isFull || state.isEmpty(line) || (state.sCount[line] as number) >= state.blkIndent
  while (end < endLine && belongs(end)) end++
  env.cuts.add(isFull ? 'too many blocks; the rest is kept as plain text' : 'nested too deeply; its text is kept')
  state.push('plain', '', 0).content = state.getLines(startLine, end, state.blkIndent, false)
  state.line = end
  return true
}

function boundedInline(state: StateInline, silent: boolean): boolean {
  const env = envOf(state)
  const char = state.src.charAt(state.pos)
  let end = state.pos + 1
  if (char === '*' || char === '_') while (end < state.posMax && state.src.charAt(end) === char) end++
  const isLong = end - state.pos > maxRun
  env.steps += char === '<' || char === '[' ? 3 : isLong ? 1 : end - state.pos
  if (env.steps > maxSteps) end = state.posMax
  else if (!isLong) return false
  env.cuts.add('too much markup inside text; the rest is kept as plain text')
  if (!silent) state.pending += state.src.slice(state.pos, end)
  state.pos = end
  return true
}

type BlockRule = (state: StateBlock, startLine: number, endLine: number, silent: boolean) => boolean

/** Does not create rows beyond the limit of a table. [PROSE-23] */
function boundedTable(table: BlockRule): BlockRule {
  return (state, startLine, endLine, silent) => {
    const pipes = countPipes(state, startLine)
    if (pipes === 0 || pipes > maxPipes) return false
    const rows = Math.min(tableLimits.rows, Math.ceil(tableLimits.cells / Math.max(1, pipes - 1)))
    const limit = Math.min(endLine, startLine + 1 + rows)
    if (!table(state, startLine, limit, silent)) return false
    if (silent || state.line < limit) return true
    const isRow = (line: number) => !state.isEmpty(line) && (state.sCount[line] as number) >= state.blkIndent
    while (state.line < endLine && isRow(state.line)) {
      envOf(state).cuts.add(`a table has at most ${tableLimits.rows} rows and ${tableLimits.cells} cells`)
      state.line++
    }
    return true
  }
}

/** A line with more pipes than this is not read as a table row. */
const maxPipes = 2000

/** Counts the unescaped pipes, which separate cells. */
function countPipes(state: StateBlock, line: number): number {
  const text = state.src.slice(state.bMarks[line], state.eMarks[line])
  let count = 0
  for (let at = text.indexOf('|'); at !== -1 && count <= maxPipes; at = text.indexOf('|', at + 1))
    if (text.charAt(at - 1) !== '\\') count++
  return count
}
