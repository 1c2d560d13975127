/** Controls, separators of lines, marks of direction and halves of characters. The two joiners are part of words and of emoji. */
const UNSEEN = /(?:(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Z}\p{Cs}])+/gu

/**
 * Returns a name that a person or a program gives itself, as others are shown it: on one line, at most `most` characters, without
 * characters that cannot be seen; `null` when nothing is left. So a name cannot look like text of the relay. [AG-21, PRES-2]
 */
export function shownName(given: string, most: number): string | null {
  // Twice as many UTF-16 units hold the characters whole, surrogate pairs included.
  const start = given.trimStart().slice(0, 2 * most)
  const characters = [...start.replace(UNSEEN, ' ').trim()].slice(0, most)
  const name = characters.join('').trimEnd()
  return name === '' ? null : name
}
