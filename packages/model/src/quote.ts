/** Text of a document as it may stand in a result, an error or a warning: at most 120 characters, then `…`. [TOOL-14, TOOL-16] */
export function quote(text: string): string {
  if (text.length <= 120) return text
  const points = [...text.slice(0, 242)]
  return points.length <= 120 ? text : `${points.slice(0, 120).join('')}…`
}

const SHOWN_WORDS = 20

/** A list as a sentence may hold it: the first 20, and how many more there are. */
export function quoteList(words: readonly string[]): string {
  const more = words.length - SHOWN_WORDS
  return words.slice(0, SHOWN_WORDS).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
