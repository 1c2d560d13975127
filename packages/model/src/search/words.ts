/** A word of a text, with the stretch of the text that it comes from. */
export interface FoundWord {
  readonly word: string
  /** The offset in the text of the piece (characters between white space) that contains the word. */
  readonly at: number
}

/** Longer words are cut, in texts and in queries alike. */
export const MAX_WORD = 64

/** Letters of scripts that do not put spaces between words. */
const UNSPACED = String.raw`[\p{L}\p{N}]&&[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}]`
/** Runs of letters and digits; the first group is a run of a script without spaces. */
const RUN = new RegExp(String.raw`([${UNSPACED}]+)|[[\p{L}\p{N}]--[${UNSPACED}]]+`, 'gv')

/**
 * Yields the words of a text, in order. Compatibility forms, marks and case do not count. Queries use this function too, so that every index finds the same
 * texts. [AG-60]
 */
export function* wordsIn(text: string): Generator<FoundWord> {
  // Each piece between white space is folded by itself, so that each word has an offset in the original text.
  for (const { 0: piece, index: at } of text.matchAll(/\S+/g)) {
    for (const [run, unspaced] of folded(piece).matchAll(RUN)) {
      if (unspaced === undefined) yield { word: cutWord(run), at }
      else for (const word of pairs([...unspaced])) yield { word, at }
    }
  }
}

/** The words of a text as `wordsIn` finds them, without their places. */
export function wordsOf(text: string): string[] {
  // Most texts are ASCII only. They need neither normal forms nor a check of scripts, so this path takes a twentieth of the time.
  if (isAscii(text)) return (text.toLowerCase().match(ASCII_RUN) ?? []).map(cutWord)
  return Array.from(wordsIn(text), ({ word }) => word)
}

/** Folds a text as `wordsIn` folds words. Each word of the text is a part of the result, so a word that is no part of it is not in the text. */
export function foldedText(text: string): string {
  return isAscii(text) ? text.toLowerCase() : folded(text)
}

const ASCII_RUN = /[a-z0-9]+/g

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text)
}

/** Whether a word of a query also finds longer words that begin with it: a word of at least three characters does. [AG-60] */
export function findsLonger(word: string): boolean {
  return word.length >= 3 && [...word].length >= 3
}

const PLAIN = /^[a-z0-9]+$/

function folded(piece: string): string {
  if (PLAIN.test(piece)) return piece
  // NFC joins Hangul letters into syllables again, since words of Hangul are pairs of syllables. A final sigma counts as a sigma.
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
