/** The 63 digits of codes: the base64 alphabet without `+`, which separates words. */
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/'
const BASE = DIGITS.length
const FIRST_CODED = 0x80
const CAPITALS = 26

/**
 * Writes words, with a space between them, in 62 characters that base64 knows, with a plus between them. Letters a to z and digits stand for
 * themselves. Other characters up to U+06E5 (Latin, Greek, Cyrillic, Hebrew, Arabic) become a capital and a digit of the code, the rest a
 * slash and three digits. No code begins another code, so the start of a word is written as the start of the written word.
 */
export function writtenWords(words: string): string {
  return words.replace(/[^a-z0-9]/gu, (character) => (character === ' ' ? '+' : codeOf(character.codePointAt(0) ?? 0)))
}

/**
 * Packs words into six bits for each written character, so that PostgreSQL keeps three bytes for four letters and unpacks them with its own
 * `encode(…, 'base64')`. A plus stands before the first word, and one to four pluses behind the last one.
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

/** No letter lies above U+3D0BE; such a code point would be written as the last digit. */
function digit(value: number): string {
  return DIGITS[Math.min(value, BASE - 1)] ?? ''
}
