/** Longest text that is laid out; what an editor shows of more would not be legible in a preview either. */
const MAX_CHARACTERS = 10_000
const LINE_HEIGHT = 1.25

/**
 * Widths in em of a common sans-serif, by class of character. An estimate: the viewer's font decides, and a preview only has to wrap
 * where it is about full.
 */
function emOf(character: string): number {
  const code = character.codePointAt(0) ?? 0
  if (code >= 0x1100 && (code <= 0x115f || (code >= 0x2e80 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff))) return 1
  if (code >= 0xff00 && code <= 0xff60) return 1
  if (code >= 0x1f000) return 1.2
  if ((code >= 0x300 && code <= 0x36f) || code === 0x200b || code === 0x200d || (code >= 0xfe00 && code <= 0xfe0f)) return 0
  if ("iljI.,:;'|! ".includes(character)) return 0.34
  if ('ftr()[]{}"-`'.includes(character)) return 0.42
  if ('mwMW@%'.includes(character)) return 0.94
  if (character >= 'A' && character <= 'Z') return 0.72
  return 0.61
}

/** Estimated width of a line. */
export function textWidth(text: string, fontSize: number): number {
  let em = 0
  for (const character of text) em += emOf(character)
  return em * fontSize
}

export function lineHeight(fontSize: number): number {
  return fontSize * LINE_HEIGHT
}

/**
 * Breaks text into lines of at most `maxWidth`, at spaces where there are any, and into at most `maxLines` (1 or more), the last ending in an
 * ellipsis when something was left out. A line holds at least one character. Linear in the text.
 */
export function wrapText(text: string, fontSize: number, maxWidth: number, maxLines: number): readonly string[] {
  const lines: string[] = []
  const full = (): boolean => lines.length > maxLines
  for (const paragraph of text.slice(0, MAX_CHARACTERS).split(/\r\n|[\n\r\u2028\u2029]/)) {
    wrapParagraph(paragraph, fontSize, maxWidth, lines, full)
    if (full()) break
  }
  if (!full()) return lines
  const kept = lines.slice(0, maxLines)
  kept[maxLines - 1] = ellipsis(kept[maxLines - 1] ?? '', fontSize, maxWidth)
  return kept
}

function wrapParagraph(text: string, fontSize: number, maxWidth: number, lines: string[], full: () => boolean): void {
  let line = ''
  let width = 0
  for (const word of text.match(/\s+|[^\s]+/gu) ?? []) {
    const wide = textWidth(word, fontSize)
    if (width + wide <= maxWidth) {
      line += word
      width += wide
      continue
    }
    if (line.trim() !== '') lines.push(line.trimEnd())
    if (full()) return
    ;[line, width] = /^\s/u.test(word) ? ['', 0] : breakWord(word, fontSize, maxWidth, lines)
  }
  lines.push(line.trimEnd())
}

/** Puts all but the rest of a word that is longer than a line into `lines`; answers the rest and its width. */
function breakWord(word: string, fontSize: number, maxWidth: number, lines: string[]): [string, number] {
  let line = ''
  let width = 0
  for (const character of word) {
    const wide = emOf(character) * fontSize
    if (line !== '' && width + wide > maxWidth) {
      lines.push(line)
      line = ''
      width = 0
    }
    line += character
    width += wide
  }
  return [line, width]
}

function ellipsis(line: string, fontSize: number, maxWidth: number): string {
  const characters = Array.from(line)
  while (characters.length > 1 && textWidth(`${characters.join('')}…`, fontSize) > maxWidth) characters.pop()
  return `${characters.join('').trimEnd()}…`
}
