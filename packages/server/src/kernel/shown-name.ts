/** Control characters, separators, direction marks and lone surrogates. The two joiners are excluded: words and emoji contain them. */
const UNSEEN = /(?:(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Z}\p{Cs}])+/gu

/**
 * Returns the form in which others are shown a name that a person or program gives itself: one line, at most `most` characters, none invisible; `null`
 * when nothing is left. So a name cannot look like text of the relay. [AG-21, PRES-2]
 */
export function shownName(given: string, most: number): string | null {
  // `most` characters take at most twice as many UTF-16 units, since a surrogate pair is one character.
  const start = given.trimStart().slice(0, 2 * most)
  const characters = [...start.replace(UNSEEN, ' ').trim()].slice(0, most)
  const name = characters.join('').trimEnd()
  return name === '' ? null : name
}
