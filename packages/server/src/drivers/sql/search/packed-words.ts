/** The 63 digits of codes: the base64 alphabet without `+`, which separates words. */
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/'
const BASE = DIGITS.length
const FIRST_CODED = 0x80
const CAPITALS = 26

/**
 * Writes words, which are separated by spaces, in 62 of the characters of base64, separated by `+`. The letters a to z and digits stand for
 * themselves. Other characters up to U+06E5 (Latin, Greek, Cyrillic, Hebrew, Arabic) become a capital and one digit of the code, all others a slash
 * and three digits. No code is a prefix of another code, so the start of a word is written as the start of the written word.
 */
export function writtenWords(words: string): string {
  return words.replace(/[^a-z0-9]/gu, (character) => (character === ' ' ? '+' : codeOf(character.codePointAt(0) ?? 0)))
}

/**
 * Packs words into six bits for each written character. PostgreSQL then keeps three bytes for four letters and unpacks the words with its own
 * `encode(…, 'base64')`. One plus is before the first word, and one to four are after the last word.
 */
export function packWords(words: string): Buffer {
  const written = `+${writtenWords(words)}+`
  return Buffer.from(written.padEnd(Math.ceil(written.length / 4) * 4, '+'), 'base64')
}

function codeOf(point: number): string {
  const at = point - FIRST_CODED
  if (at >= 0 && at < CAPITALS * BASE) return digit(Math.floor(at / BASE)) + digit(at % BASE)
  return `/${digit(Math.floor(point / BASE ** 2))}${digit(Math.floor(point / BASE) % BASE)}${digit(point % BASE)}`
}

/** No letter is above U+3D0BE. Such a code point would be written as the last digit. */
function digit(value: number): string {
  return DIGITS[Math.min(value, BASE - 1)] ?? ''
}
