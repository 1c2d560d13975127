/** The facts about the position of a text on which escaping depends. */
export interface TextPlace {
  /** Inside the text of a link or the description of an image, brackets must balance. */
  readonly inLink: boolean
}

const wordUnit = /[\p{L}\p{N}]/u

/** Escapes everything that would be read as inline markup, except white space. [PROSE-39] */
export function escapeMarkdown(text: string, { inLink }: TextPlace): string {
  return text.replace(/[\\`*_[\]<&{$~!]/g, (char, at: number) =>
    isMarkup(char, text.charAt(at - 1), text.charAt(at + 1), inLink) ? `\\${char}` : char,
  )
}

/** Whether a character may begin or end markup. At the end of a text (`after` is empty) the following character is unknown. */
function isMarkup(char: string, before: string, after: string, inLink: boolean): boolean {
  switch (char) {
    case '*':
      return before !== ' ' || after !== ' '
    case '_':
      return !wordUnit.test(before) || !wordUnit.test(after)
    case ']':
      return inLink
    case '&':
      return after === '' || /[#A-Za-z]/.test(after)
    case '{':
      return after === '' || after === '{'
    case '$':
      return before === '' || !/[\d ]/.test(after)
    case '~':
      return before === '' || after === '' || before === '~' || after === '~'
    case '!':
      return after === ''
    default:
      return true
  }
}

/**
 * Escapes text that would begin another block at the start of a line. On a line that continues a paragraph, the underline of a heading and the second row of
 * a table are escaped too.
 */
export function escapeLineStart(escaped: string, isContinuation: boolean): string {
  const number = /^(\d{1,9})([.)])(?= |$)/.exec(escaped)
  if (number !== null) return `${number[1]}\\${escaped.slice((number[1] as string).length)}`
  const begins = /^(?:>|#{1,6}(?= |$)|-(?=[ -]|$)|\+(?= |$))/.test(escaped) || (isContinuation && /^[-=|:]/.test(escaped))
  return begins ? `\\${escaped}` : escaped
}

/** Returns a character as a character reference; `undefined` for a control character, since Markdown has no reference for it. */
export function reference(char: string): string | undefined {
  return char === '\v' ? undefined : `&#${char.codePointAt(0)};`
}

/** Writes a link target or image source. */
export function writeDestination(url: string): string {
  if (/^[\w\-.~:/?#@!$%+,;='*&]+$/.test(url) && !/&[#\w]+;/.test(url)) return url
  return `<${escapeQuoted(url, /[\\<>]/g)}>`
}

/** Writes the title of an image. */
export function writeTitle(title: string): string {
  return `"${escapeQuoted(title, /[\\"]/g)}"`
}

function escapeQuoted(text: string, special: RegExp): string {
  return text
    .replace(special, '\\$&')
    .replace(/&(?=[#A-Za-z])/g, '\\&')
    .replaceAll('\n', '&#10;')
}

/** Writes a code span; `undefined` when the text cannot be written as one. */
export function codeSpan(text: string): string | undefined {
  if (/[\t\n\v\f]/.test(text)) return undefined
  const runs = new Set((text.match(/`+/g) ?? []).map((run) => run.length))
  let length = 1
  while (runs.has(length)) length++
  const fence = '`'.repeat(length)
  const isStripped = text.startsWith(' ') && text.endsWith(' ') && /[^ ]/.test(text)
  const isPadded = isStripped || text.startsWith('`') || text.endsWith('`')
  return isPadded ? `${fence} ${text} ${fence}` : `${fence}${text}${fence}`
}
