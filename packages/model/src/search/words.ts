/** A word of a text, with the stretch of the text that it comes from. */
export interface FoundWord {
  readonly word: string
  /** Offset in the text at which the characters between white space begin that hold the word. */
  readonly at: number
}

/** Longer words are cut, in texts and in queries alike. */
export const MAX_WORD = 64

/** Letters of scripts that do not put spaces between words. */
const UNSPACED = String.raw`[\p{L}\p{N}]&&[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}]`
/** Runs of letters and digits; the first group is a run of a script without spaces. */
const RUN = new RegExp(String.raw`([${UNSPACED}]+)|[[\p{L}\p{N}]--[${UNSPACED}]]+`, 'gv')

/**
 * The words of a text, in order: compatibility forms, marks and case do not count. The words of a query are found by the same function, so
 * that every index finds the same. [AG-60]
 */
export function* wordsIn(text: string): Generator<FoundWord> {
  // Characters between white space are taken together, so that each word has a place in the text as it was given.
  for (const { 0: piece, index: at } of text.matchAll(/\S+/g)) {
    for (const [run, unspaced] of folded(piece).matchAll(RUN)) {
      if (unspaced === undefined) yield { word: cutWord(run), at }
      else for (const word of pairs([...unspaced])) yield { word, at }
    }
  }
}

/** The words of a text as `wordsIn` finds them, without their places. */
export function wordsOf(text: string): string[] {
  // Texts of ASCII alone are most texts, and need neither normal forms nor a look at scripts: a twentieth of the time.
  if (isAscii(text)) return (text.toLowerCase().match(ASCII_RUN) ?? []).map(cutWord)
  return Array.from(wordsIn(text), ({ word }) => word)
}

/** A text in the form in which it holds each of its words as a part. A text that does not hold a word here does not have it. */
export function foldedText(text: string): string {
  return isAscii(text) ? text.toLowerCase() : folded(text)
}

const ASCII_RUN = /[a-z0-9]+/g

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text)
}

/** Whether a query's word also finds longer words that begin with it. [AG-60] */
export function findsLonger(word: string): boolean {
  return word.length >= 3 && [...word].length >= 3
}

const PLAIN = /^[a-z0-9]+$/

function folded(piece: string): string {
  if (PLAIN.test(piece)) return piece
  // Hangul is put together again, since it is cut into syllables. A final sigma is a sigma.
  return piece
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .normalize('NFC')
    .replaceAll('ß', 'ss')
    .replaceAll('ς', 'σ')
}

function cutWord(word: string): string {
  return word.length <= MAX_WORD ? word : [...word].slice(0, MAX_WORD).join('')
}

function pairs(characters: readonly string[]): readonly string[] {
  if (characters.length === 1) return characters
  return characters.slice(1).map((character, before) => (characters[before] ?? '') + character)
}
