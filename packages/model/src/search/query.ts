import { refused, type Refusal } from '../edit.ts'
import { findsLonger, foldedText, wordsOf } from './words.ts'

/** A term that a hit must contain: a word, also as the start of a longer word with `alsoLonger`, or a phrase of consecutive words. */
export type Term =
  | { readonly kind: 'word'; readonly word: string; readonly alsoLonger: boolean }
  | { readonly kind: 'phrase'; readonly words: readonly string[] }

/** A search query as terms. Plain data. [AG-60] */
export interface SearchQuery {
  /** The terms of the query, each once. */
  readonly terms: readonly Term[]
  /** All words of the query in order; a text with exactly this sequence ranks higher. */
  readonly sequence: readonly string[]
}

const MAX_CHARACTERS = 200
const MAX_WORDS = 16

/** Reads a query; words between quotes are a phrase. [AG-60] */
export function readQuery(text: string): SearchQuery | Refusal {
  const characters = text.length > 2 * MAX_CHARACTERS ? text.length : [...text].length
  if (characters === 0 || characters > MAX_CHARACTERS) {
    const facts = { characters, max: MAX_CHARACTERS }
    return refused('ERR_SEARCH_QUERY', `The query has ${characters} characters; give 1 to ${MAX_CHARACTERS}.`, facts)
  }
  const parts = text.split('"')
  const terms = new Map<string, Term>()
  const sequence: string[] = []
  for (const [index, part] of parts.entries()) {
    const words = wordsOf(part)
    sequence.push(...words)
    // A last quotation mark without a partner makes no phrase.
    const isQuoted = index % 2 === 1 && index < parts.length - 1
    if (words.length > 0 && isQuoted) terms.set(`"${words.join(' ')}"`, { kind: 'phrase', words })
    if (isQuoted) continue
    for (const word of words) terms.set(word, { kind: 'word', word, alsoLonger: findsLonger(word) })
  }
  if (sequence.length > 0 && sequence.length <= MAX_WORDS) return { terms: [...terms.values()], sequence }
  const found = sequence.length === 0 ? 'no word: letters and digits make words' : `${sequence.length} words`
  return refused('ERR_SEARCH_QUERY', `The query has ${found}; give 1 to ${MAX_WORDS} words.`, {
    words: sequence.length,
    max: MAX_WORDS,
  })
}

/** The fewest terms that a hit must contain when no text contains all terms of the query. [AG-61] */
export function fewestTerms({ terms }: SearchQuery): number {
  return Math.ceil(terms.length / 2)
}

/** How well a text answers a query. */
export interface Match {
  /** How many terms of the query the text contains. */
  readonly matched: number
  /** Whether the text contains all words of the query in order and without other words between. */
  readonly exact: boolean
}

/** Returns false when a text surely contains no term of the query. This check costs a fraction of splitting the text into words. */
export function mayMatch(text: string, { terms }: SearchQuery): boolean {
  const folded = foldedText(text)
  return terms.some((term) => (term.kind === 'word' ? [term.word] : term.words).every((word) => folded.includes(word)))
}

/** Compares the words of a text with a query, as an index does. [AG-61] */
export function matchOf(words: readonly string[], { terms, sequence }: SearchQuery): Match {
  const distinct = new Set(words)
  const matched = terms.filter((term) => holds(words, distinct, term)).length
  return { matched, exact: matched > 0 && holdsSequence(words, distinct, sequence) }
}

function holds(words: readonly string[], distinct: ReadonlySet<string>, term: Term): boolean {
  if (term.kind === 'phrase') return holdsSequence(words, distinct, term.words)
  return distinct.has(term.word) || (term.alsoLonger && words.some((word) => word.startsWith(term.word)))
}

function holdsSequence(words: readonly string[], distinct: ReadonlySet<string>, sequence: readonly string[]): boolean {
  const [first] = sequence
  if (first === undefined || !sequence.every((word) => distinct.has(word))) return false
  return words.some((word, at) => word === first && sequence.every((next, offset) => words[at + offset] === next))
}
