import { charactersOf, type FontFamily, isIdeograph, measureText } from './measure-text.ts'

/** Only this many UTF-16 units of a text are laid out: nobody could read more in a shape. */
const maxUnits = 10_000

export interface WrapOptions {
  readonly fontSizePx: number
  /** The greatest width of a line, in pixels. */
  readonly maxWidth: number
  /** The most lines, at least 1; unlimited by default. The last line ends in an ellipsis when text was left out. */
  readonly maxLines?: number
  /** The font family; `sans-serif` by default. */
  readonly family?: FontFamily
}

/**
 * Breaks a label into lines of at most `maxWidth`: at line breaks, at spaces, and between characters of scripts without spaces. A word that is wider than a
 * line is broken between characters, and a line holds at least one character. The time grows linearly with the text. [DIAG-5]
 */
export function wrapLabel(label: string, { fontSizePx, maxWidth, maxLines, family }: WrapOptions): readonly string[] {
  const most = maxLines ?? Number.POSITIVE_INFINITY
  const wrapping = new Wrapping(maxWidth / fontSizePx, most, family)
  for (const paragraph of paragraphsOf(label)) {
    wrapping.add(paragraph)
    if (wrapping.isFull()) break
  }
  const { lines } = wrapping
  if (lines.length <= most) return lines
  return [...lines.slice(0, most - 1), withEllipsis(lines[most - 1] ?? '', maxWidth, fontSizePx, family)]
}

/** The width in pixels of the widest word of a label. `wrapLabel` breaks a word only when it is wider than a line. [DIAG-5] */
export function widestWord(label: string, fontSizePx: number, family?: FontFamily): number {
  let widest = 0
  for (const paragraph of paragraphsOf(label))
    for (const word of wordsOf(paragraph, family)) if (!word.isSpace) widest = Math.max(widest, word.em)
  return widest * fontSizePx
}

function paragraphsOf(label: string): readonly string[] {
  return label.slice(0, maxUnits).split(/\r\n|[\n\r\u2028\u2029]/)
}

interface Word {
  readonly text: string
  /** The width of the word, in em. */
  readonly em: number
  readonly isSpace: boolean
}

/** A paragraph as runs of spaces and words; an ideograph is a word of its own. */
function* wordsOf(paragraph: string, family: FontFamily | undefined): Generator<Word> {
  let word: Word | null = null
  for (const { text, em } of charactersOf(paragraph, family)) {
    const isSpace = /^[^\S\u00a0\u202f\u2007]/u.test(text)
    const isAlone = isIdeograph(text)
    if (word !== null && (isAlone || isSpace !== word.isSpace)) {
      yield word
      word = null
    }
    word = word === null ? { text, em, isSpace } : { text: word.text + text, em: word.em + em, isSpace }
    if (isAlone) {
      yield word
      word = null
    }
  }
  if (word !== null) yield word
}

/** The finished lines of a label, and the line that is being filled. */
class Wrapping {
  readonly lines: string[] = []
  readonly #maxEm: number
  readonly #maxLines: number
  readonly #family: FontFamily | undefined
  #line = ''
  #em = 0

  constructor(maxEm: number, maxLines: number, family: FontFamily | undefined) {
    this.#maxEm = maxEm
    this.#maxLines = maxLines
    this.#family = family
  }

  /** Whether the label has more lines than are shown, so that wrapping can stop. */
  isFull(): boolean {
    return this.lines.length > this.#maxLines
  }

  add(paragraph: string): void {
    const before = this.lines.length
    for (const word of wordsOf(paragraph, this.#family)) {
      if (this.#em + word.em <= this.#maxEm) this.#put(word.text, word.em)
      else {
        if (this.#line.trim() !== '') this.#endLine()
        this.#clear()
        if (!word.isSpace) this.#addBroken(word)
      }
      if (this.isFull()) return
    }
    // An empty paragraph is a line of its own. Spaces that did not fit on a line make no new line.
    if (this.#line !== '' || this.lines.length === before) this.#endLine()
  }

  /** Adds a word at the start of a line; breaks it between characters when it is wider than a line. */
  #addBroken(word: Word): void {
    if (word.em <= this.#maxEm) return this.#put(word.text, word.em)
    for (const { text, em } of charactersOf(word.text, this.#family)) {
      if (this.#line !== '' && this.#em + em > this.#maxEm) this.#endLine()
      if (this.isFull()) return
      this.#put(text, em)
    }
  }

  #put(text: string, em: number): void {
    this.#line += text
    this.#em += em
  }

  #endLine(): void {
    this.lines.push(this.#line.trimEnd())
    this.#clear()
  }

  #clear(): void {
    this.#line = ''
    this.#em = 0
  }
}

function withEllipsis(line: string, maxWidth: number, fontSizePx: number, family: FontFamily | undefined): string {
  const dotsEm = measureText('…', 1, family)
  const characters: string[] = []
  let em = 0
  for (const character of charactersOf(line, family)) {
    em += character.em
    // The first character is shown whatever its width.
    if (characters.length > 0 && (em + dotsEm) * fontSizePx > maxWidth) break
    characters.push(character.text)
  }
  return `${characters.join('').trimEnd()}…`
}
