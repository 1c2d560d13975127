import { advanceBlocks } from './advance-widths.ts'

/** Families that previews have a font for. */
export type FontFamily = 'sans-serif' | 'serif' | 'monospace'

/** The width of a character that is neither in the table nor covered by a rule below. */
const otherEm = 0.636
/** Chinese, Japanese and Korean characters, and the full-width forms of others. */
const wideEm = 1
const halfWideEm = 0.5
/** The width of every emoji; fonts of emoji give all of them the same width. */
const emojiEm = 1.25
/** Every character of a monospaced font that is not wide. */
const monospaceEm = 0.602

/** One character as people see it, with its accents, variation selectors and, for an emoji, all joined parts. */
interface Character {
  readonly text: string
  /** How far it advances, in em. */
  readonly em: number
}

/**
 * Estimates the width of one line of text, in pixels, from the advance widths of the font that previews are drawn with. The fonts of editors differ a
 * little. [DIAG-5]
 */
export function measureText(text: string, fontSizePx: number, family: FontFamily = 'sans-serif'): number {
  let em = 0
  for (const character of charactersOf(text, family)) em += character.em
  return em * fontSizePx
}

/** Yields the characters of a text as people see them; no such character may be cut. Lazy, so that the start of a long text costs little. */
export function* charactersOf(text: string, family: FontFamily = 'sans-serif'): Generator<Character> {
  for (let at = 0; at < text.length; ) {
    const character = characterAt(text, at, family)
    yield character
    at += character.text.length
  }
}

/** Whether a line may break before and after a character without a space, as in Chinese and Japanese. */
export function isIdeograph(character: string): boolean {
  return isWide(character.codePointAt(0) ?? 0)
}

/** The first code point that can follow another one in the same character. */
const firstExtending = 0x300

function characterAt(text: string, start: number, family: FontFamily): Character {
  const code = text.codePointAt(start) as number
  let end = start + unitsOf(code)
  if ((text.codePointAt(end) ?? 0) < firstExtending) return { text: text.slice(start, end), em: emOf(code, family) }
  let isEmoji = false
  // A flag is two letters of a range of their own, the regional indicators.
  if (isRegional(code) && isRegional(text.codePointAt(end) ?? 0)) end += 2
  for (;;) {
    const next = text.codePointAt(end)
    if (next === undefined || next < firstExtending) break
    if (next === zeroWidthJoiner && isPictographic(text.codePointAt(end + 1) ?? 0) && isPictographic(code)) {
      end += 1 + unitsOf(text.codePointAt(end + 1) as number)
      isEmoji = true
    } else if (isExtending(next)) {
      isEmoji ||= next === emojiSelector
      end += unitsOf(next)
    } else break
  }
  return { text: text.slice(start, end), em: isEmoji ? emojiEm : emOf(code, family) }
}

const softHyphen = 0xad
const zeroWidthJoiner = 0x200d
/** Asks for the coloured form of a character. */
const emojiSelector = 0xfe0f

function unitsOf(code: number): number {
  return code > 0xffff ? 2 : 1
}

function emOf(code: number, family: FontFamily): number {
  if (code === softHyphen || (code >= firstExtending && (isExtending(code) || isInvisible(code)))) return 0
  if (isWide(code)) return wideEm
  if (code >= 0xff61 && code <= 0xffdc) return halfWideEm
  if (isRegional(code) || (code >= 0x1f000 && isPictographic(code))) return emojiEm
  if (family === 'monospace') return monospaceEm
  // Tabs and other control characters are as wide as a space.
  const known = tableEm(code < 0x20 ? 0x20 : code)
  return known === 0 ? otherEm : known
}

function tableEm(code: number): number {
  for (const { first, widths } of advanceBlocks) {
    if (code < first) return 0
    const width = widths[code - first]
    if (width !== undefined) return width / 1000
  }
  return 0
}

const extending = /^(?:[\p{M}\p{Emoji_Modifier}\u{e0020}-\u{e007f}]|\u200c|\u200d)/u
const pictographic = /^\p{Extended_Pictographic}/u
const invisible = /^\p{Default_Ignorable_Code_Point}/u

/** Whether a code point belongs to the character before it: accents, variation selectors, skin tones, joiners and tags. */
function isExtending(code: number): boolean {
  return extending.test(String.fromCodePoint(code))
}

function isPictographic(code: number): boolean {
  return pictographic.test(String.fromCodePoint(code))
}

function isInvisible(code: number): boolean {
  return invisible.test(String.fromCodePoint(code))
}

function isRegional(code: number): boolean {
  return code >= 0x1f1e6 && code <= 0x1f1ff
}

/** The ranges of characters as wide as they are high, in ascending order. */
const wideRanges: readonly (readonly [first: number, last: number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x1b000, 0x1b2ff],
  [0x20000, 0x3fffd],
]

function isWide(code: number): boolean {
  return code >= 0x1100 && wideRanges.some(([first, last]) => first <= code && code <= last)
}
