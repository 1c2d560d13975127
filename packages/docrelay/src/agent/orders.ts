/** A line of a page that asks the agent for something. */
export interface AskedLine {
  /** Id of the block with the line, with the stamp of its content, as edits need it. An id of the form `@3#x7k2` is valid for one version only. */
  readonly blockId: string
  /** The text after `@agent`. */
  readonly words: string
  /** Whether the line is in a list, where an answer directly below it would be a list item. */
  readonly isItem: boolean
}

export type Order =
  | { readonly kind: 'list-open-points' }
  | { readonly kind: 'add-row'; readonly values: readonly string[] }
  | { readonly kind: 'unknown' }

/** The first character of every answer of the agent. A line followed by an answer is not answered again, even after a restart of the agent. */
export const ANSWER_SIGN = '↳'

/** The text in which the agent says what it can do. */
export const ABILITIES = [
  `${ANSWER_SIGN} I am a script, so I know two things. Begin a line with one of these:`,
  '',
  '- `@agent list the open points`',
  '- `@agent add a row: Legal, Friday`',
].join('\n')

/** Returns the lines of a page that begin with `@agent` and have no answer. `markdown` is the page with the ids of its blocks. */
export function unansweredLines(markdown: string): readonly AskedLine[] {
  const blocks = blocksOf(markdown)
  return blocks.flatMap(({ id, text, isItem }, at) => {
    const words = /^@agent\b[ \t]*(.*)/i.exec(withoutMark(text))?.[1]
    const isAnswered = blocks[at + 1]?.text.startsWith(ANSWER_SIGN) === true
    return words === undefined || isAnswered ? [] : [{ blockId: id, words: plain(words).trim(), isItem }]
  })
}

/** Parses the order in a line. */
export function readOrder(words: string): Order {
  if (/^(?:please )?list\b.*\bopen\b/i.test(words)) return { kind: 'list-open-points' }
  const row = /^(?:please )?add (?:a|one|another) row\b[:,]?\s*(.*)/i.exec(words)?.[1]
  if (row === undefined) return { kind: 'unknown' }
  const values = row.split(',').map((value) => value.trim())
  return { kind: 'add-row', values: row === '' ? [] : values }
}

/** Returns the unticked tasks of a page, except tasks that are orders. */
export function openPoints(markdown: string): readonly string[] {
  const tasks = blocksOf(markdown).map(({ text }) => /^\[ \] (.+)/.exec(text)?.[1])
  return tasks.filter((task) => task !== undefined && !/^@agent\b/i.test(task)).map((task) => plain(task as string))
}

/** Returns the answer with the open points of a document. */
export function openPointsAnswer(points: readonly string[]): string {
  if (points.length === 0) return `${ANSWER_SIGN} Nothing is open.`
  const head = points.length === 1 ? '1 point is open:' : `${points.length} points are open:`
  return [`${ANSWER_SIGN} ${head}`, '', ...points.map((point) => `- ${point}`)].join('\n')
}

interface ShownBlock {
  readonly id: string
  readonly text: string
  readonly isItem: boolean
}

/** Splits a page into blocks. In the text of a page, a comment with the id precedes each block; lines in a quote or a callout begin with `>`. */
function blocksOf(markdown: string): readonly ShownBlock[] {
  const unquoted = markdown.replace(/^(?:> ?)+/gm, '')
  return [...unquoted.matchAll(/<!-- (\S+) -->([\s\S]*?)(?=<!-- \S+ -->|$)/g)]
    .map(({ 1: id = '', 2: text = '', index }) => ({
      id,
      text: text.trim().replace(/\n[-*|>\d.\s]*$/, ''),
      // The bullet or the indent of a list item precedes its comment.
      isItem: index > 0 && unquoted[index - 1] !== '\n',
    }))
    .filter(({ text }) => text !== '' && !/^[-*>|\d.]+$/.test(text))
}

/** Removes the checkbox of a task, since a task may be an order as well. */
function withoutMark(text: string): string {
  return text.replace(/^\[[ x]\] /, '')
}

/** Removes the backslashes with which Markdown escapes signs. */
function plain(text: string): string {
  return text.replace(/\\([\\`*_{}[\]()#+.!|<>~@:&-])/g, '$1')
}
