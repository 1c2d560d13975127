const MOST_CHARACTERS = 120

/** Text of a document as it may stand in a result, an error or a warning: at most 120 characters, then `…`. [TOOL-14, TOOL-16] */
export function quote(text: string): string {
  return cutAfter(text, MOST_CHARACTERS)
}

/** Returns the first `most` characters of a text, with `…` behind them when the text is longer. */
export function cutAfter(text: string, most: number): string {
  if (text.length <= most) return text
  // A character takes at most two UTF-16 units.
  const points = [...text.slice(0, 2 * (most + 1))]
  return points.length <= most ? text : `${points.slice(0, most).join('')}…`
}

const SHOWN_WORDS = 20

/** Writes a list for a sentence: the first 20 words, and how many more there are. */
export function quoteList(words: readonly string[]): string {
  const more = words.length - SHOWN_WORDS
  return words.slice(0, SHOWN_WORDS).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
